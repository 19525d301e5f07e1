//! Points in time on the clock of a device.

use std::fmt;

use timeloom_time::Duration;

use crate::error::{Error, Result};

/// The largest distance of any stamp from zero, so that differences of two stamps fit 64 bits.
pub(crate) const STAMP_LIMIT: i64 = (1 << 62) - 1;

/// A point in time on the clock of a device: nanoseconds since the zero of its counter, wraps removed.
///
/// It is a type of its own because it has no relation to any clock of the host until an estimator gives one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DeviceTime(i64);

impl DeviceTime {
    /// The point `nanos` nanoseconds after the zero of the device's counter.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the zero of the device's counter.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// The signed device time since `earlier`; saturates.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// This point and `duration`; saturates.
    #[must_use]
    pub const fn saturating_add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.nanos()))
    }
}

impl fmt::Display for DeviceTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Duration::from_nanos(self.0), f)
    }
}

/// Refuses a stamp whose differences could overflow.
pub(crate) fn check_stamp(what: &'static str, nanos: i64) -> Result<()> {
    if nanos.unsigned_abs() > STAMP_LIMIT.unsigned_abs() {
        return Err(Error::StampOutOfRange {
            what,
            nanos,
            limit: STAMP_LIMIT,
        });
    }
    Ok(())
}
