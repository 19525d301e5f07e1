//! A lidar as a ROS node: scans with the time of their first point, headers, parameters, diagnostics.

mod diagnostics;
mod lidar_node;
mod lidar_options;
mod messages;
mod parameters;
mod scan_publisher;

pub use lidar_node::LidarNode;
pub use lidar_options::{Incomplete, LidarOptions};
