//! A simulated lidar: the device's protocol on real sockets, its clock, its delays and its faults, with known truth.
//!
//! [`SimulatedLidar`] runs it on 127.0.0.1, for tests and demonstrations. Below it are parts without sockets:
//! [`SimulatedClock`] and [`PacketSource`] are pure functions of time and a seed.

mod clock_model;
mod device;
mod faults;
mod http_server;
mod options;
mod output;
mod packet_source;
mod parameters;
mod random;
mod scan_output;
mod scene;
mod simulated_lidar;

pub use clock_model::{ClockModel, SimulatedClock};
pub use faults::{Faults, ReplyFault};
pub use options::{Delays, Product, SimulatorOptions};
pub use output::Sent;
pub use packet_source::{PacketSource, SimulatedPacket};
pub use scan_output::ScanOutput;
pub use simulated_lidar::SimulatedLidar;
