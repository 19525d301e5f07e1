//! Participants on this machine only, in domains that no other process uses.

use std::collections::VecDeque;
use std::net::UdpSocket;
use std::sync::{Arc, Mutex};

use timeloom_dds::{DdsParticipant, Options};
use timeloom_testkit::transport::Stage;
pub(crate) use timeloom_testkit::until;
use timeloom_time::{Clock, Duration, Steady};
use timeloom_wire::{EndpointInfo, EndpointKind, Graph, GraphWatch, Participant};

/// Keeps every packet on the loopback interface.
pub(crate) const LOOPBACK: &str = "<CycloneDDS><Domain Id=\"any\"><General><Interfaces>\
    <NetworkInterface name=\"lo\" multicast=\"false\"/></Interfaces><AllowMulticast>false</AllowMulticast></General>\
    <Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>40</MaxAutoParticipantIndex>\
    <Peers><Peer Address=\"127.0.0.1\"/></Peers></Discovery></Domain></CycloneDDS>";

/// Domains whose ports are below the ephemeral ports of the kernel.
const DOMAINS: std::ops::RangeInclusive<u32> = 1..=100;

/// A separate domain for a test, also across processes: a test owns the domain whose last port it holds.
///
/// After the last one the oldest of this process is used again.
pub(crate) fn new_domain() -> u32 {
    static HELD: Mutex<VecDeque<(u32, UdpSocket)>> = Mutex::new(VecDeque::new());
    let mut held = HELD.lock().unwrap();
    let next = DOMAINS
        .into_iter()
        .find_map(|domain| Some((domain, hold(domain)?)))
        .or_else(|| held.pop_front())
        .expect("a free domain");
    let domain = next.0;
    held.push_back(next);
    domain
}

/// Holds a domain for as long as the socket lives; `None` if another process has it.
pub(crate) fn hold(domain: u32) -> Option<UdpSocket> {
    let port = u16::try_from(7399 + 250 * domain).unwrap();
    UdpSocket::bind(("127.0.0.1", port)).ok()
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

/// Like [`until`], with its own limit: for work that needs much of the machine.
pub(crate) fn until_within(seconds: i64, what: &str, mut condition: impl FnMut() -> bool) {
    let clock = Clock::<Steady>::new();
    let end = clock.now().saturating_add(Duration::from_secs(seconds));
    while !condition() {
        assert!(clock.now() < end, "not in time: {what}");
        let _woke = clock.sleep_for(Duration::from_millis(1));
    }
}

/// The graph as a participant sees it.
pub(crate) struct Watched {
    graph: Arc<Mutex<Graph>>,
    _watch: GraphWatch,
    // A watch does not keep its participant alive.
    _participant: Arc<dyn Participant>,
}

impl Watched {
    pub(crate) fn new(participant: Arc<dyn Participant>) -> Self {
        let (graph, watch) = Stage::watch(&participant);
        Self {
            graph,
            _watch: watch,
            _participant: participant,
        }
    }

    pub(crate) fn on(&self, topic: &str, kind: EndpointKind) -> Vec<EndpointInfo> {
        self.graph
            .lock()
            .unwrap()
            .on(topic, kind)
            .cloned()
            .collect()
    }

    pub(crate) fn nodes(&self, name: &str) -> usize {
        let graph = self.graph.lock().unwrap();
        graph
            .nodes()
            .filter(|(node, _)| node.full() == name)
            .map(|(_, count)| count)
            .sum()
    }
}
