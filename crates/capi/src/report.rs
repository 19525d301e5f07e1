use timeloom_sync::Diagnostics;

use crate::time::TimeloomTime;

/// What there is to say about a clock.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeloomReport {
    /// The newest device time, on the host's steady clock.
    pub newest: TimeloomTime,
    /// Host minus device time, in nanoseconds of the steady clock.
    pub offset_ns: i64,
    /// How fast the offset grows, in ppm: positive if the device's clock is slow.
    pub drift_ppm: f64,
    /// Samples that were taken in.
    pub samples: u64,
    /// Of these, samples that contradicted all others and were left out.
    pub outliers: u64,
    /// Samples with the device stamp of the one before.
    pub duplicates: u64,
    /// Samples older than the newest of their kind.
    pub late: u64,
}

impl From<Diagnostics> for TimeloomReport {
    fn from(told: Diagnostics) -> Self {
        Self {
            newest: told.newest.into(),
            offset_ns: told.offset_ns,
            drift_ppm: told.skew_ppm,
            samples: told.counters.samples,
            outliers: told.counters.outliers,
            duplicates: told.counters.duplicates,
            late: told.counters.late,
        }
    }
}
