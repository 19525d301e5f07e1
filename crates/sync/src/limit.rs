//! The limits by name: which one was reached, and which flag raises it.

use std::fmt;

use timeloom_time::Duration;

use crate::limits::Limits;

/// One of [`Limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// The difference of the two rates, in ppm.
    Skew,
    /// The change of the rate, in ppm per minute.
    Drift,
    /// The grain of device stamps, in microseconds.
    Grain,
    /// The duration of a request, in milliseconds.
    RequestTime,
}

impl Limit {
    /// The flag that sets the limit, in the unit of [`LimitReached`].
    pub const fn flag(self) -> &'static str {
        match self {
            Self::Skew => "--max-skew",
            Self::Drift => "--max-drift",
            Self::Grain => "--grain",
            Self::RequestTime => "--max-request",
        }
    }

    /// The value of this limit, in its unit, rounded up.
    pub fn of(self, limits: &Limits) -> u64 {
        let micros = |duration: Duration| duration.nanos() as f64 * 1e-3;
        whole(match self {
            Self::Skew => limits.skew_ppm,
            Self::Drift => limits.drift_ppm_per_minute,
            Self::Grain => micros(limits.stamp_grain),
            Self::RequestTime => micros(limits.slowest_request) * 1e-3,
        })
    }
}

/// A limit that samples have exceeded. Its text names the value in use now and the flag that sets it from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitReached {
    /// The kind of limit.
    pub limit: Limit,
    /// The old value, in its unit.
    pub before: u64,
    /// The new value; for requests, the value that would accept them.
    pub now: u64,
}

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, now, flag) = (self.before, self.now, self.limit.flag());
        match self.limit {
            Limit::Skew => write!(
                f,
                "the clocks differ by more than {before} ppm: {now} ppm is used from here on; `{flag} {now}` uses it from the start"
            ),
            Limit::Drift => write!(
                f,
                "the rate changes faster than {before} ppm per minute: {now} is used from here on; `{flag} {now}` uses it from the start"
            ),
            Limit::Grain => write!(
                f,
                "device stamps have a grain of {now} µs, not {before} µs; `{flag} {now}` uses it from the start"
            ),
            Limit::RequestTime => write!(
                f,
                "requests take longer than {before} ms and are left out; `{flag} {now}` lets them through"
            ),
        }
    }
}

/// The next whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "limits are not negative, and a float cast saturates"
)]
pub(crate) fn whole(value: f64) -> u64 {
    value.ceil() as u64
}
