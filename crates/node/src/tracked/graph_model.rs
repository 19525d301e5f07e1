//! The nodes of the live graph, for linking without tags.

use timeloom_trace::{Direction, NodeModel, ObservedEndpoint, ObservedGraph};
use timeloom_wire::{EndpointKind, Graph, NodeName};

/// The nodes of a graph with their current subscriptions and publishers.
pub(super) fn graph_model(graph: &Graph) -> NodeModel {
    let endpoints = graph.endpoints().filter_map(|endpoint| {
        let direction = match endpoint.kind {
            EndpointKind::Publisher => Direction::Publishes,
            EndpointKind::Subscription => Direction::Subscribes,
            EndpointKind::Server | EndpointKind::Client => return None,
        };
        Some(ObservedEndpoint {
            node: endpoint
                .node
                .as_ref()
                .map(NodeName::full)
                .unwrap_or_default(),
            topic: endpoint.topic.clone(),
            direction,
            appeared_ns: 0,
            vanished_ns: None,
        })
    });
    ObservedGraph::new(endpoints).at(0)
}
