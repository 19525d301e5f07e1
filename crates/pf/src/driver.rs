//! The driver: threads and sockets around the session, the assembler and the clock.

mod control;
mod data;
mod lidar;
mod shared;
mod sink;
mod status;

pub use lidar::Lidar;
pub use sink::{LidarEvent, LidarSink};
pub use status::{LidarStatus, PacketCounters};
