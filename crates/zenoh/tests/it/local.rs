//! Participants on 127.0.0.1, and waiting.

use std::sync::Arc;

use timeloom_time::{Clock, Duration, Steady};
use timeloom_zenoh::{Options, ZenohParticipant, ZenohRouter};

/// A router at a port that the system chose, and where it is.
pub(crate) fn router() -> (ZenohRouter, String) {
    let router = ZenohRouter::start("tcp/127.0.0.1:0").expect("a router starts");
    let endpoint = router.endpoints().remove(0);
    (router, endpoint)
}

/// Options for a participant that looks at the endpoint and nowhere else.
pub(crate) fn options(endpoint: &str) -> Options {
    Options::default().only_at(endpoint)
}

pub(crate) fn participant(endpoint: &str) -> Arc<ZenohParticipant> {
    Arc::new(ZenohParticipant::new(&options(endpoint)).expect("a participant joins"))
}

/// How long something that must happen may take; a test that passes never waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until the condition holds.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let clock = Clock::<Steady>::new();
    let end = clock.now().saturating_add(PATIENCE);
    while !condition() {
        assert!(clock.now() < end, "not within {PATIENCE}: {what}");
        let _woke = clock.sleep_for(Duration::from_millis(2));
    }
}
