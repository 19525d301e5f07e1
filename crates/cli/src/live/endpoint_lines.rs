//! One endpoint as `ros2 topic info -v` shows it.

use std::fmt::Write as _;

use serde_json::{Value, json};
use timeloom_msg::QosProfile;
use timeloom_msg::qos::{History, Liveliness, QosDuration};
use timeloom_wire::{EndpointInfo, EndpointKind};

/// The name that ROS shows for an endpoint whose node is not known yet.
const UNKNOWN: (&str, &str) = ("_NODE_NAME_UNKNOWN_", "_NODE_NAMESPACE_UNKNOWN_");

/// The lines of one endpoint, without an empty one behind them.
pub(crate) fn endpoint_text(endpoint: &EndpointInfo) -> String {
    let (name, namespace) = node_of(endpoint);
    let hash = endpoint
        .type_hash
        .map_or_else(|| "INVALID".to_owned(), |hash| hash.to_string());
    let mut text = format!(
        "Node name: {name}\nNode namespace: {namespace}\nTopic type: {}\nTopic type hash: {hash}\n\
         Endpoint type: {}\nGID: {}\nQoS profile:\n",
        endpoint.type_name,
        kind(endpoint.kind),
        endpoint.gid,
    );
    for (policy, value) in policies(&endpoint.qos) {
        // Writing to a string cannot fail.
        let _ok = writeln!(text, "  {policy}: {value}");
    }
    text
}

/// The same for programs.
pub(crate) fn endpoint_json(endpoint: &EndpointInfo) -> Value {
    let (name, namespace) = node_of(endpoint);
    let qos = &endpoint.qos;
    json!({
        "node_name": name,
        "node_namespace": namespace,
        "topic_type": endpoint.type_name,
        "topic_type_hash": endpoint.type_hash.map(|hash| hash.to_string()),
        "endpoint_type": kind(endpoint.kind),
        "gid": endpoint.gid.to_string(),
        "qos": {
            "reliability": qos.reliability.name(),
            "history": qos.history.name(),
            "depth": qos.depth,
            "durability": qos.durability.name(),
            "lifespan_ns": qos.lifespan.limit(),
            "deadline_ns": qos.deadline.limit(),
            "liveliness": liveliness(qos.liveliness).name(),
            "liveliness_lease_duration_ns": qos.liveliness_lease_duration.limit(),
        },
    })
}

/// The name and the namespace of an endpoint's node.
fn node_of(endpoint: &EndpointInfo) -> (&str, &str) {
    endpoint
        .node
        .as_ref()
        .map_or(UNKNOWN, |node| (node.name(), node.namespace()))
}

fn kind(kind: EndpointKind) -> &'static str {
    match kind {
        EndpointKind::Publisher => "PUBLISHER",
        EndpointKind::Subscription => "SUBSCRIPTION",
        EndpointKind::Server => "SERVER",
        EndpointKind::Client => "CLIENT",
    }
}

fn policies(qos: &QosProfile) -> [(&'static str, String); 7] {
    let history = match qos.history {
        History::KeepLast => format!("KEEP_LAST ({})", qos.depth),
        other => upper(other.name()),
    };
    [
        ("Reliability", upper(qos.reliability.name())),
        ("History (Depth)", history),
        ("Durability", upper(qos.durability.name())),
        ("Lifespan", duration(qos.lifespan)),
        ("Deadline", duration(qos.deadline)),
        ("Liveliness", upper(liveliness(qos.liveliness).name())),
        (
            "Liveliness lease duration",
            duration(qos.liveliness_lease_duration),
        ),
    ]
}

/// On the wire there is no default: it is automatic.
fn liveliness(liveliness: Liveliness) -> Liveliness {
    match liveliness {
        Liveliness::SystemDefault => Liveliness::Automatic,
        other => other,
    }
}

fn upper(text: &str) -> String {
    text.to_ascii_uppercase()
}

fn duration(duration: QosDuration) -> String {
    duration.limit().map_or_else(
        || "Infinite".to_owned(),
        |nanos| format!("{nanos} nanoseconds"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_wire::{Gid, NodeName};

    #[test]
    fn an_endpoint_looks_as_in_ros2() {
        let endpoint = EndpointInfo {
            gid: Gid([1; 16]),
            kind: EndpointKind::Publisher,
            node: Some(NodeName::new("/robot", "talker").unwrap()),
            topic: "/chatter".into(),
            type_name: "std_msgs/msg/String".into(),
            type_hash: None,
            qos: QosProfile {
                deadline: QosDuration::from_nanos(5),
                ..QosProfile::DEFAULT
            },
        };
        assert_eq!(
            endpoint_text(&endpoint),
            "Node name: talker\nNode namespace: /robot\nTopic type: std_msgs/msg/String\n\
             Topic type hash: INVALID\nEndpoint type: PUBLISHER\n\
             GID: 01.01.01.01.01.01.01.01.01.01.01.01.01.01.01.01\nQoS profile:\n  Reliability: RELIABLE\n  \
             History (Depth): KEEP_LAST (10)\n  Durability: VOLATILE\n  Lifespan: Infinite\n  \
             Deadline: 5 nanoseconds\n  Liveliness: AUTOMATIC\n  Liveliness lease duration: Infinite\n"
        );
    }
}
