//! Types of packages that are not installed, and what verbs say about them.

use std::sync::Arc;

use timeloom_msg::{Definitions, QosProfile, Schema, TypeName};
use timeloom_node::{NodeOptions, RosNode, ServiceTypes};
use timeloom_wire::TopicSpec;

use crate::robot::{Robot, participant};

const DOCK: &str = "own/srv/Dock";

/// The events of a service that is built in nowhere.
fn events() -> Schema {
    let name = TypeName::parse(DOCK).unwrap().with_suffix("_Event");
    let text = "int32 a\nint32 b 5\n---\nint32 sum\n";
    let own = Definitions::parse_ros2msg(&name, text).unwrap();
    Schema::derive(&own, &name).unwrap()
}

/// The layouts of that service.
fn dock() -> ServiceTypes {
    ServiceTypes::of_schema(&events()).unwrap()
}

fn node(robot: &Robot, name: &str) -> RosNode {
    let participant = Arc::new(participant(robot.domain));
    RosNode::new(participant, NodeOptions::new(name)).unwrap()
}

#[test]
fn a_service_call_asks_the_server_for_its_type() {
    let robot = Robot::new();
    let node = node(&robot, "station");
    let types = dock();
    let response = Arc::clone(&types.response);
    let call = ["service", "call", "/dock", DOCK, "{a: 3}"];
    let answer = move |request: &timeloom_msg::Value| {
        let number = |name| request.get(name).and_then(|n| n.as_i64()).unwrap_or(0);
        let sum = i32::try_from(number("a") + number("b")).unwrap();
        let mut answer = response.default_value()?;
        answer.set("sum", sum)?;
        Ok(answer)
    };
    let qos = QosProfile::SERVICES;
    let _service = node.serve_with("/dock", types, qos, answer).unwrap();
    let words = "known only with service introspection";
    let run = robot.until(&call, |run| run.stderr.contains(words));
    assert_eq!(run.code, 1, "{run}");

    let event = Arc::new(events());
    node.register_type(&event);
    let topic = TopicSpec {
        name: "/dock/_service_event".into(),
        type_name: event.name().clone(),
        type_hash: event.type_hash().ok(),
        qos: QosProfile::DEFAULT,
    };
    let _events = node.wire().publish(&topic).unwrap();
    let run = robot.until(&call, |run| run.code == 0);
    assert_eq!(run.stdout, "{\"sum\":8}\n", "with the default of b: {run}");
    let wrong = robot.run(&["service", "call", "/dock", DOCK, "{c: 3}"]);
    assert_eq!(wrong.code, 1, "{wrong}");
    let arguments = [
        "service",
        "call",
        "/dock",
        "own/srv/Other",
        "--timeout",
        "1",
    ];
    let other = robot.run(&arguments);
    let words = "no definition of own/srv/Other";
    assert!(other.code == 1 && other.stderr.contains(words), "{other}");
}

#[test]
fn node_info_lists_actions_as_ros2_does() {
    let robot = Robot::new();
    let node = node(&robot, "station");
    let feedback = "example_interfaces/action/Fibonacci_FeedbackMessage";
    let topic = "/go/_action/feedback";
    let _publisher = node
        .publisher(topic, feedback, QosProfile::DEFAULT)
        .unwrap();
    let actions =
        "  Action Servers:\n    /go: example_interfaces/action/Fibonacci\n  Action Clients:\n";
    let run = robot.until(&["node", "info", "/station"], |run| {
        run.stdout.ends_with(actions)
    });
    assert!(!run.stdout.contains(topic), "its parts are hidden: {run}");
    let run = robot.run(&["node", "info", "/station", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["action_servers"][0]["name"], "/go");
}

#[test]
fn profiles_of_fast_dds_are_mentioned_where_data_is_sent() {
    let mut robot = Robot::new();
    robot
        .sandbox
        .set("FASTRTPS_DEFAULT_PROFILES_FILE", "/a.xml");
    let note = "profiles of Fast DDS are not read";
    let echo = robot.run(&["topic", "echo", "/nothing"]);
    assert!(echo.stderr.contains(note), "{echo}");
    for list in [
        &["topic", "list"][..],
        &["node", "list"],
        &["service", "list"],
    ] {
        let list = robot.run(list);
        assert!(!list.stderr.contains(note), "{list}");
    }
}
