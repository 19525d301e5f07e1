//! A loopback network on virtual time, with helpers for tests of nodes.

use std::sync::Arc;

use bytes::Bytes;
use timeloom_msg::{QosProfile, Value};
use timeloom_node::{NodeOptions, RosNode, ServiceTypes};
pub(crate) use timeloom_testkit::transport::{listen, topic, values};
use timeloom_time::{Clock, Duration, Steady, VirtualTime};
use timeloom_wire::loopback::LoopbackNetwork;
use timeloom_wire::{Caller, Node, NodeName, Participant, WatchedGraph};

pub(crate) struct World {
    pub(crate) time: VirtualTime,
    _here: timeloom_time::Participant,
    pub(crate) network: LoopbackNetwork,
    pub(crate) clock: Clock<Steady>,
}

impl World {
    pub(crate) fn new() -> Self {
        let time = VirtualTime::new();
        let base = time.base();
        Self {
            _here: time.enter(),
            network: LoopbackNetwork::new(&base),
            clock: Clock::on(&base),
            time,
        }
    }

    pub(crate) fn participant(&self, label: &str) -> Arc<dyn Participant> {
        self.network.participant(label).expect("it joins")
    }

    /// A node on a participant of its own.
    pub(crate) fn node(&self, options: NodeOptions) -> RosNode {
        RosNode::new(self.participant(&options.name), options).expect("a node")
    }

    /// Another node.
    pub(crate) fn peer(&self, label: &str) -> Arc<dyn Node> {
        let name = NodeName::new("/", label).expect("a name");
        self.participant(label).node(name).expect("a node")
    }

    pub(crate) fn pass(&self, millis: i64) {
        let _woke = self.clock.sleep_for(Duration::from_millis(millis));
    }

    /// Calls a service as a peer; the fields of the request are set by `fill`.
    pub(crate) fn call(
        &self,
        peer: &Arc<dyn Node>,
        service: &str,
        type_name: &str,
        fill: impl FnOnce(&mut Value),
    ) -> timeloom_wire::Result<Value> {
        let types = ServiceTypes::builtin(type_name).expect("a type");
        let spec = types.spec(service, QosProfile::SERVICES);
        let caller = Caller::new(&**peer, &spec, &self.time.base())?;
        caller.wait_for_server(Duration::from_secs(1));
        let mut request = types.request.default_value().expect("a request");
        fill(&mut request);
        let payload = types.request.encode(&request).expect("it is encoded");
        let reply = caller.call(Bytes::from(payload), Duration::from_secs(1))?;
        Ok(types.response.decode(&reply).expect("a response"))
    }
}

/// The graph as a participant sees it, and the participant, which must be kept.
pub(crate) fn watch(participant: Arc<dyn Participant>) -> (WatchedGraph, Arc<dyn Participant>) {
    (WatchedGraph::new(&*participant), participant)
}
