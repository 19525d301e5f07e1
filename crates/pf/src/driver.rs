//! The driver: threads and sockets around the session, the assembler and the clock.

mod control;
mod data;
mod event;
mod lidar;
mod lookup;
mod shared;
mod sink;
mod status;
mod trouble_log;

pub use event::LidarEvent;
pub use lidar::Lidar;
pub use sink::LidarSink;
pub use status::{LidarStatus, PacketCounters};
