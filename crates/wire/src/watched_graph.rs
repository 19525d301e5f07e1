use std::sync::Arc;

use timeloom_time::sync::{Mutex, MutexGuard, lock};

use crate::graph::{Graph, GraphEvent, GraphWatch};
use crate::participant::Participant;

/// A copy of the graph that is kept current until this is dropped.
///
/// It does not keep the participant alive.
///
/// ```
/// use timeloom_time::TimeBase;
/// use timeloom_wire::loopback::LoopbackNetwork;
/// use timeloom_wire::{NodeName, WatchedGraph};
///
/// let network = LoopbackNetwork::new(&TimeBase::machine());
/// let participant = network.participant("a")?;
/// let graph = WatchedGraph::new(&*participant);
/// let _node = participant.node(NodeName::new("/", "talker")?)?;
/// while graph.lock().nodes().count() == 0 {
///     std::thread::yield_now();
/// }
/// # Ok::<_, timeloom_wire::Error>(())
/// ```
#[derive(Debug)]
pub struct WatchedGraph {
    graph: Arc<Mutex<Graph>>,
    _watch: GraphWatch,
}

impl WatchedGraph {
    /// Watches the graph of a participant.
    pub fn new(participant: &dyn Participant) -> Self {
        Self::filtered(participant, |_| true, || {})
    }

    /// The same for the events that `accepts` is true for; calls `changed` after each change of the graph, with no lock
    /// held.
    pub fn filtered(
        participant: &dyn Participant,
        accepts: impl Fn(&GraphEvent) -> bool + Send + Sync + 'static,
        changed: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let graph = Arc::new(Mutex::new(Graph::default()));
        let inside = Arc::clone(&graph);
        let watch = participant.watch_graph(Box::new(move |event| {
            if accepts(event) && lock(&inside).apply(event) {
                changed();
            }
        }));
        Self {
            graph,
            _watch: watch,
        }
    }

    /// The graph as it is now; changes wait until the guard is dropped.
    pub fn lock(&self) -> MutexGuard<'_, Graph> {
        lock(&self.graph)
    }

    /// A copy of the graph as it is now.
    pub fn snapshot(&self) -> Graph {
        self.lock().clone()
    }
}
