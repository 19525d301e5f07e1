//! The synchronisation primitives of this project: std's, or loom's in a `--cfg loom` build.
//!
//! State that threads share by a protocol of their own uses these, in this crate and in those above it, so that the
//! models in each `loom_models.rs` check the production code and not a copy of it.

#[cfg(loom)]
pub use loom;
#[cfg(loom)]
pub use loom::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering, fence},
};
#[cfg(loom)]
pub(crate) use loom::thread::{ThreadId, current};
#[cfg(not(loom))]
pub use std::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering, fence},
};
#[cfg(not(loom))]
pub(crate) use std::thread::{ThreadId, current};

use std::sync::PoisonError;

/// Locks, also after a panic of another thread: every critical section here leaves its data consistent.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits on `condvar` for at most `timeout`; true when the time ran out.
#[cfg(not(loom))]
pub(crate) fn wait_timeout<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    timeout: std::time::Duration,
) -> (MutexGuard<'a, T>, bool) {
    let (guard, result) = condvar
        .wait_timeout(guard, timeout)
        .unwrap_or_else(PoisonError::into_inner);
    (guard, result.timed_out())
}

/// Under loom there is no time: a wait ends only by a notification.
#[cfg(loom)]
pub(crate) fn wait_timeout<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    _timeout: std::time::Duration,
) -> (MutexGuard<'a, T>, bool) {
    (
        condvar.wait(guard).unwrap_or_else(PoisonError::into_inner),
        false,
    )
}

/// One step of a short busy wait.
pub(crate) fn spin() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::hint::spin_loop();
}

/// Runs a model under every interleaving of its threads up to `preemptions` preemptions.
#[cfg(loom)]
pub fn model(preemptions: usize, check: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(check);
}
