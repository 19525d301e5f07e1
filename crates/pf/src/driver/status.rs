use crate::device_info::DeviceInfo;
use crate::lidar_clock::{ClockReport, ScanStamp};
use crate::scan::ScanCounters;
use crate::session::LinkState;
use crate::status::StatusFlags;

/// Counters of unusable input and of the origins of stamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PacketCounters {
    /// Packets that the kernel stamped.
    pub kernel_stamps: u64,
    /// Packets that we had to stamp.
    pub user_stamps: u64,
    /// Packets that could not be read.
    pub bad: u64,
    /// Datagrams that others than the device sent.
    pub foreign: u64,
    /// Bytes of a connection that belonged to no packet.
    pub skipped_bytes: u64,
    /// Packets whose stamps could not be.
    pub bad_stamps: u64,
}

/// A snapshot of the state of a lidar.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LidarStatus {
    /// The state of the connection.
    pub link: LinkState,
    /// The description of the device.
    pub device: DeviceInfo,
    /// The flags of its newest packet.
    pub flags: StatusFlags,
    /// Packets and scans.
    pub scans: ScanCounters,
    /// Counters of unusable input.
    pub packets: PacketCounters,
    /// The clocks; none before the first sample.
    pub clock: Option<ClockReport>,
    /// The newest scan: what the device stamped its first point with, and the stamp that it was given out with.
    pub newest_scan: Option<(u64, ScanStamp)>,
    /// Times that packets began to come.
    pub connections: u64,
    /// Of these, times that it was because of changed settings.
    pub reconnections: u64,
    /// Requests that failed.
    pub requests_failed: u64,
    /// Requests for the device's time that were answered.
    pub requests_answered: u64,
    /// The last failure.
    pub last_error: Option<String>,
}
