#![doc = include_str!("../README.md")]

mod error;
pub mod recorder;
mod ros_node;

pub use error::{Error, Result};
pub use ros_node::{
    NodeOptions, ParameterAccess, ParameterValue, Remap, RosNode, Service, ServiceTypes, Severity,
    TypedPublisher,
};
