//! Links without tags: by stamps, by times, and by the subscriptions and publishers of nodes.

mod linker;
mod model;
mod observed;
mod stamps;

pub use linker::{Linked, Linker, PlainMessage};
pub use model::{LinkRule, ModelNode, NodeModel, Origin};
pub use observed::{Direction, ObservedEndpoint, ObservedGraph};
