//! Waiting for something that another thread or process does.

use timeloom_time::{Clock, Duration, Steady};

/// A passing test never waits this long; a failing one on a busy machine must not be cut short.
const LIMIT: Duration = Duration::from_secs(60);

const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Polls until `condition` holds.
///
/// # Panics
/// After 60 seconds, naming `what` was waited for.
///
/// ```
/// # use std::sync::atomic::{AtomicBool, Ordering};
/// let ready = AtomicBool::new(false);
/// std::thread::scope(|scope| {
///     scope.spawn(|| ready.store(true, Ordering::Release));
///     timeloom_testkit::until("the flag", || ready.load(Ordering::Acquire));
/// });
/// ```
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let clock = Clock::<Steady>::new();
    let end = clock.now().saturating_add(LIMIT);
    while !condition() {
        assert!(clock.now() < end, "not within {LIMIT}: {what}");
        let _woke = clock.sleep_for(POLL_INTERVAL);
    }
}
