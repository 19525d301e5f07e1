use timeloom_time::Duration;

use super::packet_type::PacketType;
use crate::status::StatusFlags;

/// A full turn, in 1/10000 degree.
const FULL_TURN: f64 = 3_600_000.0;
/// Rotation of the beam of an R2300 from one scan to the next: it comes from the faces of a mirror that turns by a
/// quarter meanwhile, and is turned by twice as much. Most of it is not measured.
const MIRROR_SWEEP: f64 = 1_800_000.0;

/// The layer of a packet of an R2300.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layer {
    /// Its number.
    pub index: u16,
    /// Its inclination, in 1/10000 degree.
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
    /// The values of each point.
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
    /// Time of the first point by the device's clock: NTP 32.32 since power-on.
    pub timestamp_raw: u64,
    /// The same on a common clock; no device has one yet.
    pub timestamp_sync: u64,
    /// The status flags of the device.
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
    /// The nominal time from point to point in nanoseconds; zero if the header does not define it.
    pub fn nominal_point_period_ns(&self) -> f64 {
        let points = self.points_of_period();
        if points > 0.0 {
            self.scan_period_ns() / points
        } else {
            0.0
        }
    }

    /// The nominal time from one scan to the next; zero without a frequency.
    pub(crate) fn nominal_scan_period(&self) -> Duration {
        Duration::try_from_secs_f64(self.scan_period_ns() / 1e9).unwrap_or_default()
    }

    /// The angle from point to point in degrees, without the rounding of the header if the scan is a full turn.
    pub(crate) fn exact_increment(&self) -> f64 {
        let rounded = f64::from(self.angular_increment);
        let exact = FULL_TURN.copysign(rounded) / f64::from(self.num_points_scan.max(1));
        let increment = if self.is_full_turn() { exact } else { rounded };
        increment / 10_000.0
    }

    /// Whether the points of a scan go all the way round.
    pub fn is_full_turn(&self) -> bool {
        let exact = FULL_TURN / f64::from(self.num_points_scan.max(1));
        (exact - f64::from(self.angular_increment).abs()).abs() <= 1.0
    }

    fn scan_period_ns(&self) -> f64 {
        // Nanoseconds of 1000 seconds, as the frequency is in millihertz.
        match self.scan_frequency {
            0 => 0.0,
            frequency => 1e12 / f64::from(frequency),
        }
    }

    /// Number of points from one scan to the next, including the part where the device does not measure.
    fn points_of_period(&self) -> f64 {
        let increment = f64::from(self.angular_increment).abs();
        let swept = match self.packet_type {
            PacketType::C1 => MIRROR_SWEEP,
            _ => FULL_TURN,
        };
        if increment > 0.0 && !self.is_full_turn() {
            swept / increment
        } else {
            f64::from(self.num_points_scan)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(packet_type: PacketType, points: u16, increment: i32, millihertz: u32) -> Header {
        Header {
            packet_type,
            packet_size: 0,
            header_size: 0,
            scan_number: 0,
            packet_number: 1,
            layer: None,
            timestamp_raw: 0,
            timestamp_sync: 0,
            status: StatusFlags(0),
            scan_frequency: millihertz,
            num_points_scan: points,
            num_points_packet: 0,
            first_index: 0,
            first_angle: 0,
            angular_increment: increment,
            iq_input: 0,
            iq_overload: 0,
            iq_stamps: None,
        }
    }

    #[test]
    fn points_follow_each_other_by_the_angle_and_not_by_their_count() {
        let near = |header: Header, wanted: f64| {
            let period = header.nominal_point_period_ns();
            assert!(
                (period / wanted - 1.0).abs() < 1e-3,
                "{period} and {wanted}"
            );
        };
        let whole = header(PacketType::C, 5_040, 714, 40_000);
        near(whole, 25e6 / 5_040.0);
        // A sector of a turn, either way round: the head is as fast as before.
        near(header(PacketType::C, 1_000, 714, 40_000), 25e6 / 5_040.0);
        near(header(PacketType::C, 1_000, -714, 40_000), 25e6 / 5_040.0);
        // 90 000 points a second, as the formula of the vendor's driver gives it.
        near(header(PacketType::C1, 1_000, 1_000, 50_000), 1e9 / 90e3);
        near(header(PacketType::C1, 500, 2_000, 100_000), 1e9 / 90e3);
        near(header(PacketType::C1, 500, 2_000, 50_000), 2e9 / 90e3);
    }

    #[test]
    fn headers_that_say_nothing_give_nothing() {
        for wrong in [
            header(PacketType::C, 0, 0, 40_000),
            header(PacketType::C, 100, 36_000, 0),
            header(PacketType::C1, 0, 0, 0),
        ] {
            assert!(wrong.nominal_point_period_ns().abs() < f64::EPSILON);
        }
        let still = header(PacketType::A, 100, 36_000, 0);
        assert_eq!(still.nominal_scan_period(), Duration::ZERO);
    }
}
