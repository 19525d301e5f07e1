use timeloom_sync::SyncEvent;
use timeloom_time::Duration;

use crate::arrival::Arrival;
use crate::device_info::DeviceInfo;
use crate::lidar_clock::ScanStamp;
use crate::packet::Header;
use crate::scan::Scan;
use crate::status::StatusFlags;

/// Something that happened to a lidar.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LidarEvent {
    /// Packets were asked for and begin to come.
    Connected(DeviceInfo),
    /// Something failed, and it begins anew after a while.
    Disconnected {
        /// What failed.
        why: String,
        /// When the next try is.
        retry_in: Duration,
    },
    /// Something failed, but packets go on coming.
    Trouble(String),
    /// The device was switched off and on: its clock and its numbers have begun anew.
    DeviceRestarted,
    /// The flags of the device have changed.
    Status(StatusFlags),
    /// Something happened to the relation of the clocks.
    Sync(SyncEvent),
}

/// Takes what a lidar gives. Calls come from the driver's threads; they should not block.
pub trait LidarSink: Send + Sync {
    /// A packet, before its scan is whole.
    fn packet(&self, header: &Header, arrival: Arrival) {
        let _: (&Header, Arrival) = (header, arrival);
    }

    /// A scan, whole or as much as came of it, and when it began.
    fn scan(&self, scan: &Scan, stamp: &ScanStamp);

    /// Something that happened.
    fn event(&self, event: &LidarEvent) {
        let _: &LidarEvent = event;
    }
}
