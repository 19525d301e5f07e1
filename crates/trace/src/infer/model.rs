use serde::Deserialize;

/// The nodes of a system with their inputs and outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeModel {
    /// The nodes.
    pub nodes: Vec<ModelNode>,
}

/// A node, and how its outputs are linked to its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelNode {
    /// Its full name.
    pub name: String,
    /// The topics that it subscribes to.
    pub inputs: Vec<String>,
    /// The topics that it publishes.
    pub outputs: Vec<String>,
    /// How an output's inputs are found.
    pub rule: LinkRule,
    /// Where the node is known from.
    pub origin: Origin,
}

/// How the inputs of an output are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkRule {
    /// The input with the same stamp if there is one, else the latest.
    #[default]
    Auto,
    /// The inputs with the same stamp.
    Stamp,
    /// The latest message of every input.
    Latest,
}

/// Where a node is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A plan declares it.
    Declared,
    /// The graph has its subscriptions and publishers.
    Graph,
}
