//! From scans and headers to messages.

use timeloom_msg::Value;
use timeloom_msg::value::Array;
use timeloom_pf::{DeviceInfo, Header, Point, Scan};
use timeloom_time::{Ros, Time, WireTime};
use timeloom_wire::MessageTime;

use crate::Result;
use crate::layout::Layout;

pub(crate) const SCAN: &str = "sensor_msgs/msg/LaserScan";
pub(crate) const R2000: &str = "pf_interfaces/msg/PFR2000Header";
pub(crate) const R2300: &str = "pf_interfaces/msg/PFR2300Header";
const SCAN_FIELDS: [&str; 10] = [
    "header",
    "angle_min",
    "angle_max",
    "angle_increment",
    "time_increment",
    "scan_time",
    "range_min",
    "range_max",
    "ranges",
    "intensities",
];
const PACKET_FIELDS: [&str; 6] = [
    "magic",
    "packet_type",
    "packet_size",
    "header_size",
    "scan_number",
    "packet_number",
];
const R2000_FIELDS: [&str; 14] = [
    "header",
    "timestamp_raw",
    "timestamp_sync",
    "status_flags",
    "scan_frequency",
    "num_points_scan",
    "num_points_packet",
    "first_index",
    "first_angle",
    "angular_increment",
    "iq_input",
    "iq_overload",
    "iq_timestamp_raw",
    "iq_timestamp_sync",
];
const R2300_FIELDS: [&str; 16] = [
    "header",
    "layer_index",
    "layer_inclination",
    "timestamp_raw",
    "reserved1",
    "status_flags",
    "scan_frequency",
    "num_points_scan",
    "num_points_packet",
    "first_index",
    "first_angle",
    "angular_increment",
    "reserved2",
    "reserved3",
    "reserved4",
    "reserved5",
];

/// Codes in place of an amplitude for "no echo".
const NO_ECHO: [u16; 2] = [0, 6];
/// Smaller numbers are codes, not amplitudes.
const LEAST_AMPLITUDE: u16 = 32;

/// Of a scan: what the message holds beside its points.
pub(crate) struct ScanContext<'a> {
    pub(crate) stamp: Time<Ros>,
    pub(crate) frame_id: &'a str,
    pub(crate) device: &'a DeviceInfo,
    /// Every so many scans of the device, one is published on the topic.
    pub(crate) every: u64,
}

/// Builds the messages that are published often.
pub(crate) struct Messages {
    time: Layout<2>,
    header: Layout<2>,
    scan: Layout<10>,
    packet: Layout<6>,
    r2000: Layout<14>,
    r2300: Layout<16>,
}

impl Messages {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self {
            time: Layout::new("builtin_interfaces/msg/Time", ["sec", "nanosec"])?,
            header: Layout::new("std_msgs/msg/Header", ["stamp", "frame_id"])?,
            scan: Layout::new(SCAN, SCAN_FIELDS)?,
            packet: Layout::new("pf_interfaces/msg/PFHeader", PACKET_FIELDS)?,
            r2000: Layout::new(R2000, R2000_FIELDS)?,
            r2300: Layout::new(R2300, R2300_FIELDS)?,
        })
    }

    /// A `std_msgs/Header`.
    pub(crate) fn header(&self, stamp: Time<Ros>, frame_id: &str) -> Value {
        let time = WireTime::saturating_from(stamp);
        let time = self.time.fill([time.sec.into(), time.nanosec.into()]);
        Value::Struct(self.header.fill([Value::Struct(time), frame_id.into()]))
    }

    /// A `sensor_msgs/LaserScan`.
    pub(crate) fn scan(&self, scan: &Scan, context: &ScanContext<'_>) -> Value {
        let device = context.device;
        let increment = scan.angle_increment.to_radians();
        let first = scan.first_angle.to_radians();
        let last = first + increment * scan.points.len().saturating_sub(1) as f64;
        let scan_time = scan.scan_period.as_secs_f64() * context.every as f64;
        let ranges = scan.points.iter().map(range).collect();
        let has_amplitudes = scan.points.iter().any(|point| point.amplitude.is_some());
        let intensities = if has_amplitudes {
            scan.points.iter().map(intensity).collect()
        } else {
            Vec::new()
        };
        Value::Struct(self.scan.fill([
            self.header(context.stamp, context.frame_id),
            single(first).into(),
            single(last).into(),
            single(increment).into(),
            single(scan.point_period_ns / 1e9).into(),
            single(scan_time).into(),
            single(device.range_min.unwrap_or(0.0)).into(),
            single(device.range_max.unwrap_or(f64::INFINITY)).into(),
            Array::Float32(ranges).into(),
            Array::Float32(intensities).into(),
        ]))
    }

    /// A `pf_interfaces/PFR2000Header`, or a `PFR2300Header` for a packet of a layer.
    pub(crate) fn packet_header(&self, header: &Header) -> Value {
        let packet = Value::Struct(self.packet.fill([
            timeloom_pf::packet::MAGIC.into(),
            header.packet_type.code().into(),
            header.packet_size.into(),
            header.header_size.into(),
            header.scan_number.into(),
            header.packet_number.into(),
        ]));
        let (raw, sync) = header.iq_stamps.map_or((0, 0), |iq| (iq.raw, iq.sync));
        let [time, time_sync] = [header.timestamp_raw, header.timestamp_sync].map(Value::from);
        let points: [Value; 7] = [
            header.status.0.into(),
            header.scan_frequency.into(),
            header.num_points_scan.into(),
            header.num_points_packet.into(),
            header.first_index.into(),
            header.first_angle.into(),
            header.angular_increment.into(),
        ];
        let [flags, rate, in_scan, in_packet, index, angle, increment] = points;
        let (input, overload) = (header.iq_input.into(), header.iq_overload.into());
        let (raw, sync) = (raw.into(), sync.into());
        Value::Struct(match header.layer {
            None => self.r2000.fill([
                packet, time, time_sync, flags, rate, in_scan, in_packet, index, angle, increment,
                input, overload, raw, sync,
            ]),
            Some(layer) => self.r2300.fill([
                packet,
                layer.index.into(),
                layer.inclination.into(),
                time,
                time_sync,
                flags,
                rate,
                in_scan,
                in_packet,
                index,
                angle,
                increment,
                input,
                overload,
                raw,
                sync,
            ]),
        })
    }
}

/// Sets `header.stamp`.
pub(crate) fn fill_stamp(message: &mut Value, stamp: Time<Ros>) -> Result<()> {
    Ok(message.set_time("header.stamp", WireTime::saturating_from(stamp))?)
}

/// Metres by REP 117: infinite without an echo, NaN where nothing was measured.
pub(crate) fn range(point: &Point) -> f32 {
    match (point.distance, point.amplitude) {
        (_, Some(code)) if NO_ECHO.contains(&code) => f32::INFINITY,
        (Some(_), Some(code)) if code < LEAST_AMPLITUDE => f32::NAN,
        (Some(millimetres), _) => single(f64::from(millimetres) / 1_000.0),
        (None, _) => f32::NAN,
    }
}

/// The amplitude; NaN where there is a code in its place.
pub(crate) fn intensity(point: &Point) -> f32 {
    let amplitude = point
        .amplitude
        .filter(|amplitude| *amplitude >= LEAST_AMPLITUDE);
    amplitude.map_or(f32::NAN, f32::from)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the message has single precision, and a cast rounds to nearest"
)]
pub(crate) const fn single(number: f64) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(distance: Option<u32>, amplitude: Option<u16>) -> Point {
        Point {
            distance,
            amplitude,
        }
    }

    #[test]
    fn no_echo_maps_to_infinity_and_no_measurement_to_nan() {
        let near = |value: f32, wanted: f32| (value - wanted).abs() < 1e-6;
        assert!(near(range(&point(Some(1_500), Some(32))), 1.5));
        assert!(near(range(&point(Some(1_500), None)), 1.5));
        for code in NO_ECHO {
            let range = range(&point(None, Some(code)));
            assert!(range.is_infinite() && range > 0.0);
        }
        assert!(range(&point(None, None)).is_nan());
        assert!(range(&point(None, Some(900))).is_nan());
        assert!(range(&point(Some(1_500), Some(31))).is_nan());
        assert!(intensity(&point(Some(1_500), Some(31))).is_nan());
        assert!(near(intensity(&point(Some(1_500), Some(400))), 400.0));
    }
}
