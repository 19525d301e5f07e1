//! Topics and services of the tests, and the commands of the peer for them.

use std::sync::Arc;

use serde_json::{Value, json};
use timeloom_msg::{QosProfile, TypeHash, TypeName};
use timeloom_testkit::transport::publish_blob;
pub(crate) use timeloom_testkit::transport::{
    best_effort, blob, blob_topic as topic, marks, reliable,
};
use timeloom_wire::{Node, NodeName, Participant, Publisher, ServiceSpec};

use crate::local::participant;

pub(crate) const HASH: &str =
    "RIHS01_abababababababababababababababababababababababababababababababab";
pub(crate) const TYPE: &str = "timeloom_test::msg::dds_::Blob_";

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

pub(crate) fn publish(publisher: &dyn Publisher, mark: u32, size: usize) -> u64 {
    publish_blob(publisher, mark, size).unwrap()
}
