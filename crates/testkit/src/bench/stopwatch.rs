//! Real time and CPU time of a piece of work.

use rustix::time::{ClockId, Timespec};

/// Real time and CPU time of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Real time that passed, in nanoseconds.
    pub wall: f64,
    /// CPU time of the calling thread, in nanoseconds.
    pub cpu: f64,
}

impl Usage {
    /// The share of one core that the calling thread used, 0 to 1; not a number for an empty span.
    pub fn cpu_share(&self) -> f64 {
        self.cpu / self.wall
    }
}

/// Measures from its start; each reading is taken on the thread that started it.
///
/// A stopwatch moved to another thread still measures real time, but its CPU time mixes two threads.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    wall: f64,
    cpu: f64,
}

impl Stopwatch {
    /// Starts measuring.
    pub fn start() -> Self {
        Self {
            cpu: read(ClockId::ThreadCPUTime),
            wall: read(ClockId::Monotonic),
        }
    }

    /// Real time and CPU time since the start.
    pub fn usage(&self) -> Usage {
        Usage {
            wall: self.wall(),
            cpu: read(ClockId::ThreadCPUTime) - self.cpu,
        }
    }

    /// Real time since the start, in nanoseconds. Cheaper than [`usage`](Self::usage): one clock read.
    pub fn wall(&self) -> f64 {
        read(ClockId::Monotonic) - self.wall
    }
}

/// Both clocks start near zero (boot, thread start): a double holds their nanoseconds exactly for 104 days.
fn read(clock: ClockId) -> f64 {
    let Timespec { tv_sec, tv_nsec } = rustix::time::clock_gettime(clock); // tidy: allow clock
    tv_sec as f64 * 1e9 + tv_nsec as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn work_uses_both_clocks() {
        let stopwatch = Stopwatch::start();
        let mut sum = 0_u64;
        // Until the clocks moved, not for a fixed time: no assumption about the machine's speed.
        while stopwatch.usage().cpu <= 0.0 || stopwatch.wall() <= 0.0 {
            sum = black_box(sum + 1);
        }
        let usage = stopwatch.usage();
        assert!(usage.wall > 0.0 && usage.cpu > 0.0, "{usage:?}");
    }

    #[test]
    fn another_threads_work_is_not_ours() {
        let other = std::thread::spawn(|| {
            let stopwatch = Stopwatch::start();
            while stopwatch.usage().cpu < 20e6 {
                black_box(0);
            }
            stopwatch.usage().cpu
        });
        let stopwatch = Stopwatch::start();
        let others_cpu = other.join().unwrap();
        let usage = stopwatch.usage();
        assert!(others_cpu >= 20e6);
        // This thread only waited.
        assert!(usage.cpu < others_cpu, "{usage:?}");
    }

    #[test]
    fn share_is_cpu_of_wall() {
        assert_eq!(
            Usage {
                wall: 200.0,
                cpu: 50.0
            }
            .cpu_share()
            .to_string(),
            "0.25"
        );
    }
}
