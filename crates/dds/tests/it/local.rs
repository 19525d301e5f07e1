//! Participants that stay on this machine, in domains that nobody else uses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use timeloom_dds::{DdsParticipant, Options};

/// Keeps every packet on the loopback interface.
pub(crate) const LOOPBACK: &str = "<CycloneDDS><Domain Id=\"any\"><General><Interfaces>\
    <NetworkInterface name=\"lo\" multicast=\"false\"/></Interfaces><AllowMulticast>false</AllowMulticast></General>\
    <Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>40</MaxAutoParticipantIndex>\
    <Peers><Peer Address=\"127.0.0.1\"/></Peers></Discovery></Domain></CycloneDDS>";

/// A domain of its own for a test: by process, since tests of several run at once, and by number.
pub(crate) fn new_domain() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    (std::process::id() * 7 + NEXT.fetch_add(1, Ordering::Relaxed)) % 200 + 1
}

pub(crate) fn options(domain: u32) -> Options {
    Options {
        domain,
        configuration: LOOPBACK.into(),
        ..Options::default()
    }
}

pub(crate) fn participant(domain: u32) -> Arc<DdsParticipant> {
    Arc::new(DdsParticipant::new(&options(domain)).expect("a participant"))
}
