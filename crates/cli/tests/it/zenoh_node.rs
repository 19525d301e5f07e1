//! Our nodes and our player over Zenoh, as a foreign robot sees them.

use std::sync::Arc;

use serde_json::json;
use timeloom_bag::BagReader;
use timeloom_bag::storage::StorageReader as _;
use timeloom_msg::value::{Array, Text};
use timeloom_msg::{Definitions, QosProfile, Schema, TypeName, Value};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_wire::{PublishOptions, TopicSpec};

use crate::record_robot::until;
use crate::support::stored;
use crate::zenoh_robot::ZenohRobot;

fn node(robot: &ZenohRobot, name: &str) -> RosNode {
    RosNode::new(robot.participant(), NodeOptions::new(name)).unwrap()
}

fn texts(texts: &[&str]) -> Value {
    let texts = texts.iter().map(|text| Text::from(*text));
    Value::Array(Array::String(texts.collect()))
}

/// One parameter, as `set_parameters` takes it.
fn parameter(name: &str, value: i64) -> Value {
    let schema = Definitions::builtin().schema("rcl_interfaces/msg/Parameter");
    let mut parameter = schema.unwrap().default_value().unwrap();
    parameter.set("name", name).unwrap();
    parameter.set("value.type", 2_u8).unwrap();
    parameter.set("value.integer_value", value).unwrap();
    let Value::Struct(parameter) = parameter else {
        panic!("a message");
    };
    Value::Array(Array::Struct(vec![parameter]))
}

#[test]
fn a_foreign_client_reads_and_sets_our_parameters() {
    let Some(mut robot) = ZenohRobot::new() else {
        return;
    };
    let node = node(&robot, "driver");
    node.declare_parameter("rate", 10_i64).unwrap();
    let get = |robot: &mut ZenohRobot| {
        let answer = robot.call(
            "/driver/get_parameters",
            "rcl_interfaces/srv/GetParameters",
            |request| request.set("names", texts(&["rate"])).unwrap(),
        );
        answer["values"][0]["integer_value"].as_i64().unwrap()
    };
    assert_eq!(get(&mut robot), 10);
    let set = robot.call(
        "/driver/set_parameters",
        "rcl_interfaces/srv/SetParameters",
        |request| request.set("parameters", parameter("rate", 20)).unwrap(),
    );
    assert_eq!(set["results"][0]["successful"], true, "{set}");
    assert_eq!(node.parameter("rate"), Some(20_i64.into()));
    assert_eq!(get(&mut robot), 20);
}

#[test]
fn a_foreign_client_learns_our_types() {
    let Some(mut robot) = ZenohRobot::new() else {
        return;
    };
    let node = node(&robot, "driver");
    let header = "std_msgs/msg/Header";
    let _publisher = node
        .publisher("header", header, QosProfile::DEFAULT)
        .unwrap();
    let hash = Definitions::builtin().schema(header).unwrap().type_hash();
    let hash = hash.unwrap().to_string();
    let reply = robot.call(
        "/driver/get_type_description",
        "type_description_interfaces/srv/GetTypeDescription",
        |request| {
            request.set("type_name", header).unwrap();
            request.set("type_hash", hash.as_str()).unwrap();
            request.set("include_type_sources", true).unwrap();
        },
    );
    assert_eq!(reply["successful"], true, "{reply}");
    let whole = &reply["type_description"];
    assert_eq!(whole["type_description"]["type_name"], header);
    assert_eq!(
        whole["referenced_type_descriptions"][0]["type_name"],
        "builtin_interfaces/msg/Time"
    );
}

/// A type that is built in nowhere.
fn battery() -> Arc<Schema> {
    let text = "std_msgs/Header header\nfloat64 level 0.5\n===\nMSG: std_msgs/Header\n\
        builtin_interfaces/Time stamp\nstring frame_id\n===\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n";
    Arc::new(Schema::parse_ros2msg("robot_msgs/msg/Battery", text).unwrap())
}

#[test]
fn a_recorder_asks_the_publisher_for_its_definition() {
    let Some(mut robot) = ZenohRobot::new() else {
        return;
    };
    let node = node(&robot, "driver");
    let schema = battery();
    node.register_type(&schema);
    let topic = TopicSpec {
        name: "/battery".into(),
        type_name: TypeName::parse("robot_msgs/msg/Battery").unwrap(),
        type_hash: schema.type_hash().ok(),
        qos: QosProfile::DEFAULT,
    };
    let publisher = node.wire().publish(&topic).unwrap();
    let recording = robot.start("record --topics /battery -o bag");
    until(|| publisher.matched() > 0);
    let payload = schema.encode(&schema.default_value().unwrap()).unwrap();
    publisher
        .publish(payload.into(), PublishOptions::default())
        .unwrap();
    robot.accounted("/battery", 1);
    let run = recording.interrupt();
    assert_eq!(run.code, 0, "{run}");
    let reader = BagReader::open(&robot.sandbox().path("bag")).unwrap();
    let stored = &reader.info().topics[0];
    assert_eq!(stored.type_name, "robot_msgs/msg/Battery");
    let definition = &stored.definition.text;
    assert!(definition.contains("float64 level"), "{definition}");
    let line = robot.sandbox().ok("cat bag");
    assert!(line.contains("\"level\":0.5"), "{line}");
}

/// Has the robot subscribe to the strings on a topic.
fn reader(robot: &mut ZenohRobot, topic: &str, delay: f64) {
    let string = Definitions::builtin().schema("std_msgs/msg/String");
    let string = string.unwrap();
    let hash = string.type_hash().unwrap().to_string();
    robot.ask(
        &json!({"do": "reader", "topic": topic, "type_name": string.name().to_dds(),
        "type_hash": hash, "delay": delay}),
    );
}

/// The CRC-32 of zlib.
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let odd = crc & 1;
            crc = (crc >> 1) ^ (0xedb8_8320 * odd);
        }
    }
    !crc
}

/// A bag with `count` messages of the robot.
fn record(robot: &mut ZenohRobot, count: u64, size: usize) {
    robot.writer("a", "/a", &json!({}));
    let recording = robot.start("record --topics /a -o bag");
    robot.matched(&["a"]);
    robot.publish("a", count, &json!({"rate": 1000.0, "size": size}));
    robot.accounted("/a", count);
    assert_eq!(recording.interrupt().code, 0);
    robot.ask(&json!({"do": "close", "name": "a"}));
}

#[test]
fn play_delivers_all_messages_to_a_python_subscriber() {
    let Some(mut robot) = ZenohRobot::new() else {
        return;
    };
    record(&mut robot, 200, 5_000);
    reader(&mut robot, "/a", 0.0);
    let run = robot.start("play bag --wait-for-subscribers -r 10").end();
    assert_eq!(run.code, 0, "{run}");
    let said = "played 200 messages of 1 topic";
    assert!(run.stderr.contains(said), "{run}");
    let taken = robot.ask(&json!({"do": "taken", "topic": "/a", "count": 200}));
    let taken = taken.as_array().unwrap();
    let messages = stored(&robot.sandbox().path("bag"));
    assert_eq!((taken.len(), messages.len()), (200, 200));
    for (number, (taken, stored)) in (1..).zip(taken.iter().zip(&messages)) {
        assert_eq!(taken[0], number);
        assert_eq!(taken[3], crc(&stored.data), "{number}");
    }
    let first = taken[0][2].as_str().unwrap();
    assert!(taken.iter().all(|taken| taken[2] == first), "one writer");
}

#[test]
fn play_does_not_leave_before_a_slow_subscriber_has_everything() {
    let Some(mut robot) = ZenohRobot::new() else {
        return;
    };
    record(&mut robot, 30, 1_000_000);
    reader(&mut robot, "/a", 0.1);
    let run = robot.start("play bag --wait-for-subscribers -r 100").end();
    assert_eq!(run.code, 0, "{run}");
    let taken = robot.ask(&json!({"do": "taken", "topic": "/a", "count": 30}));
    let numbers: Vec<_> = taken
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one[0].as_u64())
        .collect();
    assert_eq!(numbers, (1..31).map(Some).collect::<Vec<_>>());
}

#[test]
fn one_message_of_topic_pub_arrives() {
    let Some(mut robot) = ZenohRobot::new() else {
        return;
    };
    reader(&mut robot, "/a", 0.0);
    let run = robot
        .start("topic pub /a std_msgs/msg/String {\"data\":\"hi\"} --once")
        .end();
    assert_eq!(run.code, 0, "{run}");
    let said = "published 1 message on /a to 1 subscription";
    assert!(run.stderr.contains(said), "{run}");
    robot.ask(&json!({"do": "taken", "topic": "/a", "count": 1}));
}
