use timeloom_sync::StampSource;
use timeloom_time::{Steady, Time};

/// When something reached the host, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The time, by the steady clock.
    pub at: Time<Steady>,
    /// Who stamped it.
    pub source: StampSource,
}
