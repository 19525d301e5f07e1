use timeloom_wire::{EndpointInfo, EndpointKind, Graph, Incompatibility, compatible};

/// A publisher and a subscription of one topic that do not match.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Mismatch {
    /// Their types differ.
    Type {
        /// The publishing node and its type.
        publisher: (String, String),
        /// The subscribing node and its type.
        subscription: (String, String),
    },
    /// A `QoS` policy does not fit.
    Qos {
        /// The publishing node.
        publisher: String,
        /// The subscribing node.
        subscription: String,
        /// The policy.
        reason: Incompatibility,
    },
}

/// Every pair and policy of a topic that does not match.
pub fn mismatches(graph: &Graph, topic: &str) -> Vec<Mismatch> {
    let mut found = Vec::new();
    for publisher in graph.on(topic, EndpointKind::Publisher) {
        for subscription in graph.on(topic, EndpointKind::Subscription) {
            let (from, to) = (owner(publisher), owner(subscription));
            if publisher.type_name != subscription.type_name {
                found.push(Mismatch::Type {
                    publisher: (from, publisher.type_name.clone()),
                    subscription: (to, subscription.type_name.clone()),
                });
                continue;
            }
            let reasons = compatible(&publisher.qos, &subscription.qos);
            found.extend(reasons.into_iter().map(|reason| Mismatch::Qos {
                publisher: from.clone(),
                subscription: to.clone(),
                reason,
            }));
        }
    }
    found.dedup();
    found
}

/// The node of an endpoint, or its identity while the node is not known.
pub(crate) fn owner(endpoint: &EndpointInfo) -> String {
    endpoint
        .node
        .as_ref()
        .map_or_else(|| endpoint.gid.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_msg::QosProfile;
    use timeloom_wire::{Gid, GraphEvent, NodeName};

    fn endpoint(n: u8, kind: EndpointKind, type_name: &str, qos: QosProfile) -> GraphEvent {
        GraphEvent::EndpointChanged(Box::new(EndpointInfo {
            gid: Gid([n; 16]),
            kind,
            node: NodeName::new("/", &format!("n{n}")).ok(),
            topic: "/scan".into(),
            type_name: type_name.into(),
            type_hash: None,
            qos,
        }))
    }

    #[test]
    fn pairs_that_do_not_match_are_found_with_the_reason() {
        use EndpointKind::{Publisher, Subscription};
        let mut graph = Graph::default();
        let sensor = QosProfile::SENSOR_DATA;
        graph.apply(&endpoint(1, Publisher, "a/msg/A", sensor));
        graph.apply(&endpoint(2, Subscription, "a/msg/A", sensor));
        assert_eq!(mismatches(&graph, "/scan"), []);
        graph.apply(&endpoint(3, Subscription, "a/msg/A", QosProfile::DEFAULT));
        graph.apply(&endpoint(4, Subscription, "a/msg/B", QosProfile::DEFAULT));
        let found = mismatches(&graph, "/scan");
        assert_eq!(found.len(), 2, "{found:?}");
        let nodes = |from: &str, to: &str| {
            matches!(&found[0], Mismatch::Qos { publisher, subscription, .. }
                if publisher == from && subscription == to)
        };
        assert!(nodes("/n1", "/n3"), "{found:?}");
        assert!(
            matches!(&found[1], Mismatch::Type { subscription, .. } if subscription.0 == "/n4")
        );
    }
}
