//! The suite that every transport passes.

use std::sync::Arc;

use timeloom_testkit::transport::{Harness, Quirks};
use timeloom_wire::Participant;

use crate::local::{new_domain, participant};

struct Dds {
    domain: u32,
}

impl Harness for Dds {
    fn participant(&self) -> Arc<dyn Participant> {
        participant(self.domain)
    }

    fn quirks(&self) -> Quirks {
        Quirks {
            // Receivers run on the thread that reads the socket, whose buffer is the queue.
            keeps_beyond_depth: true,
            ..Quirks::default()
        }
    }

    fn patience(&self) -> timeloom_time::Duration {
        // The machine may be busy; a test that passes never waits for it.
        timeloom_time::Duration::from_secs(30)
    }
}

fn dds() -> Box<dyn Harness> {
    Box::new(Dds {
        domain: new_domain(),
    })
}

timeloom_testkit::transport_conformance!(dds);
