//! A lidar as a ROS node: scans with the time of their first point, headers, parameters, diagnostics.

mod diagnostics;
mod layer_frames;
mod lidar_node;
mod lidar_options;
mod messages;
mod parameters;
mod point_cloud;
mod ros_timeline;
mod scan_publisher;
mod services;

pub use lidar_node::LidarNode;
pub use lidar_options::{Incomplete, Layers, LidarOptions};
