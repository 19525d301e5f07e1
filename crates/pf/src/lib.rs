#![doc = include_str!("../README.md")]

mod arrival;
mod client;
mod device_info;
mod driver;
mod error;
mod host_stamps;
mod http;
mod lidar_clock;
pub mod packet;
pub mod pfsdp;
mod scan;
mod scan_assembler;
mod session;
mod settings;
#[cfg(feature = "simulator")]
pub mod simulator;
mod status;
mod ticks;
mod timesync;

pub use arrival::Arrival;
pub use client::{Client, StampedReply};
pub use device_info::DeviceInfo;
pub use driver::{Lidar, LidarEvent, LidarSink, LidarStatus, PacketCounters};
pub use error::{Error, Result};
#[doc(hidden)]
pub use http::{Response, ResponseParser};
pub use lidar_clock::{ClockReport, LidarClock, ScanStamp};
pub use packet::{Header, Packet, PacketStream, PacketType, Point};
pub use scan::{Scan, ScanCounters};
pub use scan_assembler::{ScanAssembler, Taken};
pub use session::{LinkState, Session, Step};
pub use settings::{BackOff, LidarSettings, Transport};
pub use status::{Severity, StatusFlags};
pub use timesync::{TimesyncMethod, TimesyncSettings};
