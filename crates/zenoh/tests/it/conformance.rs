//! The suite that every transport passes.

use std::sync::Arc;

use timeloom_testkit::transport::{Harness, Quirks};
use timeloom_wire::Participant;
use timeloom_zenoh::ZenohRouter;

use crate::local::{PATIENCE, participant, router};

struct Zenoh {
    endpoint: String,
    _router: ZenohRouter,
}

impl Harness for Zenoh {
    fn participant(&self) -> Arc<dyn Participant> {
        participant(&self.endpoint)
    }

    fn quirks(&self) -> Quirks {
        Quirks {
            // As in rmw_zenoh: endpoints with the same key match.
            matches_incompatible: true,
            silent_about_incompatible: true,
            // Receivers run on the thread that reads the socket, whose buffer is the queue.
            keeps_beyond_depth: true,
            ..Quirks::default()
        }
    }

    fn patience(&self) -> timeloom_time::Duration {
        PATIENCE
    }
}

fn zenoh() -> Box<dyn Harness> {
    let (router, endpoint) = router();
    Box::new(Zenoh {
        endpoint,
        _router: router,
    })
}

timeloom_testkit::transport_conformance!(zenoh);
