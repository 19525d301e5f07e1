use std::sync::Arc;

use timeloom_msg::{Definitions, QosProfile, TypeName, Value};
use timeloom_wire::{Node, Sample, Subscription, TopicSpec};

use super::collector::Collector;

/// A topic without a type hash.
///
/// # Panics
/// If the type name is invalid.
pub fn topic(name: &str, type_name: &str, qos: QosProfile) -> TopicSpec {
    TopicSpec {
        name: name.to_owned(),
        type_name: TypeName::parse(type_name).expect("a valid type"),
        type_hash: None,
        qos,
    }
}

/// Subscribes and collects the samples.
///
/// # Panics
/// If the transport refuses the subscription.
pub fn listen(node: &Arc<dyn Node>, spec: &TopicSpec) -> (Box<dyn Subscription>, Arc<Collector>) {
    let collector = Collector::new();
    let subscription = node.subscribe(spec, Arc::clone(&collector) as _);
    (subscription.expect("a subscription is made"), collector)
}

/// The collected samples, decoded as a built-in type.
///
/// # Panics
/// If the type is unknown or a sample is malformed.
pub fn values(collector: &Collector, type_name: &str) -> Vec<Value> {
    let schema = Definitions::builtin().schema(type_name).expect("a type");
    let decode = |sample: &Sample| schema.decode(&sample.payload).expect("a value");
    collector.samples().iter().map(decode).collect()
}
