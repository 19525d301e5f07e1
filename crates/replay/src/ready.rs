//! Whether the process under test is connected: its subscriptions to the inputs, its publishers of the outputs.

use std::collections::BTreeMap;
use std::sync::Arc;

use timeloom_msg::TypeName;
use timeloom_msg::qos::Reliability;
use timeloom_wire::{
    EndpointInfo, EndpointKind, Node, NodeName, Participant, Receiver, Sample, Subscription,
    TopicSpec, WatchedGraph, adapt_to_offers,
};

/// The graph around a run.
pub(crate) struct GraphView {
    graph: WatchedGraph,
    own: [NodeName; 2],
}

impl GraphView {
    /// Watches the graph; `own` are the nodes of the player and of the recorder.
    pub(crate) fn new(participant: &dyn Participant, own: [NodeName; 2]) -> Self {
        let graph = WatchedGraph::new(participant);
        Self { graph, own }
    }

    fn endpoints(&self, topic: &str, kind: EndpointKind) -> Vec<EndpointInfo> {
        self.graph.lock().on(topic, kind).cloned().collect()
    }

    fn is_own(&self, endpoint: &EndpointInfo) -> bool {
        endpoint
            .node
            .as_ref()
            .is_some_and(|node| self.own.contains(node))
    }

    /// The endpoints of others.
    pub(crate) fn others(&self, topic: &str, kind: EndpointKind) -> Vec<EndpointInfo> {
        let mut endpoints = self.endpoints(topic, kind);
        endpoints.retain(|endpoint| !self.is_own(endpoint));
        endpoints
    }

    /// Number of subscriptions of player and recorder to a topic.
    fn own_subscriptions(&self, topic: &str) -> usize {
        let endpoints = self.endpoints(topic, EndpointKind::Subscription);
        endpoints
            .iter()
            .filter(|endpoint| self.is_own(endpoint))
            .count()
    }

    /// Whether a node of the process follows `/clock`.
    pub(crate) fn is_clock_followed(&self) -> bool {
        !self.others("/clock", EndpointKind::Subscription).is_empty()
    }
}

/// Waits until messages of the outputs reach the recorder.
///
/// A reliable reader misses what was published before the writer knows it. A further subscription is therefore made after
/// those of the recorder and of the player, and its writers are asked for an answer: the answer shows that they know the
/// earlier ones too, because announcements arrive in order.
pub(crate) struct OutputGate<'a> {
    graph: &'a GraphView,
    node: &'a dyn Node,
    /// The topics, with the number of subscriptions that this process has to each.
    outputs: Vec<(String, usize)>,
    witnesses: BTreeMap<String, Witness>,
    polls: u32,
}

/// A subscription that was made after those of the player and the recorder.
struct Witness {
    subscription: Box<dyn Subscription>,
    /// Whether the transport can ask writers.
    asks: bool,
}

/// The writers are asked again after so many polls.
const ASK_EVERY: u32 = 10;

struct Discard;

impl Receiver for Discard {
    fn sample(&self, _sample: Sample) {}
}

impl<'a> OutputGate<'a> {
    pub(crate) fn new(
        graph: &'a GraphView,
        node: &'a dyn Node,
        outputs: Vec<(String, usize)>,
    ) -> Self {
        Self {
            graph,
            node,
            outputs,
            witnesses: BTreeMap::new(),
            polls: 0,
        }
    }

    /// The outputs that are not connected.
    pub(crate) fn unconnected(&mut self) -> Vec<String> {
        let is_time_to_ask = self.polls.is_multiple_of(ASK_EVERY);
        self.polls += 1;
        let outputs = std::mem::take(&mut self.outputs);
        let missing = outputs.iter().filter(|(topic, subscriptions)| {
            !self.is_connected(topic, *subscriptions, is_time_to_ask)
        });
        let missing = missing.map(|(topic, _)| topic.clone()).collect();
        self.outputs = outputs;
        missing
    }

    fn is_connected(&mut self, topic: &str, subscriptions: usize, is_time_to_ask: bool) -> bool {
        let publishers = self.graph.others(topic, EndpointKind::Publisher);
        let Some(first) = publishers.first() else {
            return false;
        };
        if !self.witnesses.contains_key(topic) {
            if self.graph.own_subscriptions(topic) < subscriptions {
                return false;
            }
            let Some(subscription) = self.subscribe(first, &publishers) else {
                return false;
            };
            let asks = subscription.request_last_numbers();
            let witness = Witness { subscription, asks };
            self.witnesses.insert(topic.to_owned(), witness);
        }
        let Some(Witness { subscription, asks }) = self.witnesses.get(topic) else {
            return false;
        };
        if subscription.matched() < publishers.len() {
            return false;
        }
        let unanswered = |publisher: &EndpointInfo| {
            publisher.qos.reliability == Reliability::Reliable
                && !subscription.has_answered(&publisher.gid)
        };
        if !asks || !publishers.iter().any(unanswered) {
            return true;
        }
        if is_time_to_ask {
            subscription.request_last_numbers();
        }
        false
    }

    fn subscribe(
        &self,
        first: &EndpointInfo,
        publishers: &[EndpointInfo],
    ) -> Option<Box<dyn Subscription>> {
        let offers: Vec<_> = publishers.iter().map(|publisher| publisher.qos).collect();
        let spec = TopicSpec {
            name: first.topic.clone(),
            type_name: TypeName::parse(&first.type_name).ok()?,
            type_hash: first.type_hash,
            qos: adapt_to_offers(&offers),
        };
        self.node.subscribe(&spec, Arc::new(Discard)).ok()
    }
}
