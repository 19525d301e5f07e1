use timeloom_time::Duration;

use crate::arrival::Arrival;
use crate::packet::{Header, Point};

/// All points of one turn, or as many as came.
#[derive(Debug, Clone, PartialEq)]
pub struct Scan {
    /// The header of the first packet that came.
    pub header: Header,
    /// Time of the first point, in ticks of the device; computed if its packet is missing.
    pub first_stamp: u64,
    /// The angle of the first point, in degrees.
    pub first_angle: f64,
    /// The angle from point to point, in degrees.
    pub angle_increment: f64,
    /// The time from point to point in nanoseconds, by the stamps of the packets where there are two.
    pub point_period_ns: f64,
    /// The time from this scan's start to the next one's; by the stamps of two scans if they follow each other.
    pub scan_period: Duration,
    /// The points in their order; those that are missing have no distance and no amplitude.
    pub points: Vec<Point>,
    /// Number of points whose packets are missing.
    pub missing: usize,
    /// Arrival of the first packet.
    pub first_arrival: Arrival,
    /// Arrival of the last packet.
    pub last_arrival: Arrival,
}

impl Scan {
    /// Whether every point is there.
    pub const fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// The time from the first point of the scan to the last one of the packet that came first.
    pub fn first_packet_time(&self) -> Duration {
        let points = f64::from(self.header.first_index) + f64::from(self.header.num_points_packet);
        let nanos = self.point_period_ns * points;
        Duration::try_from_secs_f64(nanos / 1e9).unwrap_or_default()
    }
}

/// Counters of packets and scans; every packet that is left out is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScanCounters {
    /// Packets that were taken in.
    pub packets: u64,
    /// Packets that did not come before their scan was given out, by the numbers of scans and packets.
    pub packets_lost: u64,
    /// Packets that came twice.
    pub duplicates: u64,
    /// Packets that came after their scan was given out; they are among the lost ones.
    pub late: u64,
    /// Packets that contradict their own scan.
    pub bad: u64,
    /// Scans with every point.
    pub scans: u64,
    /// Scans with points missing.
    pub scans_incomplete: u64,
    /// Scans without any packet.
    pub scans_lost: u64,
    /// Scans that the device made while packets did not come: between the end of one connection and the next.
    pub scans_missed: u64,
    /// Times that the device's clock went backwards: it was restarted.
    pub restarts: u64,
    /// Times that the device's clock jumped within a scan.
    pub clock_jumps: u64,
    /// Times that the numbers of scans went backwards or too far, while the clock went on.
    pub renumbered: u64,
}
