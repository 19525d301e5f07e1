//! Tracked nodes: what they publish says what it was made of.

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
