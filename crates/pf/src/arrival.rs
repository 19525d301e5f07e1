use timeloom_sync::StampSource;
use timeloom_time::{Steady, Time};

/// An arrival at the host and the origin of its stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The time, by the steady clock.
    pub at: Time<Steady>,
    /// The origin of the stamp.
    pub source: StampSource,
}
