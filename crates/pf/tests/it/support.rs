//! What several tests need.

use timeloom_pf::packet::{HeaderForm, SendStamps};
use timeloom_pf::{Arrival, Header, PacketType, Point, StatusFlags};
use timeloom_sync::StampSource;
use timeloom_time::Time;

/// The packets of the real dump, one after the other.
pub(crate) fn dump() -> Vec<u8> {
    let text = include_str!("../data/dump_r2000_C_large.txt").trim();
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// An arrival at this time in nanoseconds.
pub(crate) fn at(nanos: i64) -> Arrival {
    Arrival {
        at: Time::from_nanos(nanos),
        source: StampSource::User,
    }
}

/// A packet of a made-up R2000: scans of 100 points at 10 Hz, packets of 40, 40 and 20.
pub(crate) fn small_packet(scan_number: u16, packet_number: u16) -> Vec<u8> {
    packet_at(scan_number, packet_number, f64::from(scan_number) * 0.1)
}

/// The same for a scan that began at another time of the device, in seconds.
pub(crate) fn packet_at(scan_number: u16, packet_number: u16, start: f64) -> Vec<u8> {
    let first_index = (packet_number - 1) * 40;
    let seconds = 1_000.0 + start + f64::from(first_index) * 0.001;
    let header = Header {
        packet_type: PacketType::C,
        packet_size: 0,
        header_size: 0,
        scan_number,
        packet_number,
        layer: None,
        timestamp_raw: ticks(seconds),
        timestamp_sync: 0,
        status: StatusFlags(0),
        scan_frequency: 10_000,
        num_points_scan: 100,
        num_points_packet: 0,
        first_index,
        first_angle: -1_800_000 + i32::from(first_index) * 36_000,
        angular_increment: 36_000,
        iq_input: 0,
        iq_overload: 0,
        iq_stamps: Some(SendStamps { raw: 1, sync: 2 }),
    };
    let count = 40.min(100 - first_index);
    let points: Vec<Point> = (0..count)
        .map(|index| Point {
            distance: Some(1_000 + u32::from(first_index + index)),
            amplitude: Some(100),
        })
        .collect();
    header.write(HeaderForm::Full, &points).unwrap()
}

/// Seconds as ticks of the device.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of tests are small"
)]
pub(crate) fn ticks(seconds: f64) -> u64 {
    (seconds * 4_294_967_296.0).round() as u64
}
