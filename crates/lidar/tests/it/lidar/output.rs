//! What a scan's message says of sectors, layers and packets of every type, and what the diagnostics say of losses.

use timeloom_lidar::{LidarNode, LidarOptions};
use timeloom_msg::Value;
use timeloom_msg::value::Array;
use timeloom_node::{NodeOptions, ParameterValue};
use timeloom_pf::simulator::{Faults, Product};
use timeloom_testkit::transport::values;
use timeloom_time::Duration;

use super::{ARRAY, Robot, SCAN, diagnostics, float, until, value_of, wait_for};

/// A node with these parameters, and the newest of its scans on a topic once there are three.
fn newest_scan(robot: &Robot, topic: &str, parameters: &[(&str, ParameterValue)]) -> Value {
    let mut options = NodeOptions::new("pf_driver");
    let pairs = parameters
        .iter()
        .map(|(name, value)| ((*name).into(), value.clone()));
    options.parameters.extend(pairs);
    let node = robot.node(options);
    let (_scans, scans) = robot.listen(topic, SCAN);
    let _lidar = LidarNode::new(&node, LidarOptions::new(robot.settings())).expect("a lidar");
    wait_for(&scans, 3);
    values(&scans, SCAN).pop().expect("a scan")
}

fn floats(message: &Value, name: &str) -> Vec<f32> {
    match message.get(name) {
        Some(Value::Array(Array::Float32(numbers))) => numbers,
        other => panic!("{name} is {other:?}"),
    }
}

fn near(message: &Value, name: &str, wanted: f64) {
    let value = float(message, name);
    let error = (value - wanted).abs() / wanted.abs();
    assert!(error < 2e-3, "{name} is {value} and not {wanted}");
}

#[test]
fn intensities_are_published_if_packets_contain_them() {
    for (packet_type, has_intensities) in [("A", false), ("B", true), ("C", true)] {
        let robot = Robot::new(Product::R2000);
        let message = newest_scan(&robot, "/scan", &[("packet_type", packet_type.into())]);
        let (ranges, intensities) = (floats(&message, "ranges"), floats(&message, "intensities"));
        assert_eq!(ranges.len(), 720);
        assert_eq!(intensities.len(), if has_intensities { 720 } else { 0 });
        // What was hit has an amplitude; what was not has none.
        for (range, intensity) in ranges.iter().zip(&intensities) {
            assert_eq!(range.is_finite(), *intensity >= 32.0, "{range} {intensity}");
        }
    }
}

#[test]
fn a_sector_of_every_second_scan_has_its_angles_and_times() {
    let robot = Robot::new(Product::R2000);
    let message = newest_scan(
        &robot,
        "/scan",
        &[
            ("start_angle", (-450_000_i64).into()),
            ("max_num_points_scan", 181_i64.into()),
            ("skip_scans", 1_i64.into()),
        ],
    );
    assert_eq!(floats(&message, "ranges").len(), 181);
    near(&message, "angle_min", -45_f64.to_radians());
    near(&message, "angle_max", 45_f64.to_radians());
    near(&message, "angle_increment", 0.5_f64.to_radians());
    near(&message, "time_increment", 0.02 / 720.0);
    near(&message, "scan_time", 0.04);
}

#[test]
fn layers_use_the_times_of_their_topic() {
    let robot = Robot::new(Product::R2300);
    let message = newest_scan(&robot, "/scan_1", &[]);
    near(&message, "angle_min", -50_f64.to_radians());
    near(&message, "angle_increment", (100_f64 / 720.0).to_radians());
    // 50 scans a second, each of another of four layers; the beam goes by 180 degrees from one to the next.
    near(&message, "scan_time", 0.08);
    near(&message, "time_increment", 0.02 / 180.0 * 100.0 / 720.0);
}

#[test]
fn diagnostics_warn_while_packets_are_lost_and_only_then() {
    let robot = Robot::new(Product::R2000);
    let (_diagnostics, arrays) = robot.listen("/diagnostics", ARRAY);
    let node = robot.node(NodeOptions::new("pf_driver"));
    let mut options = LidarOptions::new(robot.settings());
    options.diagnostics_period = Duration::from_millis(50);
    let _lidar = LidarNode::new(&node, options).expect("a lidar");
    wait_for(&arrays, 1);
    let message = || value_of(&diagnostics(&arrays, "connection"), "message");
    until("scans", || message() == "receiving scans");
    robot.device.set_faults(Faults {
        lose_one_in: 3,
        ..Faults::default()
    });
    until("a warning", || {
        message().starts_with("receiving scans; ") && level(&arrays) == 1
    });
    robot.device.set_faults(Faults::default());
    until("an end of it", || {
        message() == "receiving scans" && level(&arrays) == 0
    });
    let lost = value_of(&diagnostics(&arrays, "connection"), "packets lost");
    assert_ne!(lost, "0", "the count stays");
}

/// The level of the newest status of the connection.
fn level(arrays: &timeloom_testkit::transport::Collector) -> u64 {
    let array = values(arrays, ARRAY).pop().expect("diagnostics");
    let Some(Value::Array(Array::Struct(statuses))) = array.get("status") else {
        panic!("no status");
    };
    let level = statuses.first().and_then(|status| status.get("level"));
    level.and_then(Value::as_u64).expect("a level")
}
