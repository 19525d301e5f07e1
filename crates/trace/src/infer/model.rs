use serde::Deserialize;

/// The nodes of a system with their inputs and outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeModel {
    /// The nodes.
    pub nodes: Vec<ModelNode>,
}

/// A node, and the rule that links its outputs to its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelNode {
    /// Its full name.
    pub name: String,
    /// The topics that it subscribes to.
    pub inputs: Vec<String>,
    /// The topics that it publishes.
    pub outputs: Vec<String>,
    /// The rule that finds the inputs of an output.
    pub rule: LinkRule,
    /// The origin of the node.
    pub origin: Origin,
}

/// The rule that finds the inputs of an output.
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

/// The origin of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A plan declares it.
    Declared,
    /// The graph has its subscriptions and publishers.
    Graph,
}
