//! Clocks as others implement them, for comparison.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use rustix::time::{ClockId, clock_gettime};

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// The bare clock read: nanoseconds of `CLOCK_MONOTONIC`.
#[inline]
pub(crate) fn monotonic() -> i64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec * NANOS_PER_SECOND + time.tv_nsec
}

/// The clock of rosbag2's player: a mutex around the reference pair, a floating-point rate.
pub(crate) struct MutexPlayer(Mutex<Pair>);

struct Pair {
    ros: i64,
    steady: i64,
    rate: f64,
    paused: bool,
}

impl MutexPlayer {
    pub(crate) fn new(start: i64) -> Self {
        Self(Mutex::new(Pair {
            ros: start,
            steady: monotonic(),
            rate: 1.0,
            paused: false,
        }))
    }

    pub(crate) fn set(&self, ros: i64) {
        let mut pair = self.0.lock().expect("no reader panics");
        pair.ros = ros;
        pair.steady = monotonic();
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the loss of nanoseconds is part of what is compared with"
    )]
    pub(crate) fn now(&self) -> i64 {
        let pair = self.0.lock().expect("no reader panics");
        if pair.paused {
            return pair.ros;
        }
        let elapsed = (monotonic() - pair.steady) as f64;
        pair.ros + (elapsed * pair.rate) as i64
    }
}

/// The simulated clock of rcl: a flag and the time, two plain atomics (which may not belong together).
pub(crate) struct AtomicSim {
    active: AtomicBool,
    time: AtomicI64,
}

impl AtomicSim {
    pub(crate) fn new(start: i64) -> Self {
        Self {
            active: AtomicBool::new(true),
            time: AtomicI64::new(start),
        }
    }

    pub(crate) fn set(&self, time: i64) {
        self.time.store(time, Ordering::SeqCst);
    }

    pub(crate) fn now(&self) -> i64 {
        if self.active.load(Ordering::Relaxed) {
            self.time.load(Ordering::SeqCst)
        } else {
            monotonic()
        }
    }
}

/// A simulated clock behind a mutex, as in most clients.
pub(crate) struct MutexSim(Mutex<i64>);

impl MutexSim {
    pub(crate) fn new(start: i64) -> Self {
        Self(Mutex::new(start))
    }

    pub(crate) fn set(&self, time: i64) {
        *self.0.lock().expect("no reader panics") = time;
    }

    pub(crate) fn now(&self) -> i64 {
        *self.0.lock().expect("no reader panics")
    }
}
