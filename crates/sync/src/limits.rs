//! What clocks and stamps can be trusted with.

use timeloom_time::Duration;

/// What both clocks keep to; the hard bounds hold as long as they do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The clocks never differ by more, in ppm.
    pub skew_ppm: f64,
    /// The rate of the clocks never changes faster, in ppm per minute.
    pub drift_ppm_per_minute: f64,
    /// A device stamp is at most this much earlier than what it stamps (grain of the counter).
    pub stamp_grain: Duration,
    /// No packet and no answer takes less than this from the event to the host.
    pub least_delay: Duration,
}

impl Default for Limits {
    /// 500 ppm and 5 ppm per minute, 5 µs of grain, and no delay that can be relied on.
    fn default() -> Self {
        Self {
            skew_ppm: 500.0,
            drift_ppm_per_minute: 5.0,
            stamp_grain: Duration::from_micros(5),
            least_delay: Duration::ZERO,
        }
    }
}
