//! The calls of a subscription's receiver.

use std::cell::Cell;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::lock;

/// Serialises the calls of one receiver; none begins after the end.
#[derive(Default)]
pub struct ReceiverCalls {
    ended: AtomicBool,
    /// Held during a call.
    running: Mutex<()>,
}

thread_local! {
    /// The calls that this thread is inside of. Only compared, never dereferenced.
    static CURRENT: Cell<*const ReceiverCalls> = const { Cell::new(ptr::null()) };
}

/// Restores [`CURRENT`] when dropped, also when the receiver panics.
struct Restore(*const ReceiverCalls);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

impl ReceiverCalls {
    /// Runs `call` after the one in progress, unless the calls have ended.
    pub fn run(&self, call: impl FnOnce()) {
        let _running = lock(&self.running);
        if !self.has_ended() {
            let _restore = Restore(CURRENT.replace(ptr::from_ref(self)));
            call();
        }
    }

    /// Whether no further call may begin. A long call checks it in between.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Prevents further calls, without waiting for the one in progress.
    pub fn stop(&self) {
        self.ended.store(true, Ordering::Release);
    }

    /// Prevents further calls, and waits for the one in progress unless this thread is inside of it.
    pub fn end(&self) {
        self.stop();
        if CURRENT.get() != ptr::from_ref(self) {
            drop(lock(&self.running));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn no_call_begins_after_the_end() {
        let calls = ReceiverCalls::default();
        let mut count = 0;
        calls.run(|| count += 1);
        calls.end();
        calls.run(|| count += 1);
        assert_eq!(count, 1);
    }

    #[test]
    fn the_end_waits_for_a_call_of_another_thread_and_not_for_its_own() {
        let calls = ReceiverCalls::default();
        calls.run(|| calls.end());
        let calls = ReceiverCalls::default();
        let over = AtomicBool::new(false);
        let (begun, wait) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                calls.run(|| {
                    begun.send(()).unwrap();
                    while !calls.has_ended() {
                        thread::yield_now();
                    }
                    over.store(true, Ordering::SeqCst);
                });
            });
            wait.recv().unwrap();
            calls.end();
            assert!(over.load(Ordering::SeqCst));
        });
    }

    #[test]
    fn a_panic_in_a_call_leaves_the_thread_outside_of_it() {
        let calls = ReceiverCalls::default();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            calls.run(|| panic!("on purpose"));
        }));
        assert!(panicked.is_err());
        assert!(CURRENT.get().is_null());
    }
}
