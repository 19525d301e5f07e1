//! From scans and headers to messages.

use timeloom_msg::Value;
use timeloom_msg::value::Array;
use timeloom_pf::{DeviceInfo, Header, Point, Scan};
use timeloom_time::{Ros, Time, WireTime};
use timeloom_wire::MessageTime;

use crate::Result;

/// Codes in the place of an amplitude that mean: nothing was there to be seen.
const NO_ECHO: [u16; 2] = [0, 6];
/// Amplitudes below are such codes.
const LEAST_AMPLITUDE: u16 = 32;

/// What a `sensor_msgs/LaserScan` holds beside the scan itself.
pub(super) struct Surroundings<'a> {
    pub(super) stamp: Time<Ros>,
    pub(super) frame_id: &'a str,
    pub(super) device: &'a DeviceInfo,
    /// Every so many scans of the device, one is published on the topic.
    pub(super) every: u64,
}

/// Fills a `sensor_msgs/LaserScan`.
pub(super) fn fill_scan(message: &mut Value, scan: &Scan, around: &Surroundings<'_>) -> Result<()> {
    let device = around.device;
    let count = scan.points.len();
    let increment = scan.angle_increment.to_radians();
    let first = scan.first_angle.to_radians();
    fill_stamp(message, around.stamp)?;
    message.set("header.frame_id", around.frame_id)?;
    message.set("angle_min", single(first))?;
    message.set(
        "angle_max",
        single(first + increment * count.saturating_sub(1) as f64),
    )?;
    message.set("angle_increment", single(increment))?;
    message.set("time_increment", single(scan.point_period_ns / 1e9))?;
    let scan_time = scan.scan_period.as_secs_f64() * around.every as f64;
    message.set("scan_time", single(scan_time))?;
    message.set("range_min", single(device.range_min.unwrap_or(0.0)))?;
    message.set(
        "range_max",
        single(device.range_max.unwrap_or(f64::INFINITY)),
    )?;
    let ranges = scan.points.iter().map(range).collect();
    message.set("ranges", Array::Float32(ranges))?;
    let has_amplitudes = scan.points.iter().any(|point| point.amplitude.is_some());
    let intensities = if has_amplitudes {
        scan.points.iter().map(intensity).collect()
    } else {
        Vec::new()
    };
    Ok(message.set("intensities", Array::Float32(intensities))?)
}

/// Sets `header.stamp`.
pub(super) fn fill_stamp(message: &mut Value, stamp: Time<Ros>) -> Result<()> {
    Ok(message.set_time("header.stamp", WireTime::saturating_from(stamp))?)
}

/// Fills a `pf_interfaces/PFR2000Header` or `PFR2300Header`.
pub(super) fn fill_header(message: &mut Value, header: &Header) -> Result<()> {
    message.set("header.magic", timeloom_pf::packet::MAGIC)?;
    message.set("header.packet_type", header.packet_type.code())?;
    message.set("header.packet_size", header.packet_size)?;
    message.set("header.header_size", header.header_size)?;
    message.set("header.scan_number", header.scan_number)?;
    message.set("header.packet_number", header.packet_number)?;
    message.set("timestamp_raw", header.timestamp_raw)?;
    message.set("status_flags", header.status.0)?;
    message.set("scan_frequency", header.scan_frequency)?;
    message.set("num_points_scan", header.num_points_scan)?;
    message.set("num_points_packet", header.num_points_packet)?;
    message.set("first_index", header.first_index)?;
    message.set("first_angle", header.first_angle)?;
    message.set("angular_increment", header.angular_increment)?;
    let (raw, sync) = header.iq_stamps.map_or((0, 0), |iq| (iq.raw, iq.sync));
    let rest = match header.layer {
        None => [
            "timestamp_sync",
            "iq_input",
            "iq_overload",
            "iq_timestamp_raw",
            "iq_timestamp_sync",
        ],
        Some(layer) => {
            message.set("layer_index", layer.index)?;
            message.set("layer_inclination", layer.inclination)?;
            [
                "reserved1",
                "reserved2",
                "reserved3",
                "reserved4",
                "reserved5",
            ]
        }
    };
    let [time, input, overload, stamp, stamp_sync] = rest;
    message.set(time, header.timestamp_sync)?;
    message.set(input, header.iq_input)?;
    message.set(overload, header.iq_overload)?;
    message.set(stamp, raw)?;
    Ok(message.set(stamp_sync, sync)?)
}

/// Metres as REP 117 wants them: infinite where nothing was in sight, not a number where it is not known.
pub(super) fn range(point: &Point) -> f32 {
    match (point.distance, point.amplitude) {
        (_, Some(code)) if NO_ECHO.contains(&code) => f32::INFINITY,
        (Some(_), Some(code)) if code < LEAST_AMPLITUDE => f32::NAN,
        (Some(millimetres), _) => single(f64::from(millimetres) / 1_000.0),
        (None, _) => f32::NAN,
    }
}

/// The amplitude; not a number where there is a code in its place.
pub(super) fn intensity(point: &Point) -> f32 {
    let amplitude = point
        .amplitude
        .filter(|amplitude| *amplitude >= LEAST_AMPLITUDE);
    amplitude.map_or(f32::NAN, f32::from)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the message has floats, and a cast rounds to the nearest"
)]
pub(super) const fn single(number: f64) -> f32 {
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
    fn what_is_not_seen_is_far_and_what_is_not_known_is_no_number() {
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
