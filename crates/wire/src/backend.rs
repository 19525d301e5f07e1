//! Parts that transports share: notes, graph observers, calls of receivers, and a lock that survives panics.

mod notes;
mod observers;
mod receiver_calls;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use notes::{Note, NoteKind, Notes, Reporter};
pub use observers::Observers;
pub use receiver_calls::ReceiverCalls;

/// Locks a mutex, also after a panic of a thread that held it: every critical section leaves its data consistent.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
