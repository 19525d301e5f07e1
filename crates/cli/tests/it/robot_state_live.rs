//! The state of the robot: parameters, environment and graph in a recording, shown, and put back on a running robot.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use timeloom_bag::{BagReader, RobotParameters, StorageReader as _};
use timeloom_node::{NodeOptions, ParameterAccess, ParameterValue, RosNode};

use crate::record_robot::until;
use crate::robot::{Robot, participant};

/// The node of the test: a robot with parameters.
fn talker(robot: &Robot) -> RosNode {
    let participant = Arc::new(participant(robot.domain));
    let node = RosNode::new(participant, NodeOptions::new("talker")).unwrap();
    node.declare_parameter("rate", 10_i64).unwrap();
    let access = ParameterAccess::ReadOnly;
    node.declare_parameter_with("frame", "map", "where it is", access)
        .unwrap();
    node
}

/// The parameters in a bag that is being recorded.
fn recorded(bag: &Path) -> Option<RobotParameters> {
    BagReader::open(bag).ok()?.parameters().ok()
}

fn rates(bag: &Path) -> usize {
    let known = recorded(bag).unwrap_or_default();
    let node = known.nodes.get("/talker");
    let rate = node.and_then(|node| node.parameters.get("rate"));
    rate.map_or(0, |rate| rate.history.len())
}

/// Records the talker while its rate changes from 10 to 20.
fn record(robot: &Robot, node: &RosNode, more: &[&str]) {
    let _publisher = robot.publisher("/chatter", &[]);
    let bag = robot.sandbox.path("bag");
    let mut arguments = vec!["record", "-a", "-o", bag.to_str().unwrap()];
    arguments.extend(more);
    let recording = robot.start(&arguments);
    until(|| rates(&bag) == 1);
    // The event is heard once the recorder's subscription has matched; until then it is published again.
    until(|| {
        node.set_parameter("rate", 10_i64).unwrap();
        node.set_parameter("rate", 20_i64).unwrap();
        rates(&bag) >= 2
    });
    recording.interrupt();
    let run = recording.end();
    assert!([0, 3].contains(&run.code), "{run}");
}

fn node_of<'a>(robot: &'a Value, name: &str) -> &'a Value {
    let nodes = robot["nodes"].as_array().unwrap();
    let mut found = nodes.iter().filter(|node| node["name"] == name);
    found
        .next()
        .unwrap_or_else(|| panic!("no {name} in {robot}"))
}

#[test]
fn a_recording_has_parameters_graph_and_environment() {
    let robot = Robot::new();
    let node = talker(&robot);
    record(&robot, &node, &["--custom-data", "API_TOKEN=abc"]);
    let text = robot.sandbox.ok("info --robot --format json bag");
    let state: Value = serde_json::from_str(&text).unwrap();
    let talker = node_of(&state, "/talker");
    assert_eq!(talker["unanswered"], Value::Null);
    let parameters = talker["parameters"].as_array().unwrap();
    let parameter = |name: &str| parameters.iter().find(|it| it["name"] == name).unwrap();
    let history = parameter("rate")["history"].as_array().unwrap();
    assert_eq!(history.first().unwrap()["value"], 10);
    assert_eq!(history.last().unwrap()["value"], 20);
    assert_eq!(history.last().unwrap()["type"], "integer");
    assert_eq!(parameter("frame")["read_only"], true);
    assert_eq!(parameter("frame")["description"], "where it is");
    let publishes = state["nodes"].as_array().unwrap().iter().any(|node| {
        let endpoints = node["endpoints"].as_array().unwrap();
        endpoints
            .iter()
            .any(|it| it["topic"] == "/chatter" && it["role"] == "publisher")
    });
    assert!(publishes, "{state}");
    let environment = &state["environment"];
    assert_eq!(environment["ROS_DOMAIN_ID"], robot.domain.to_string());
    assert_eq!(environment["timeloom"], env!("CARGO_PKG_VERSION"));
    let command = environment["command"].as_str().unwrap();
    assert!(
        command.contains("record -a") && command.contains("API_TOKEN=***"),
        "{command}"
    );
    assert!(!state["host_clock"].as_array().unwrap().is_empty());
    let text = robot.sandbox.ok("info --robot bag");
    assert!(text.contains("    frame: \"map\" (read-only)\n"), "{text}");
    assert!(text.contains("    rate: 10 → 20 at +"), "{text}");
}

#[test]
fn without_state_a_recording_has_none() {
    let robot = Robot::new();
    let _talker = talker(&robot);
    let _publisher = robot.publisher("/chatter", &[]);
    let bag = robot.sandbox.path("bag");
    let arguments = ["record", "-a", "--no-state", "-o", bag.to_str().unwrap()];
    let limits = ["--max-recording-messages", "5"];
    let run = robot.start(&[&arguments[..], &limits[..]].concat()).end();
    assert!([0, 3].contains(&run.code), "{run}");
    let text = robot.sandbox.ok("info --robot bag");
    assert!(
        text.starts_with("Nodes: 0\nParameters: 0\nEnvironment: 0\n"),
        "{text}"
    );
}

#[test]
fn parameters_are_set_and_absent_ones_counted() {
    let robot = Robot::new();
    let node = talker(&robot);
    record(&robot, &node, &[]);
    let play = [
        "play",
        "bag",
        "--topics",
        "/chatter",
        "--rate",
        "1000",
        "--set-parameters",
    ];
    let run = robot.run(&play);
    assert_eq!(run.code, 2, "nothing to ask on: {run}");
    assert!(run.stderr.contains("add --yes"), "{run}");
    assert_eq!(node.parameter("rate"), Some(ParameterValue::Integer(20)));
    let with_yes = [&play[..], &["--yes"]].concat();
    // The graph of a run may not have settled yet.
    let run = robot.until(&with_yes, |run| run.stderr.contains("1 set"));
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("/talker rate: 20 → 10"), "{run}");
    assert!(run.stderr.contains(" 0 refused, 0 absent"), "{run}");
    assert_eq!(node.parameter("rate"), Some(ParameterValue::Integer(10)));
    drop(node);
    let run = robot.until(&with_yes, |run| run.stderr.contains("0 set, 0 the same"));
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("/talker: "), "{run}");
    assert!(run.stderr.contains("the node is not there"), "{run}");
}
