//! Helpers of the behaviour tests.

use std::sync::{Arc, Mutex, PoisonError};

use timeloom_time::{
    Clock, ClockWarning, Duration, JumpHandle, JumpHandler, JumpThreshold, Kind, Ros, Time,
    TimeBase, TimeHub, TimeHubOptions, TimeJump, VirtualTime,
};

pub(crate) const MS: i64 = 1_000_000;
pub(crate) const SEC: i64 = 1_000_000_000;

pub(crate) fn ns(nanos: i64) -> Duration {
    Duration::from_nanos(nanos)
}

pub(crate) fn ms(millis: i64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn secs(seconds: i64) -> Duration {
    Duration::from_secs(seconds)
}

/// ROS time in nanoseconds.
pub(crate) fn at(nanos: i64) -> Time<Ros> {
    Time::from_nanos(nanos)
}

/// ROS time in milliseconds.
pub(crate) fn at_ms(millis: i64) -> Time<Ros> {
    at(millis * MS)
}

/// A list that many threads append to.
#[derive(Debug)]
pub(crate) struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Log<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Vec::new())))
    }

    pub(crate) fn push(&self, entry: T) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(entry);
    }

    /// The entries since the last call.
    pub(crate) fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A ROS clock on manual virtual time that a test sets by hand, active and showing `start`.
pub(crate) fn overridden(start: Time<Ros>) -> Clock<Ros> {
    let clock = Clock::on(&VirtualTime::manual().base());
    clock.set_override(start);
    clock.activate_override();
    clock
}

/// A step around a jump, as a handler saw it.
pub(crate) type Seen<K> = (&'static str, TimeJump<K>);

/// Logs `("before", jump)` and `("after", jump)`.
pub(crate) fn watch<K: Kind>(
    clock: &Clock<K>,
    threshold: JumpThreshold,
) -> (JumpHandle, Log<Seen<K>>) {
    let log = Log::new();
    let (before, after) = (log.clone(), log.clone());
    let handler = JumpHandler::new("watch", threshold)
        .before(move |jump| before.push(("before", *jump)))
        .after(move |jump| after.push(("after", *jump)));
    (clock.add_jump_handler(handler), log)
}

/// The lengths of the jumps that a [`watch`] saw completed.
pub(crate) fn deltas<K: Kind>(log: &Log<Seen<K>>) -> Vec<i64> {
    log.take()
        .into_iter()
        .filter(|(step, _)| *step == "after")
        .map(|(_, jump)| jump.delta.nanos())
        .collect()
}

pub(crate) fn warnings_of<K: Kind>(clock: &Clock<K>) -> Log<ClockWarning> {
    let log = Log::new();
    let sink = log.clone();
    clock.set_reporter(move |warning| sink.push(warning.clone()));
    log
}

pub(crate) fn extrapolating(base: &TimeBase) -> TimeHub {
    TimeHub::with_options(
        base,
        TimeHubOptions {
            extrapolate: true,
            ..TimeHubOptions::default()
        },
    )
}

/// A jump threshold of both directions.
pub(crate) fn beyond(forward: i64, backward: i64) -> JumpThreshold {
    JumpThreshold::new()
        .forward(ns(forward))
        .and_then(|threshold| threshold.backward(ns(backward)))
        .expect("legal signs")
}
