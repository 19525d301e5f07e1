//! CPU time of the whole process, whichever thread does the work.

use rustix::time::{ClockId, clock_gettime};

/// CPU time of all threads since the process began, in nanoseconds.
pub(crate) fn process_cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
