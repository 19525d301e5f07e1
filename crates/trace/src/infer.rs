//! Links without a change of anybody's code: from stamps, from times, from what is known of a node.

mod linker;
mod model;
mod observed;
mod stamps;

pub use linker::{Linked, Linker, PlainMessage};
pub use model::{LinkRule, ModelNode, NodeModel, Origin};
pub use observed::{Direction, ObservedEndpoint, ObservedGraph};
