use serde::Serialize;
use timeloom_time::{Ros, Steady, Time};

/// One instant on two clocks: ROS time, which may be simulated, and the host's steady time.
///
/// Zero means "not known", as in the messages of TILDE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    /// By the node's ROS clock.
    pub ros: Time<Ros>,
    /// By the steady clock of the node's host; comparable within one host and boot only.
    pub steady: Time<Steady>,
}

impl Moment {
    /// An unknown time.
    pub const UNKNOWN: Self = Self {
        ros: Time::ZERO,
        steady: Time::ZERO,
    };

    /// The instant at these nanoseconds of ROS and of steady time.
    pub const fn from_nanos(ros: i64, steady: i64) -> Self {
        Self {
            ros: Time::from_nanos(ros),
            steady: Time::from_nanos(steady),
        }
    }

    /// Whether neither clock was read.
    pub const fn is_unknown(&self) -> bool {
        self.ros.is_zero() && self.steady.is_zero()
    }
}

impl Default for Moment {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl Serialize for Moment {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.ros.nanos(), self.steady.nanos()).serialize(serializer)
    }
}
