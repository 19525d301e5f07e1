//! Participants that stay on this machine, in domains of their own.

use std::sync::Arc;

use timeloom_dds::{DdsParticipant, Options};
pub(crate) use timeloom_testkit::transport::Watched;
pub(crate) use timeloom_testkit::{hold_domain, new_domain, until};
use timeloom_time::{Clock, Duration, Steady};

/// Keeps every packet on the loopback interface.
pub(crate) const LOOPBACK: &str = "<CycloneDDS><Domain Id=\"any\"><General><Interfaces>\
    <NetworkInterface name=\"lo\" multicast=\"false\"/></Interfaces><AllowMulticast>false</AllowMulticast></General>\
    <Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>40</MaxAutoParticipantIndex>\
    <Peers><Peer Address=\"127.0.0.1\"/></Peers></Discovery></Domain></CycloneDDS>";

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

/// Like [`until`], with its own limit: for work that needs much of the machine.
pub(crate) fn until_within(seconds: i64, what: &str, mut condition: impl FnMut() -> bool) {
    let clock = Clock::<Steady>::new();
    let end = clock.now().saturating_add(Duration::from_secs(seconds));
    while !condition() {
        assert!(clock.now() < end, "not in time: {what}");
        let _woke = clock.sleep_for(Duration::from_millis(1));
    }
}
