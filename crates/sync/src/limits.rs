//! Limits of clocks and stamps.

use timeloom_time::Duration;

/// The source of the grain of device stamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GrainSource {
    /// The stamps show it; [`Limits::stamp_grain`] is the least that is used.
    #[default]
    Found,
    /// It is given, whatever the stamps look like.
    Given,
}

/// The limits of both clocks; the hard bounds hold while both clocks are within them.
///
/// When a limit is exceeded, a [`SensorClock`](crate::SensorClock) emits an event, raises the limit and continues.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The clocks never differ by more, in ppm.
    pub skew_ppm: f64,
    /// The rate of the clocks never changes faster, in ppm per minute.
    pub drift_ppm_per_minute: f64,
    /// A device stamp is at most this much earlier than its event (grain of the counter).
    pub stamp_grain: Duration,
    /// Whether a larger grain is detected from the stamps.
    pub grain_source: GrainSource,
    /// No packet and no answer takes less than this from the event to the host.
    pub least_delay: Duration,
    /// Averages ([`Anchor`](crate::Anchor)) leave out requests that take longer.
    pub slowest_request: Duration,
}

impl Default for Limits {
    /// 500 ppm and 5 ppm per minute, 5 µs of grain, no delay that can be relied on, and requests of 50 ms.
    fn default() -> Self {
        Self {
            skew_ppm: 500.0,
            drift_ppm_per_minute: 5.0,
            stamp_grain: Duration::from_micros(5),
            grain_source: GrainSource::Found,
            least_delay: Duration::ZERO,
            slowest_request: Duration::from_millis(50),
        }
    }
}
