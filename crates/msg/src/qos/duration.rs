//! Durations of `QoS` policies: seconds and nanoseconds as in `rmw`.

use serde::Deserialize;

/// A `QoS` duration, unchanged so that a bag can be rewritten byte for byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
pub struct QosDuration {
    /// Whole seconds.
    pub sec: u64,
    /// Nanoseconds; some old bags hold more than a second here.
    pub nsec: u64,
}

impl QosDuration {
    /// No limit, as rosbag2 writes it today: 2^63 - 1 nanoseconds.
    pub const INFINITE: Self = Self {
        sec: 9_223_372_036,
        nsec: 854_775_807,
    };
    /// Not set, which middlewares treat as no limit.
    pub const UNSPECIFIED: Self = Self { sec: 0, nsec: 0 };
    /// The values of Fast DDS and Connext for infinity in Foxy.
    const FOXY_INFINITE: [Self; 2] = [
        Self {
            sec: 2_147_483_647,
            nsec: 4_294_967_295,
        },
        Self {
            sec: 2_147_483_647,
            nsec: 2_147_483_647,
        },
    ];

    /// A duration of whole nanoseconds.
    pub fn from_nanos(nanos: u64) -> Self {
        Self {
            sec: nanos / 1_000_000_000,
            nsec: nanos % 1_000_000_000,
        }
    }

    /// Whether this is one of the spellings of infinity.
    pub fn is_infinite(self) -> bool {
        self == Self::INFINITE
            || Self::FOXY_INFINITE.contains(&self)
            || self.nanos() >= i64::MAX.unsigned_abs()
    }

    /// The duration in nanoseconds when it is a real limit: neither infinite nor unspecified.
    pub fn limit(self) -> Option<u64> {
        (!self.is_infinite() && self != Self::UNSPECIFIED).then(|| self.nanos())
    }

    fn nanos(self) -> u64 {
        self.sec
            .saturating_mul(1_000_000_000)
            .saturating_add(self.nsec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_infinity() {
        for (sec, nsec) in [
            (9_223_372_036, 854_775_807),
            (2_147_483_647, 4_294_967_295),
            (2_147_483_647, 2_147_483_647),
            (u64::MAX, 0),
        ] {
            let duration = QosDuration { sec, nsec };
            assert!(duration.is_infinite());
            assert_eq!(duration.limit(), None);
        }
        assert_eq!(QosDuration::UNSPECIFIED.limit(), None);
        assert_eq!(QosDuration { sec: 5, nsec: 7 }.limit(), Some(5_000_000_007));
        assert_eq!(
            QosDuration::from_nanos(5_000_000_007),
            QosDuration { sec: 5, nsec: 7 }
        );
    }
}
