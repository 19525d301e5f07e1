//! Types that are installed nowhere: their definition comes from the publisher's node, or the topic is recorded raw.

use std::sync::Arc;

use serde_json::json;
use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_msg::qos::Durability;
use timeloom_msg::{QosProfile, Schema};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_wire::{PublishOptions, TopicSpec};

use crate::record_robot::{Robot, statistics, until};
use crate::robot::participant;

const LATCHED: QosProfile = QosProfile {
    durability: Durability::TransientLocal,
    ..QosProfile::DEFAULT
};

fn schema(name: &str) -> Arc<Schema> {
    let text = "float64 level\nstring cell\n";
    Arc::new(Schema::parse_ros2msg(name, text).unwrap())
}

#[test]
fn definitions_come_from_the_publisher_and_unknown_types_are_recorded_raw() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    let node = RosNode::new(
        Arc::new(participant(robot.domain)),
        NodeOptions::new("driver"),
    )
    .unwrap();
    let (battery, secret) = (
        schema("robot_msgs/msg/Battery"),
        schema("robot_msgs/msg/Secret"),
    );
    node.register_type(&battery);
    let spec = |topic: &str, schema: &Schema, announced: bool| TopicSpec {
        name: topic.to_owned(),
        type_name: schema.name().clone(),
        type_hash: schema.type_hash().ok().filter(|_| announced),
        qos: LATCHED,
    };
    let publish = |spec: &TopicSpec, schema: &Schema| {
        let publisher = node.wire().publish(spec).unwrap();
        let payload = schema.encode(&schema.default_value().unwrap()).unwrap();
        publisher
            .publish(payload.into(), PublishOptions::default())
            .unwrap();
        publisher
    };
    let first = publish(&spec("/battery", &battery, true), &battery);
    let second = publish(&spec("/secret", &secret, false), &secret);
    let recording = robot.record("--topics /battery /secret -o bag");
    until(|| first.matched() == 1 && second.matched() == 1);
    // Longer than the recorder waits for a definition.
    robot.ask(&json!({"do": "sleep", "seconds": 5.0}));
    let run = recording.interrupt();
    assert_eq!(run.code, 0, "{run}");
    let said = "no definition of robot_msgs/msg/Secret: /secret is recorded raw";
    assert!(run.stderr.contains(said), "{run}");
    assert!(!run.stderr.contains("Battery"), "{run}");
    let bag = robot.sandbox.path("bag");
    for topic in ["/battery", "/secret"] {
        assert_eq!(statistics(&bag, topic).messages_recorded, 1, "{run}");
    }
    let reader = BagReader::open(&bag).unwrap();
    let mut topics = reader.info().topics.iter();
    let battery = topics.find(|topic| topic.name == "/battery").unwrap();
    assert!(
        battery.definition.text.contains("float64 level"),
        "{battery:?}"
    );
    let shown = robot.sandbox.ok("cat bag --topics /battery");
    assert!(shown.contains("\"level\":0.0"), "{shown}");
}
