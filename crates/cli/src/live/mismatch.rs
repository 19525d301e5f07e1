//! Publishers and subscriptions of one topic that do not come together.

use timeloom_wire::{EndpointInfo, EndpointKind, Graph, compatible};

/// A sentence for each pair and policy of a topic that does not fit: who, and what to do.
pub(crate) fn mismatches(graph: &Graph, topic: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for publisher in graph.on(topic, EndpointKind::Publisher) {
        for subscription in graph.on(topic, EndpointKind::Subscription) {
            let (from, to) = (node(publisher), node(subscription));
            if publisher.type_name != subscription.type_name {
                sentences.push(format!(
                    "{from} publishes {} and {to} subscribes to {}: give both the same type",
                    publisher.type_name, subscription.type_name
                ));
                continue;
            }
            let reasons = compatible(&publisher.qos, &subscription.qos);
            sentences.extend(
                reasons
                    .iter()
                    .map(|reason| format!("{from} does not reach {to}: {reason}")),
            );
        }
    }
    sentences.dedup();
    sentences
}

/// Its node, or what identifies it while that is not known.
fn node(endpoint: &EndpointInfo) -> String {
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
    fn pairs_that_do_not_fit_are_named_with_the_way_out() {
        use EndpointKind::{Publisher, Subscription};
        let mut graph = Graph::default();
        graph.apply(&endpoint(1, Publisher, "a/msg/A", QosProfile::SENSOR_DATA));
        graph.apply(&endpoint(
            2,
            Subscription,
            "a/msg/A",
            QosProfile::SENSOR_DATA,
        ));
        assert_eq!(mismatches(&graph, "/scan"), Vec::<String>::new());
        graph.apply(&endpoint(3, Subscription, "a/msg/A", QosProfile::DEFAULT));
        graph.apply(&endpoint(4, Subscription, "a/msg/B", QosProfile::DEFAULT));
        let found = mismatches(&graph, "/scan");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("/n1 does not reach /n3: the publisher is best effort"));
        assert!(found[1].contains("give both the same type"));
    }
}
