use std::sync::Arc;

use timeloom_wire::{EndpointInfo, EndpointKind, Participant, WatchedGraph};

/// The graph as a participant sees it; keeps the participant alive.
pub struct Watched {
    graph: WatchedGraph,
    _participant: Arc<dyn Participant>,
}

impl Watched {
    /// Watches until dropped.
    pub fn new(participant: Arc<dyn Participant>) -> Self {
        Self {
            graph: WatchedGraph::new(&*participant),
            _participant: participant,
        }
    }

    /// The endpoints of a kind on a topic or service.
    pub fn on(&self, topic: &str, kind: EndpointKind) -> Vec<EndpointInfo> {
        self.graph.lock().on(topic, kind).cloned().collect()
    }

    /// The number of nodes with this full name.
    pub fn nodes_named(&self, name: &str) -> usize {
        let graph = self.graph.lock();
        let named = graph.nodes().filter(|(node, _)| node.full() == name);
        named.map(|(_, count)| count).sum()
    }

    /// The names of all nodes.
    pub fn node_names(&self) -> Vec<String> {
        let graph = self.graph.lock();
        graph.nodes().map(|(name, _)| name.to_string()).collect()
    }

    /// The number of endpoints.
    pub fn endpoints(&self) -> usize {
        self.graph.lock().endpoints().count()
    }
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Watched").field(&self.graph).finish()
    }
}
