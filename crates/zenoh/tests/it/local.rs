//! Participants on 127.0.0.1, and waiting.

use std::sync::Arc;

pub(crate) use timeloom_testkit::transport::Watched;
pub(crate) use timeloom_testkit::until;
use timeloom_time::Duration;
use timeloom_zenoh::{Options, ZenohParticipant, ZenohRouter};

/// A router at a port that the system chose, and its endpoint.
pub(crate) fn router() -> (ZenohRouter, String) {
    let router = ZenohRouter::start("tcp/127.0.0.1:0").expect("a router starts");
    let endpoint = router.endpoints().remove(0);
    (router, endpoint)
}

/// Options for a participant that looks at the endpoint only.
pub(crate) fn options(endpoint: &str) -> Options {
    Options::default().only_at(endpoint)
}

pub(crate) fn participant(endpoint: &str) -> Arc<ZenohParticipant> {
    Arc::new(ZenohParticipant::new(&options(endpoint)).expect("a participant joins"))
}

/// The longest wait for something that must happen; a test that passes never waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
