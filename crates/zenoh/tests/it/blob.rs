//! Samples whose first bytes are their mark; the peer creates and checks the same.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use timeloom_msg::qos::{History, Reliability};
use timeloom_msg::{QosProfile, TypeHash, TypeName};
use timeloom_testkit::transport::Collector;
use timeloom_wire::{
    Node, NodeName, Participant, PublishOptions, Publisher, Sample, ServiceSpec, TopicSpec,
};

use crate::local::participant;

pub(crate) const HASH: &str =
    "RIHS01_abababababababababababababababababababababababababababababababab";
pub(crate) const TYPE: &str = "timeloom_test::msg::dds_::Blob_";

pub(crate) fn topic(name: &str, qos: QosProfile) -> TopicSpec {
    TopicSpec {
        name: name.into(),
        type_name: TypeName::parse("timeloom_test/msg/Blob").unwrap(),
        type_hash: Some(HASH.parse().unwrap()),
        qos,
    }
}

pub(crate) fn add_service(name: &str) -> ServiceSpec {
    ServiceSpec {
        name: name.into(),
        type_name: TypeName::parse("timeloom_test/srv/Add").unwrap(),
        type_hash: Some(TypeHash::from_bytes([0xcd; 32])),
        request_hash: None,
        response_hash: None,
        qos: QosProfile::SERVICES,
    }
}

/// The command to a peer to create an endpoint on a topic of [`topic`].
pub(crate) fn on(what: &str, name: &str, topic: &str) -> Value {
    json!({"do": what, "name": name, "topic": topic, "type": TYPE, "hash": HASH})
}

/// The command to a peer to create a server or client of [`add_service`].
pub(crate) fn of(what: &str, service: &str) -> Value {
    let hash = TypeHash::from_bytes([0xcd; 32]).to_string();
    json!({"do": what, "name": what, "topic": service, "type": "timeloom_test::srv::dds_::Add_", "hash": hash})
}

/// The command with more fields.
pub(crate) fn with(mut command: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        command[key] = value.clone();
    }
    command
}

pub(crate) fn node(endpoint: &str) -> Arc<dyn Node> {
    participant(endpoint)
        .node(NodeName::new("/", "ours").unwrap())
        .unwrap()
}

pub(crate) fn reliable() -> QosProfile {
    QosProfile {
        history: History::KeepAll,
        depth: 0,
        ..QosProfile::DEFAULT
    }
}

pub(crate) fn best_effort() -> QosProfile {
    QosProfile {
        reliability: Reliability::BestEffort,
        ..QosProfile::DEFAULT
    }
}

/// The body of sample `mark`, by the same rule as in the peer.
fn fill(mark: u32, size: usize) -> Vec<u8> {
    let mut body = vec![u8::try_from(mark * 31 % 251).unwrap(); size];
    body[..4].copy_from_slice(&mark.to_le_bytes());
    body
}

/// A serialised `Blob` of that size.
pub(crate) fn blob(mark: u32, size: usize) -> Bytes {
    let mut payload = vec![0, 1, 0, 0];
    payload.extend(u32::try_from(size).unwrap().to_le_bytes());
    payload.extend(fill(mark, size));
    payload.into()
}

/// The mark of a sample, if it is unchanged.
fn mark_of(sample: &Sample) -> Option<u32> {
    let (length, body) = sample.payload.get(4..)?.split_first_chunk::<4>()?;
    let whole = body.len() == u32::from_le_bytes(*length) as usize;
    let mark = u32::from_le_bytes(*body.first_chunk()?);
    (whole && body == fill(mark, body.len())).then_some(mark)
}

pub(crate) fn marks(collector: &Collector) -> Vec<Option<u32>> {
    collector.samples().iter().map(mark_of).collect()
}

pub(crate) fn publish(publisher: &dyn Publisher, mark: u32, size: usize) -> u64 {
    publisher
        .publish(blob(mark, size), PublishOptions::default())
        .unwrap()
        .unwrap()
}
