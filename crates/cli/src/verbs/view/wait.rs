//! Waiting until the user has seen enough.

use timeloom_time::{Clock, Duration, Steady, Time, WaitOptions};

use crate::live::Interrupt;

/// Polling interval.
const LOOK: Duration = Duration::from_millis(100);

/// Blocks until Ctrl-C, for `limit`, or until `look` returns that it is over; it is called ten times a second.
pub(super) fn wait(interrupt: &Interrupt, limit: Option<Duration>, mut look: impl FnMut() -> bool) {
    let clock = Clock::<Steady>::new();
    let end = limit.map_or(Time::MAX, |limit| clock.now().saturating_add(limit));
    let options = WaitOptions::new().cancel(interrupt.token());
    while !look() && !interrupt.happened() && clock.now() < end {
        let next = clock.now().saturating_add(LOOK).min(end);
        let _woke = clock.sleep_until_with(next, &options);
    }
}
