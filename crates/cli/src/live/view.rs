//! The graph as it is known so far, and waiting for it.

use timeloom_time::{Clock, Duration, Event, Steady, Time, TimeBase};
use timeloom_wire::{Graph, GraphEvent, NodeName, Participant, WatchedGraph};

use crate::live::Interrupt;

/// After this time without news, the graph is complete.
const QUIET: Duration = Duration::from_millis(200);
/// Minimum discovery time of a listing: a participant on a busy machine may take a second to announce its endpoints.
pub(crate) const LISTING: Duration = Duration::from_millis(1200);
/// Minimum discovery time of a verb that subscribes afterwards, because it misses messages in the meantime.
pub(crate) const SUBSCRIBING: Duration = Duration::from_millis(500);

/// The graph as the other participants announced it.
pub(crate) struct View {
    graph: WatchedGraph,
    changed: Event,
    clock: Clock<Steady>,
    begun: Time<Steady>,
    interrupt: Interrupt,
}

impl View {
    pub(crate) fn new(participant: &dyn Participant, interrupt: &Interrupt) -> Self {
        let base: TimeBase = participant.time_base();
        let changed = Event::new(&base);
        // Without topics of DDS that are not of ROS, such as those of discovery.
        let is_ros = |event: &GraphEvent| !matches!(event, GraphEvent::EndpointChanged(info) if !info.topic.starts_with('/'));
        let news = changed.clone();
        let graph = WatchedGraph::filtered(participant, is_ros, move || news.set());
        let wake = changed.clone();
        interrupt.wakes(move || wake.set());
        let clock = Clock::on(&base);
        Self {
            graph,
            changed,
            begun: clock.now(),
            clock,
            interrupt: interrupt.clone(),
        }
    }

    /// The graph as it is now.
    pub(crate) fn graph(&self) -> Graph {
        self.graph.snapshot()
    }

    /// Blocks until the condition holds, or for `limit` of time; true if it holds. Ends at Ctrl-C.
    pub(crate) fn wait_until(
        &self,
        limit: Option<Duration>,
        mut condition: impl FnMut(&Graph) -> bool,
    ) -> bool {
        let end = limit.map(|limit| self.clock.now().saturating_add(limit));
        loop {
            self.changed.clear();
            if condition(&self.graph()) {
                return true;
            }
            let left = end.map_or(Some(Duration::from_secs(3600)), |end| {
                end.checked_since(self.clock.now())
            });
            match left.filter(|left| *left > Duration::from_nanos(0)) {
                Some(left) if !self.interrupt.happened() => {
                    self.changed.wait_for(left);
                }
                _ => return false,
            }
        }
    }

    /// Blocks for `least` and until nothing new comes and the graph is `whole`, or for `limit` of time.
    pub(crate) fn settle(&self, least: Duration, limit: Duration, whole: impl Fn(&Graph) -> bool) {
        let end = self.clock.now().saturating_add(limit);
        loop {
            let left = |from| end.checked_since(from).unwrap_or_default();
            let now = self.clock.now();
            self.wait_until(Some(left(now)), &whole);
            self.changed.clear();
            let now = self.clock.now();
            if now >= end || self.interrupt.happened() {
                return;
            }
            let news = self.changed.wait_for(left(now).min(QUIET));
            let early = self.clock.now() < self.begun.saturating_add(least);
            if !news && !early && whole(&self.graph()) {
                return;
            }
        }
    }
}

/// Whether there are others than `own`, and the node of each endpoint is known: names come apart from endpoints,
/// mostly a moment later.
pub(crate) fn nodes_are_known(graph: &Graph, own: &NodeName) -> bool {
    graph.nodes().any(|(name, _)| name != own)
        && graph.endpoints().all(|endpoint| endpoint.node.is_some())
}
