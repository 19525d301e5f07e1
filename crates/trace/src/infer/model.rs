use serde::Deserialize;

/// Which nodes make what of what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeModel {
    /// The nodes.
    pub nodes: Vec<ModelNode>,
}

/// A node, and how its outputs come from its inputs.
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
    /// Who says so.
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

/// Who knows of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Somebody wrote it down.
    Declared,
    /// The graph shows its subscriptions and publishers.
    Graph,
}
