//! A straight piece of the map from device time to host time.

use crate::anchor::whole_nanos;
use crate::device_time::DeviceTime;

/// Host minus device time is `offset + residual + slope · (device − at)`: integers where they are large, floats where small.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    /// The device time that the line is anchored at.
    pub(crate) at: i64,
    /// A whole number near host minus device time at `at`.
    pub(crate) offset: i64,
    /// The fractional part, in nanoseconds.
    pub(crate) residual: f64,
    /// Skew of the host's clock, in nanoseconds per second of the device's.
    pub(crate) slope: f64,
}

impl Line {
    pub(crate) const fn flat(at: i64, offset: i64) -> Self {
        Self {
            at,
            offset,
            residual: 0.0,
            slope: 0.0,
        }
    }

    /// Height of `offset` at the device time `at` above the line, in nanoseconds.
    pub(crate) fn above(&self, at: i64, offset: i64) -> f64 {
        nanos_between(self.offset, offset)
            - self.residual
            - self.slope * seconds_between(self.at, at)
    }

    /// The same line, anchored at another device time.
    pub(crate) fn anchored_at(&self, at: i64) -> Self {
        let residual = self.residual + self.slope * seconds_between(self.at, at);
        // The large part goes into the integer, so that the rest stays exact.
        let whole = whole_nanos(residual);
        Self {
            at,
            offset: self.offset.saturating_add(whole),
            residual: residual - whole as f64,
            slope: self.slope,
        }
    }

    /// The line, this much higher at its anchor and this much steeper.
    pub(crate) fn moved(&self, height: f64, slope: f64) -> Self {
        Self {
            residual: self.residual + height,
            slope: self.slope + slope,
            ..*self
        }
    }

    /// The host time of a device time, in nanoseconds.
    pub(crate) fn host(&self, device: DeviceTime) -> i64 {
        let correction = self.residual + self.slope * seconds_between(self.at, device.nanos());
        let host = i128::from(device.nanos())
            + i128::from(self.offset)
            + i128::from(whole_nanos(correction));
        i64::try_from(host).unwrap_or(if host < 0 { i64::MIN } else { i64::MAX })
    }
}

/// From `from` to `to`, in nanoseconds; exact where doubles are.
pub(crate) fn nanos_between(from: i64, to: i64) -> f64 {
    match to.checked_sub(from) {
        Some(difference) => difference as f64,
        None => (i128::from(to) - i128::from(from)) as f64,
    }
}

/// From `from` to `to`, in seconds.
pub(crate) fn seconds_between(from: i64, to: i64) -> f64 {
    nanos_between(from, to) * 1e-9
}
