//! Participants on 127.0.0.1, and waiting.

use std::sync::{Arc, Mutex};

pub(crate) use timeloom_testkit::until;
use timeloom_time::Duration;
use timeloom_wire::{EndpointInfo, EndpointKind, Graph, GraphWatch, Participant as _};
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

/// A participant and the graph that it sees.
pub(crate) struct Watched {
    graph: Arc<Mutex<Graph>>,
    _watch: GraphWatch,
    _participant: Arc<ZenohParticipant>,
}

impl Watched {
    pub(crate) fn new(participant: Arc<ZenohParticipant>) -> Self {
        let graph = Arc::new(Mutex::new(Graph::default()));
        let seen = Arc::clone(&graph);
        let watch = participant.watch_graph(Box::new(move |event| {
            seen.lock().unwrap().apply(event);
        }));
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

    pub(crate) fn nodes(&self) -> Vec<String> {
        let graph = self.graph.lock().unwrap();
        graph.nodes().map(|(name, _)| name.to_string()).collect()
    }

    pub(crate) fn endpoints(&self) -> usize {
        self.graph.lock().unwrap().endpoints().count()
    }
}
