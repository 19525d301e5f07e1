//! Locks of the test kit.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also after a panic of another holder: one failed check does not fail the others.
///
/// Mutexes of `timeloom_time::sync` are loom's in a build for models, which the helpers here also compile in.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
