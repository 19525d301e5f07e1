use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use timeloom_time::{Ros, Steady, Time};
use timeloom_wire::backend::lock;

use super::rate_meter::RateMeter;
use super::status::State;

/// The part of a player's [`Status`](super::Status) that changes while it plays; written by the playback thread.
#[derive(Debug, Default)]
pub(super) struct LiveStatus {
    state: AtomicU8,
    /// Paused by the user; the clock itself is also stopped before the start and after the end.
    pub(super) paused: AtomicBool,
    /// The player's time of the next message; `i64::MAX` if there is none.
    pub(super) next_due: AtomicI64,
    /// Player time minus bag time: larger with each lap of a monotonic loop.
    pub(super) offset: AtomicI64,
    pub(super) laps: AtomicU64,
    /// Number of times that the read-ahead was empty when a message was wanted.
    pub(super) starved: AtomicU64,
    /// Frequency of `/clock` in hertz, as the bits of an `f64`.
    pub(super) clock_frequency: AtomicU64,
    /// The largest lateness of a message so far, in nanoseconds of the player's time.
    pub(super) latest: AtomicI64,
    pub(super) topics: Vec<TopicCounters>,
    details: Mutex<Details>,
}

/// The part that changes rarely.
#[derive(Clone, Debug, Default)]
pub(super) struct Details {
    pub(super) range: Option<(Time<Ros>, Time<Ros>)>,
    pub(super) loop_range: Option<(Time<Ros>, Time<Ros>)>,
    pub(super) damage: Vec<String>,
    pub(super) meter: RateMeter,
}

/// The counts of a topic's messages.
#[derive(Debug, Default)]
pub(super) struct TopicCounters {
    pub(super) played: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) dropped: AtomicU64,
    pub(super) stepped_over: AtomicU64,
}

/// A count that only one thread adds to.
pub(super) fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

impl LiveStatus {
    pub(super) fn new(topics: usize, paused: bool) -> Self {
        Self {
            paused: AtomicBool::new(paused),
            next_due: AtomicI64::new(i64::MAX),
            topics: (0..topics).map(|_| TopicCounters::default()).collect(),
            ..Self::default()
        }
    }

    pub(super) fn state(&self) -> State {
        State::of_number(self.state.load(Ordering::SeqCst))
    }

    pub(super) fn set_state(&self, state: State) {
        self.state.store(state as u8, Ordering::SeqCst);
    }

    pub(super) fn details(&self) -> MutexGuard<'_, Details> {
        lock(&self.details)
    }

    /// Restarts the measurement of the achieved rate, after a pause or a jump.
    pub(super) fn forget_rate(&self) {
        self.details().meter.reset();
    }

    /// The achieved rate, with one more sample.
    pub(super) fn measure(&self, steady: Time<Steady>, progress: i64) -> Option<f64> {
        self.details().meter.sample(steady.nanos(), progress)
    }
}
