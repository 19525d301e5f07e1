//! From steady host time to the clock that a message is stamped with.

use timeloom_time::{Duration, Kind, Steady, Time};

/// The same moment on the steady clock and on another one: the only place where ROS or system time comes in.
///
/// An estimate lives on the steady clock, which never jumps. Read both clocks right after one another, make a pair,
/// and convert; when the other clock jumps, make a new pair: the estimate is not touched.
///
/// ```
/// use timeloom_sync::ClockPair;
/// use timeloom_time::{System, Time};
///
/// let pair = ClockPair::<System>::new(Time::from_nanos(1_000), Time::from_nanos(1_700_000_000_000_000_000));
/// assert_eq!(pair.from_steady(Time::from_nanos(1_500)).nanos(), 1_700_000_000_000_000_500);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockPair<K: Kind> {
    steady: Time<Steady>,
    other: Time<K>,
}

impl<K: Kind> ClockPair<K> {
    /// A moment on both clocks.
    pub const fn new(steady: Time<Steady>, other: Time<K>) -> Self {
        Self { steady, other }
    }

    /// The pair whose steady reading lies in the middle of two, taken before and after the other clock was read.
    ///
    /// Half of what lies between them is the largest error.
    pub fn between(before: Time<Steady>, other: Time<K>, after: Time<Steady>) -> Self {
        let half = Duration::from_nanos((after - before).nanos() / 2);
        Self::new(before.saturating_add(half), other)
    }

    /// A steady time on the other clock; saturates.
    #[must_use]
    pub fn from_steady(&self, steady: Time<Steady>) -> Time<K> {
        self.other.saturating_add(steady - self.steady)
    }

    /// An offset to the steady clock as an offset to the other clock, in nanoseconds; saturates.
    #[must_use]
    pub fn offset_from_steady(&self, offset_ns: i64) -> i64 {
        let between = i128::from(self.other.nanos()) - i128::from(self.steady.nanos());
        let offset = between + i128::from(offset_ns);
        let nearest = if offset < 0 { i64::MIN } else { i64::MAX };
        i64::try_from(offset).unwrap_or(nearest)
    }

    /// A time of the other clock on the steady clock; saturates. For kernel stamps, which are system time.
    #[must_use]
    pub fn to_steady(&self, other: Time<K>) -> Time<Steady> {
        self.steady.saturating_add(other - self.other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_time::System;

    #[test]
    fn there_and_back_is_the_same() {
        let pair = ClockPair::<System>::between(
            Time::from_nanos(1_000),
            Time::from_nanos(1_700_000_000_000_000_000),
            Time::from_nanos(1_200),
        );
        let system = pair.from_steady(Time::from_nanos(2_100));
        assert_eq!(system.nanos(), 1_700_000_000_000_001_000);
        assert_eq!(pair.to_steady(system).nanos(), 2_100);
        // A device that counts from the start of the steady clock.
        assert_eq!(
            pair.offset_from_steady(0),
            1_700_000_000_000_000_000 - 1_100
        );
    }
}
