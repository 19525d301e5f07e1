//! `timeloom sync watch` and `timeloom sync relay` with a sensor on the wire.

use serde_json::Value;

use crate::robot::{Robot, Running};

const IMU: &str = "sensor_msgs/msg/Imu";
const ARRAY: &str = "diagnostic_msgs/msg/DiagnosticArray";

/// An IMU whose clock is the host's, so that offsets are nearly zero.
fn imu(robot: &Robot) -> Running {
    robot.start(&["topic", "pub", "/imu", IMU, "{header: auto}", "-r", "100"])
}

#[test]
fn the_offset_of_watch_can_be_added_to_a_stamp() {
    let robot = Robot::new();
    let _imu = imu(&robot);
    let arguments = ["sync", "watch", "/imu", IMU, "--format", "json", "-n", "3"];
    // On a busy machine the first seconds may be without a message.
    let run = robot.until(&arguments, |run| !run.stdout.is_empty());
    assert_eq!(run.code, 0, "{run}");
    let last: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    let offset = last["offset_ns"].as_i64().unwrap();
    // By the steady clock it would be the time since 1970 at which the machine was started.
    assert!(offset.abs() < 30_000_000_000, "{run}");
    assert!(last["offset_steady_ns"].is_i64(), "{run}");
}

#[test]
fn a_relay_republishes_every_message_with_its_sync_status() {
    let robot = Robot::new();
    let _imu = imu(&robot);
    let relay = robot.start(&["sync", "relay", "/imu", IMU, "--output", "/imu/synced"]);
    let echo = |topic: &str, type_name: &str| {
        let run = robot.run(&["topic", "echo", topic, type_name, "-n", "20"]);
        assert_eq!(run.code, 0, "{run}");
        let lines = run.stdout.lines();
        let values = lines.map(|line| serde_json::from_str(line).unwrap());
        let messages = values.map(|mut value: Value| value["message"].take());
        messages.collect::<Vec<Value>>()
    };
    let messages = echo("/imu/synced", IMU);
    assert_eq!(messages.len(), 20, "{messages:?}");
    let nanos = |value: &Value| {
        let stamp = &value["header"]["stamp"];
        let part = |name: &str| stamp[name].as_i64().unwrap();
        part("sec") * 1_000_000_000 + part("nanosec")
    };
    let stamps: Vec<i64> = messages.iter().map(nanos).collect();
    assert!(stamps.is_sorted(), "{stamps:?}");
    let statuses = echo("/imu/synced/sync_status", ARRAY);
    assert_eq!(statuses.len(), 20);
    let values = statuses[19]["status"][0]["values"].as_array().unwrap();
    let value = |key: &str| {
        let pair = values.iter().find(|pair| pair["key"] == key);
        pair.unwrap()["value"].as_str().unwrap().to_owned()
    };
    let offset: i64 = value("offset_ns").parse().unwrap();
    assert!(offset.abs() < 30_000_000_000, "{offset}");
    for key in ["drift_ppm", "sigma_ns", "upper_ns", "health", "epoch"] {
        assert!(!value(key).is_empty(), "{key}");
    }
    relay.interrupt();
    let run = relay.end();
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains(" to /imu/synced"), "{run}");
    assert!(run.stderr.contains("relayed "), "{run}");
}

#[test]
fn a_relay_refuses_unstamped_types_and_its_own_output() {
    let robot = Robot::new();
    let _text = robot.publisher("/text", &[]);
    let text = [
        "sync",
        "relay",
        "/text",
        "std_msgs/msg/String",
        "--output",
        "/out",
    ];
    let run = robot.run(&text);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("header"), "{run}");
    let same = robot.run(&[
        "sync",
        "relay",
        "/text",
        "std_msgs/msg/String",
        "-o",
        "/text",
    ]);
    assert_eq!(same.code, 2, "{same}");
    assert!(same.stderr.contains("is the topic that is read"), "{same}");
}
