use timeloom_sync::Diagnostics;

use crate::time::TimeloomTime;

/// The state of a clock.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeloomReport {
    /// The newest device time, on the host's steady clock.
    pub newest: TimeloomTime,
    /// Host minus device time, in nanoseconds of the steady clock.
    pub offset_ns: i64,
    /// Growth of the offset, in ppm: positive if the device's clock is slow.
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
    fn from(diagnostics: Diagnostics) -> Self {
        Self {
            newest: diagnostics.newest.into(),
            offset_ns: diagnostics.offset_ns,
            drift_ppm: diagnostics.skew_ppm,
            samples: diagnostics.counters.samples,
            outliers: diagnostics.counters.outliers,
            duplicates: diagnostics.counters.duplicates,
            late: diagnostics.counters.late,
        }
    }
}
