//! Our nodes on a real wire, as a foreign node sees them.

use std::sync::Arc;

use serde_json::json;
use timeloom_msg::{Definitions, QosProfile};
use timeloom_node::{NodeOptions, RosNode, Severity};
pub(crate) use timeloom_testkit::until;

use crate::foreign::Peer;
use crate::robot::{Robot, STRING, participant};
use crate::support::Run;

fn node(robot: &Robot, name: &str) -> RosNode {
    let participant = Arc::new(participant(robot.domain));
    RosNode::new(participant, NodeOptions::new(name)).unwrap()
}

#[test]
fn a_foreign_node_reads_and_sets_our_parameters() {
    let robot = Robot::new();
    let Some(mut peer) = Peer::new(robot.domain) else {
        return;
    };
    let node = node(&robot, "driver");
    node.declare_parameter("rate", 10_i64).unwrap();
    node.declare_parameter("frame", "map").unwrap();
    let list = peer.ask(&json!({"do": "list", "node": "/driver"}));
    let names = list.as_array().unwrap().iter();
    let own = names.filter(|name| !name.as_str().unwrap().starts_with("qos_overrides."));
    let own: Vec<_> = own.cloned().collect();
    let expected = [
        "frame",
        "rate",
        "start_type_description_service",
        "use_sim_time",
    ];
    assert_eq!(own, expected);
    let get = json!({"do": "get", "node": "/driver", "names": ["rate", "frame", "use_sim_time"]});
    assert_eq!(peer.ask(&get), json!([10, "map", false]));
    let set = |name, value: serde_json::Value| json!({"do": "set", "node": "/driver", "name": name, "value": value});
    assert_eq!(peer.ask(&set("rate", json!(20))), json!([true, ""]));
    assert_eq!(node.parameter("rate"), Some(20_i64.into()));
    let refused = peer.ask(&set("rate", json!("fast")));
    assert_eq!(refused[0], false, "{refused}");
    assert_eq!(peer.ask(&get), json!([20, "map", false]));
}

#[test]
fn use_sim_time_follows_the_clock_of_another_node() {
    let robot = Robot::new();
    let Some(mut peer) = Peer::new(robot.domain) else {
        return;
    };
    let node = node(&robot, "driver");
    let machine = node.clock().now();
    let set =
        |on: bool| json!({"do": "set", "node": "/driver", "name": "use_sim_time", "value": on});
    assert_eq!(peer.ask(&set(true)), json!([true, ""]));
    assert!(!node.clock().started(), "no time yet");
    for second in [100, 101, 50] {
        // Best effort: what is lost is sent again.
        until("the time of the peer", || {
            peer.ask(&json!({"do": "tick", "seconds": second}));
            node.clock().now().nanos() == second * 1_000_000_000
        });
    }
    assert_eq!(peer.ask(&set(false)), json!([true, ""]));
    assert!(node.clock().now() > machine);
}

#[test]
fn other_nodes_read_our_log_and_types() {
    let robot = Robot::new();
    let Some(mut peer) = Peer::new(robot.domain) else {
        return;
    };
    let node = node(&robot, "driver");
    node.log(Severity::Warn, "before anybody listens");
    let heard = peer.ask(&json!({"do": "rosout", "count": 1}));
    assert_eq!(heard, json!([[30, "driver", "before anybody listens"]]));

    let header = "std_msgs/msg/Header";
    let schema = Definitions::builtin().schema(header).unwrap();
    let hash = schema.type_hash().unwrap().to_string();
    let ask = json!({"do": "describe", "node": "/driver", "type_name": header, "type_hash": hash});
    let before = peer.ask(&ask);
    assert_eq!(before["reason"], "Type not currently in use by this node");
    let _publisher = node
        .publisher("header", header, QosProfile::DEFAULT)
        .unwrap();
    let reply = peer.ask(&ask);
    assert_eq!(reply["fields"], json!([["stamp", 1], ["frame_id", 17]]));
    assert_eq!(reply["referenced"], json!(["builtin_interfaces/msg/Time"]));
    assert_eq!(
        reply["sources"],
        json!([header, "builtin_interfaces/msg/Time"])
    );
}

#[test]
fn our_node_looks_like_a_node_of_rclcpp() {
    let robot = Robot::new();
    let node = node(&robot, "driver");
    node.set_parameter("use_sim_time", true).unwrap();
    let whole = |run: &Run| run.stdout.contains("/driver/set_parameters_atomically");
    let info = robot.until(&["node", "info", "/driver"], whole);
    assert_eq!(
        info.stdout,
        "/driver
  Subscribers:
    /clock: rosgraph_msgs/msg/Clock
  Publishers:
    /parameter_events: rcl_interfaces/msg/ParameterEvent
    /rosout: rcl_interfaces/msg/Log
  Service Servers:
    /driver/describe_parameters: rcl_interfaces/srv/DescribeParameters
    /driver/get_parameter_types: rcl_interfaces/srv/GetParameterTypes
    /driver/get_parameters: rcl_interfaces/srv/GetParameters
    /driver/get_type_description: type_description_interfaces/srv/GetTypeDescription
    /driver/list_parameters: rcl_interfaces/srv/ListParameters
    /driver/set_parameters: rcl_interfaces/srv/SetParameters
    /driver/set_parameters_atomically: rcl_interfaces/srv/SetParametersAtomically
  Service Clients:
  Action Servers:
  Action Clients:
"
    );
    let arguments = [
        "service",
        "call",
        "/driver/get_parameters",
        "rcl_interfaces/srv/GetParameters",
    ];
    let mut arguments = arguments.to_vec();
    arguments.extend([r#"{"names": ["use_sim_time"]}"#, "--timeout", "60"]);
    let call = robot.run(&arguments);
    let answer: serde_json::Value = serde_json::from_str(&call.stdout).unwrap();
    assert_eq!(answer["values"][0]["bool_value"], true, "{call}");
}

#[test]
fn rates_can_be_in_simulated_time() {
    let robot = Robot::new();
    let Some(mut peer) = Peer::new(robot.domain) else {
        return;
    };
    peer.send(&json!({"do": "simulate", "topic": "/chatter", "step": 2, "count": 60}));
    assert_eq!(peer.answer(), "there");
    let hz = [
        "topic",
        "hz",
        "/chatter",
        STRING,
        "--use-sim-time",
        "-n",
        "20",
        "--format",
        "json",
    ];
    let hz = robot.run(&hz);
    assert_eq!(hz.code, 0, "{hz}");
    let last: serde_json::Value = serde_json::from_str(hz.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["window"], 20, "{hz}");
    // Two simulated seconds from one to the next, in some 40 ms.
    let rate = last["rate_hz"].as_f64().unwrap();
    assert!((0.4..0.6).contains(&rate), "{hz}");
}

#[test]
fn a_follower_of_two_clocks_names_them() {
    let robot = Robot::new();
    let (Some(mut peer), Some(mut other)) = (Peer::new(robot.domain), Peer::new(robot.domain))
    else {
        return;
    };
    let node = node(&robot, "driver");
    let (said, words) = std::sync::mpsc::channel();
    node.set_reporter(move |_, text| {
        // The test may be over.
        let _sent = said.send(text.to_owned());
    });
    node.set_parameter("use_sim_time", true).unwrap();
    let mut warning = None;
    until("the warning", || {
        peer.ask(&json!({"do": "tick", "seconds": 5}));
        other.ask(&json!({"do": "tick", "seconds": 6}));
        warning = words.try_recv().ok();
        warning.is_some()
    });
    let warning = warning.unwrap();
    assert!(warning.starts_with("two sources send time: `"), "{warning}");
    assert_eq!(node.parameter("use_sim_time"), Some(true.into()));
}

#[test]
fn echo_shows_simulated_time() {
    let robot = Robot::new();
    let Some(mut peer) = Peer::new(robot.domain) else {
        return;
    };
    peer.send(&json!({"do": "simulate", "topic": "/chatter", "step": 2, "count": 60}));
    assert_eq!(peer.answer(), "there");
    let echo = ["topic", "echo", "/chatter", STRING, "-s", "-n", "20"];
    let echo = robot.run(&echo);
    assert_eq!(echo.code, 0, "{echo}");
    let times = echo.stdout.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["log_time"].as_i64().unwrap() / 1_000_000_000
    });
    let times: Vec<i64> = times.filter(|time| *time > 0).collect();
    assert!(times.len() > 10, "{echo}");
    // From 1000 s on in steps of 2 s; a late clock sample may give one time twice.
    assert!(
        times.iter().all(|time| (1000..1200).contains(time)),
        "{echo}"
    );
    assert!(times.windows(2).all(|two| two[0] <= two[1]), "{echo}");
    assert!(times.last() > times.first(), "{echo}");
}
