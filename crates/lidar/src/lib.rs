#![doc = include_str!("../README.md")]

mod diagnostics;
mod error;
mod layer_frames;
mod layout;
mod lidar_node;
mod lidar_options;
mod messages;
mod parameters;
mod point_cloud;
mod publish_queue;
mod ros_timeline;
mod scan_publisher;
mod services;

pub use error::{Error, Result};
pub use lidar_node::LidarNode;
pub use lidar_options::{Incomplete, Layers, LidarOptions};
