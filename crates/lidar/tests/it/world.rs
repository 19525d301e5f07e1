//! Subscriptions on the loopback network.

use std::sync::Arc;

use timeloom_msg::{Definitions, QosProfile, TypeName, Value};
use timeloom_testkit::transport::Collector;
use timeloom_wire::{Node, Subscription, TopicSpec};

pub(crate) fn topic(name: &str, type_name: &str, qos: QosProfile) -> TopicSpec {
    TopicSpec {
        name: name.to_owned(),
        type_name: TypeName::parse(type_name).expect("a type"),
        type_hash: None,
        qos,
    }
}

pub(crate) fn listen(
    node: &Arc<dyn Node>,
    spec: &TopicSpec,
) -> (Box<dyn Subscription>, Arc<Collector>) {
    let collector = Collector::new();
    let subscription = node.subscribe(spec, Arc::clone(&collector) as _);
    (subscription.expect("a subscription"), collector)
}

/// The received messages, decoded.
pub(crate) fn values(collector: &Collector, type_name: &str) -> Vec<Value> {
    let schema = Definitions::builtin().schema(type_name).expect("a type");
    let samples = collector.samples();
    let decode = |sample: &timeloom_wire::Sample| schema.decode(&sample.payload).expect("a value");
    samples.iter().map(decode).collect()
}
