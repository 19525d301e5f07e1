use timeloom_time::Duration;

use super::packet_type::PacketType;
use crate::status::StatusFlags;

/// Which layer of an R2300 a packet is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layer {
    /// Its number.
    pub index: u16,
    /// How it is inclined, in 1/10000 degree.
    pub inclination: i32,
}

/// The stamps of the R2000's switching inputs, which newer firmware appends to the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SendStamps {
    /// `iq_timestamp_raw`; in real packets it lies about a millisecond after the last point.
    pub raw: u64,
    /// `iq_timestamp_sync`.
    pub sync: u64,
}

/// The header of a packet, of either family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Header {
    /// What each point holds.
    pub packet_type: PacketType,
    /// Bytes of the whole packet.
    pub packet_size: u32,
    /// Bytes before the first point.
    pub header_size: u16,
    /// The number of the scan, which wraps.
    pub scan_number: u16,
    /// The number of the packet in its scan, from one.
    pub packet_number: u16,
    /// The layer, of an R2300.
    pub layer: Option<Layer>,
    /// When the first point was measured, by the device's clock: NTP 32.32 since power-on.
    pub timestamp_raw: u64,
    /// The same on a common clock; no device has one yet.
    pub timestamp_sync: u64,
    /// What the device says about itself.
    pub status: StatusFlags,
    /// The set rotation frequency, in millihertz.
    pub scan_frequency: u32,
    /// Points of the whole scan.
    pub num_points_scan: u16,
    /// Points of this packet.
    pub num_points_packet: u16,
    /// The place of the first point in the scan.
    pub first_index: u16,
    /// The angle of the first point, in 1/10000 degree.
    pub first_angle: i32,
    /// The angle from point to point, in 1/10000 degree; negative for clockwise scans.
    pub angular_increment: i32,
    /// The state of the switching inputs.
    pub iq_input: u32,
    /// The overload of the switching outputs.
    pub iq_overload: u32,
    /// The stamps of the switching inputs, if the header is long enough.
    pub iq_stamps: Option<SendStamps>,
}

impl Header {
    /// The nominal time from point to point; zero if the header says nothing of use.
    pub fn nominal_point_period(&self) -> Duration {
        let points = u64::from(self.scan_frequency) * u64::from(self.num_points_scan);
        // Nanoseconds of 1000 seconds, as the frequency is in millihertz; rounded to the nearest.
        let nanos = (1_000_000_000_000 + points / 2).checked_div(points);
        Duration::from_nanos(i64::try_from(nanos.unwrap_or(0)).unwrap_or(0))
    }

    /// The nominal time of one turn; zero without a frequency.
    pub fn nominal_scan_period(&self) -> Duration {
        let frequency = u64::from(self.scan_frequency);
        let nanos = (1_000_000_000_000 + frequency / 2).checked_div(frequency);
        Duration::from_nanos(i64::try_from(nanos.unwrap_or(0)).unwrap_or(0))
    }

    /// The angle from point to point in degrees, without the rounding of the header if the scan is a full turn.
    pub fn exact_increment(&self) -> f64 {
        const TURN: f64 = 3_600_000.0;
        let points = f64::from(self.num_points_scan.max(1));
        let rounded = f64::from(self.angular_increment);
        let exact = TURN.copysign(rounded) / points;
        let increment = if (exact - rounded).abs() <= 1.0 {
            exact
        } else {
            rounded
        };
        increment / 10_000.0
    }
}
