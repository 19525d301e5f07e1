//! Nodes that publish the inputs of their messages, and a monitor that analyses them.

mod diagnostics;
mod graph_model;
mod monitor;
mod monitor_feed;
mod node;
mod publisher;
mod subscription;
mod synchronizer;
mod times;

pub use monitor::{LineageMonitor, MonitorOptions};
pub use node::TrackedNode;
pub use publisher::TrackedPublisher;
pub use subscription::{TrackedMessage, TrackedSubscription};
pub use synchronizer::TrackedSynchronizer;
