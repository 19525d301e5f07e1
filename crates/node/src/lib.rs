#![doc = include_str!("../README.md")]

mod error;
mod lidar;
pub mod player;
pub mod recorder;
mod ros_node;
mod tracked;
mod type_finder;

pub use error::{Error, Result};
pub use lidar::{Incomplete, LidarNode, LidarOptions};
pub use ros_node::{
    Client, Names, NodeOptions, ParameterAccess, ParameterValue, Remap, Responder, RosArguments,
    RosNode, Service, ServiceTypes, Severity, TypeService, TypedPublisher,
};
pub use tracked::{
    LineageMonitor, MonitorOptions, TrackedMessage, TrackedNode, TrackedPublisher,
    TrackedSubscription, TrackedSynchronizer,
};
pub use type_finder::TypeFinder;
