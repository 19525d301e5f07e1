//! What the graph shows of nodes that do not tag.

use std::collections::{BTreeMap, BTreeSet};

use timeloom_trace::{LinkRule, ModelNode, NodeModel, Origin};
use timeloom_wire::{EndpointKind, Graph};

/// The nodes of a graph with what they subscribe to and publish of the wanted topics.
pub(super) fn graph_model(graph: &Graph, wanted: &BTreeSet<String>) -> NodeModel {
    let mut nodes: BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)> = BTreeMap::new();
    for endpoint in graph.endpoints() {
        let Some(node) = endpoint
            .node
            .as_ref()
            .filter(|_| wanted.contains(&endpoint.topic))
        else {
            continue;
        };
        let (inputs, outputs) = nodes.entry(node.full()).or_default();
        match endpoint.kind {
            EndpointKind::Publisher => outputs.insert(endpoint.topic.clone()),
            EndpointKind::Subscription => inputs.insert(endpoint.topic.clone()),
            EndpointKind::Server | EndpointKind::Client => continue,
        };
    }
    let nodes = nodes
        .into_iter()
        .filter(|(_, (_, outputs))| !outputs.is_empty())
        .map(|(name, (inputs, outputs))| ModelNode {
            name,
            inputs: inputs.into_iter().collect(),
            outputs: outputs.into_iter().collect(),
            rule: LinkRule::Auto,
            origin: Origin::Graph,
        });
    NodeModel {
        nodes: nodes.collect(),
    }
}
