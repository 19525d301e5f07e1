//! Tracks whether this thread is inside a call of ours into Zenoh, or inside a callback from it.

use std::cell::Cell;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static CALLBACKS: Cell<usize> = const { Cell::new(0) };
}

/// Counts while it lives, also when something panics.
struct DepthGuard(&'static std::thread::LocalKey<Cell<usize>>);

impl DepthGuard {
    fn new(count: &'static std::thread::LocalKey<Cell<usize>>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }
}

impl Drop for DepthGuard {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Calls Zenoh: samples that it delivers meanwhile on this thread are from our own session, with the caller's locks
/// held.
pub(crate) fn call<T>(call: impl FnOnce() -> T) -> T {
    let _inside = DepthGuard::new(&CALLS);
    call()
}

/// Runs a callback of Zenoh.
pub(crate) fn callback<T>(callback: impl FnOnce() -> T) -> T {
    let _inside = DepthGuard::new(&CALLBACKS);
    callback()
}

/// Whether a callback that runs now is inside a call of ours.
pub(crate) fn is_inside_call() -> bool {
    CALLS.get() > 0
}

/// Whether this is a thread of Zenoh, which must not wait for the session's end.
pub(crate) fn is_inside_callback() -> bool {
    CALLBACKS.get() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_nest_and_end_with_a_panic() {
        assert!(!is_inside_call());
        call(|| call(|| assert!(is_inside_call() && !is_inside_callback())));
        assert!(std::panic::catch_unwind(|| call(|| panic!("on purpose"))).is_err());
        assert!(!is_inside_call());
        assert!(callback(is_inside_callback));
    }
}
