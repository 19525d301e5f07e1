//! CPU time of a piece of work, on all threads.

use rustix::time::ClockId;
use timeloom_testkit::bench::Samples;

/// CPU time of all threads in nanoseconds: a stopwatch has only that of its own.
fn process_cpu() -> f64 {
    let time = rustix::time::clock_gettime(ClockId::ProcessCPUTime); // tidy: allow clock
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// CPU time of a piece of work.
pub(crate) fn measure(work: impl FnOnce()) -> f64 {
    let before = process_cpu();
    work();
    process_cpu() - before
}

/// The best of several rounds, because other programs on the machine add to the rest.
pub(crate) fn best(values: &[f64]) -> f64 {
    values.iter().copied().collect::<Samples>().min()
}
