#![doc = include_str!("../README.md")]

mod error;
mod lidar;
mod ros_node;

pub use error::{Error, Result};
pub use lidar::{Incomplete, LidarNode, LidarOptions};
pub use ros_node::{
    NodeOptions, ParameterAccess, ParameterValue, Remap, RosNode, Service, ServiceTypes, Severity,
    TypedPublisher,
};
