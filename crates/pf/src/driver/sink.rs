use super::event::LidarEvent;
use crate::arrival::Arrival;
use crate::device_info::DeviceInfo;
use crate::lidar_clock::ScanStamp;
use crate::packet::Header;
use crate::scan::Scan;

/// Takes what a lidar gives. Calls come from the driver's threads; they should not block.
pub trait LidarSink: Send + Sync {
    /// What the device has told about itself, each time before its packets begin.
    fn device(&self, device: &DeviceInfo) {
        let _: &DeviceInfo = device;
    }

    /// A packet, before its scan is whole.
    fn packet(&self, header: &Header, arrival: Arrival) {
        let _: (&Header, Arrival) = (header, arrival);
    }

    /// A scan, whole or as much as came of it, and when it began.
    fn scan(&self, scan: Scan, stamp: ScanStamp);

    /// Something that happened.
    fn event(&self, event: &LidarEvent) {
        let _: &LidarEvent = event;
    }
}
