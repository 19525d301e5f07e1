//! Data that does not match its type is reported and counted, and the following messages are shown.

use timeloom_msg::{Definitions, QosProfile, TypeName};
use timeloom_wire::{NodeName, Participant as _, PublishOptions, TopicSpec};

use crate::robot::{Robot, STRING, participant};

#[test]
fn malformed_payloads_are_reported_and_do_not_end_the_stream() {
    let robot = Robot::new();
    let participant = participant(robot.domain);
    let node = participant
        .node(NodeName::new("/", "broken").unwrap())
        .unwrap();
    let publisher = node
        .publish(&TopicSpec {
            name: "/text".into(),
            type_name: TypeName::parse(STRING).unwrap(),
            type_hash: None,
            qos: QosProfile::DEFAULT,
        })
        .unwrap();
    let mut echo = robot.start(&["topic", "echo", "/text", STRING, "-n", "5"]);
    let lines = echo.lines();
    crate::live_node::until("the echo is there", || publisher.matched() == 1);
    let header = [0, 1, 0, 0];
    let schema = Definitions::builtin().schema(STRING).unwrap();
    let mut good = schema.default_value().unwrap();
    good.set("data", "whole").unwrap();
    let payloads = [
        // A length of four billion; a text that is cut; nothing; text that is none.
        [&header[..], &u32::MAX.to_le_bytes(), b"abc"].concat(),
        [&header[..], &100_u32.to_le_bytes(), b"abc"].concat(),
        header.to_vec(),
        [&header[..], &3_u32.to_le_bytes(), &[0xff, 0xfe, 0]].concat(),
        schema.encode(&good).unwrap(),
    ];
    for payload in payloads {
        let options = PublishOptions::default();
        publisher.publish(payload.into(), options).unwrap();
    }
    let run = echo.end();
    let lines: Vec<String> = lines.iter().collect();
    assert_eq!((run.code, lines.len()), (3, 5), "{run}");
    for line in &lines[..3] {
        assert!(
            line.contains("\"error\":\"cannot decode std_msgs/msg/String: "),
            "{line}"
        );
    }
    assert!(
        lines[4].contains(r#""message":{"data":"whole"}"#),
        "{lines:?}"
    );
    assert!(
        run.stderr.contains("3 messages could not be decoded"),
        "{run}"
    );
}

#[test]
fn one_type_of_a_topic_with_two_can_be_chosen() {
    let robot = Robot::new();
    let _text = robot.publisher("/mixed", &[]);
    let number = [
        "topic",
        "pub",
        "/mixed",
        "std_msgs/msg/Int32",
        "{data: 7}",
        "-r",
        "50",
    ];
    let _number = robot.start(&number);
    let arguments = ["topic", "echo", "/mixed", "--once", "--field", "data"];
    let mixed = robot.until(&arguments, |run| {
        run.code == 1 && run.stderr.contains("has 2 types")
    });
    let words = "/mixed has 2 types: std_msgs/msg/Int32, std_msgs/msg/String";
    assert!(mixed.stderr.contains(words), "{mixed}");
    let chosen = [
        "topic",
        "echo",
        "/mixed",
        "std_msgs/msg/Int32",
        "--once",
        "--field",
        "data",
    ];
    assert_eq!(robot.run(&chosen).stdout, "7\n");
}
