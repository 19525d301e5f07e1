use super::event::LidarEvent;
use crate::arrival::Arrival;
use crate::device_info::DeviceInfo;
use crate::lidar_clock::ScanStamp;
use crate::packet::Header;
use crate::scan::Scan;

/// Receives scans, packets and events of a lidar. Called from the driver's threads, and must not block.
pub trait LidarSink: Send + Sync {
    /// The identification of the device, each time before its packets begin.
    fn device(&self, device: &DeviceInfo) {
        let _: &DeviceInfo = device;
    }

    /// A packet, before its scan is complete.
    fn packet(&self, header: &Header, arrival: Arrival) {
        let _: (&Header, Arrival) = (header, arrival);
    }

    /// A scan, complete or with gaps, and its stamp.
    fn scan(&self, scan: Scan, stamp: ScanStamp);

    /// An event.
    fn event(&self, event: &LidarEvent) {
        let _: &LidarEvent = event;
    }
}
