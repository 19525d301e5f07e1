//! A loopback network on virtual time, with helpers for tests.

use std::sync::Arc;

use timeloom_msg::qos::{Durability, History, Reliability};
use timeloom_msg::{QosProfile, TypeName};
use timeloom_testkit::transport::{Collector, payload};
use timeloom_time::{Clock, Duration, Steady, VirtualTime};
use timeloom_wire::loopback::{LoopbackNetwork, LoopbackOptions};
use timeloom_wire::{
    Node, NodeName, Participant, PublishOptions, Publisher, ServiceSpec, Subscription, TopicSpec,
};

pub(crate) struct World {
    pub(crate) time: VirtualTime,
    _here: timeloom_time::Participant,
    pub(crate) network: LoopbackNetwork,
    pub(crate) clock: Clock<Steady>,
}

pub(crate) const TOPIC: &str = "/data";

pub(crate) const KEEP_ALL: QosProfile = QosProfile {
    history: History::KeepAll,
    depth: 0,
    ..QosProfile::DEFAULT
};
pub(crate) const BEST_EFFORT: QosProfile = QosProfile {
    reliability: Reliability::BestEffort,
    ..KEEP_ALL
};
pub(crate) const LATCHED: QosProfile = QosProfile {
    durability: Durability::TransientLocal,
    ..QosProfile::DEFAULT
};

impl World {
    pub(crate) fn new() -> Self {
        Self::with(LoopbackOptions::default())
    }

    pub(crate) fn with(options: LoopbackOptions) -> Self {
        let time = VirtualTime::new();
        let base = time.base();
        Self {
            _here: time.enter(),
            network: LoopbackNetwork::with_options(&base, options),
            clock: Clock::on(&base),
            time,
        }
    }

    pub(crate) fn participant(&self, label: &str) -> Arc<dyn Participant> {
        self.network.participant(label).expect("it joins")
    }

    /// A node of a participant of its own, both with that name.
    pub(crate) fn node(&self, label: &str) -> Arc<dyn Node> {
        let name = NodeName::new("/", label).expect("a name");
        self.participant(label).node(name).expect("a node")
    }

    pub(crate) fn pass(&self, millis: i64) {
        let _woke = self.clock.sleep_for(Duration::from_millis(millis));
    }
}

pub(crate) fn topic(qos: QosProfile) -> TopicSpec {
    TopicSpec {
        name: TOPIC.to_owned(),
        type_name: TypeName::parse("std_msgs/msg/String").expect("a type"),
        type_hash: None,
        qos,
    }
}

pub(crate) fn service() -> ServiceSpec {
    ServiceSpec {
        name: "/service".to_owned(),
        type_name: TypeName::parse("std_srvs/srv/Trigger").expect("a type"),
        type_hash: None,
        request_hash: None,
        response_hash: None,
        qos: QosProfile::SERVICES,
    }
}

pub(crate) fn subscribe(
    node: &Arc<dyn Node>,
    qos: QosProfile,
) -> (Box<dyn Subscription>, Arc<Collector>) {
    let collector = Collector::new();
    let subscription = node.subscribe(&topic(qos), Arc::clone(&collector) as _);
    (subscription.expect("a subscription"), collector)
}

/// Publishes `count` samples.
pub(crate) fn publish(publisher: &dyn Publisher, count: u32) {
    for mark in 0..count {
        publisher
            .publish(payload(mark, 20), PublishOptions::default())
            .expect("a sample is published");
    }
}

/// The numbers of the received samples.
pub(crate) fn numbers(collector: &Collector) -> Vec<u64> {
    let samples = collector.samples();
    samples
        .iter()
        .filter_map(|sample| sample.sequence)
        .collect()
}
