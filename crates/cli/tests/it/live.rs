//! The live verbs, between processes of ours on 127.0.0.1.

use std::sync::Arc;

use timeloom_msg::{Definitions, QosProfile, TypeName, Value};
use timeloom_wire::{
    NodeName, Participant as _, Request, RequestHandler, ServiceServer, ServiceSpec,
};

use crate::robot::{Robot, STRING, participant};
use crate::support::Run;

#[test]
fn every_message_that_is_published_is_echoed() {
    let robot = Robot::new();
    let echo = robot.start(&[
        "topic", "echo", "/chatter", STRING, "-n", "5", "--field", "data",
    ]);
    let publisher = robot.run(&[
        "topic",
        "pub",
        "/chatter",
        STRING,
        "{data: häßlich}",
        "-t",
        "5",
        "-r",
        "100",
    ]);
    assert_eq!(publisher.code, 0, "{publisher}");
    assert!(
        publisher
            .stderr
            .contains("published 5 messages on /chatter to "),
        "{publisher}"
    );
    let echo = echo.end();
    assert_eq!((echo.code, echo.stdout), (0, "\"häßlich\"\n".repeat(5)));
}

#[test]
fn topics_and_nodes_are_listed() {
    let robot = Robot::new();
    let _publishers = [
        robot.publisher("/chatter", &[]),
        robot.publisher("/_hidden", &[]),
    ];
    let both = ["topic", "list", "-t", "--include-hidden-topics"];
    let list = robot.until(&both, |run| run.stdout.lines().count() == 2);
    assert_eq!(
        list.stdout,
        "/_hidden [std_msgs/msg/String]\n/chatter [std_msgs/msg/String]\n"
    );
    let seen = |run: &Run| run.stdout == "/chatter\n";
    assert_eq!(robot.until(&["topic", "list"], seen).code, 0);
    robot.until(&["topic", "list", "-c"], |run| run.stdout == "1\n");
    let json = robot.until(&["topic", "list", "--format", "json"], |run| {
        !run.stdout.is_empty()
    });
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (&json["name"], &json["publishers"]),
        (&"/chatter".into(), &1.into())
    );
    let nodes = robot.until(&["node", "list", "-a"], |run| {
        run.stdout.lines().count() == 2
    });
    let name = nodes.stdout.lines().next().unwrap();
    assert!(name.starts_with("/_timeloom_"), "{nodes}");
    let shown = |run: &Run| run.stdout.contains("  Publishers:\n    /");
    robot.until(&["node", "info", name, "--include-hidden"], shown);
    assert_eq!(robot.run(&["node", "list"]).stdout, "", "tools are hidden");
}

#[test]
fn info_shows_endpoints_as_ros2_does_and_mismatches() {
    let robot = Robot::new();
    let _publisher = robot.publisher(
        "/scan",
        &["--qos-reliability", "best_effort", "--qos-depth", "7"],
    );
    let arguments = ["topic", "info", "scan", "-v"];
    let info = robot.until(&arguments, |run| {
        run.stdout.contains("Node name: _timeloom")
    });
    let start = "Type: std_msgs/msg/String\n\nPublisher count: 1\n\nNode name: _timeloom_";
    assert!(info.stdout.starts_with(start), "{info}");
    for line in [
        "\nNode namespace: /\nTopic type: std_msgs/msg/String\nTopic type hash: RIHS01_df668c74",
        "\nEndpoint type: PUBLISHER\nGID: ",
        "\nQoS profile:\n  Reliability: BEST_EFFORT\n  History (Depth): KEEP_LAST (7)\n  Durability: VOLATILE\n",
        "  Liveliness lease duration: Infinite\n\nSubscription count: 0\n",
    ] {
        assert!(info.stdout.contains(line), "{line}\n{info}");
    }
    assert_eq!(robot.run(&["doctor", "net"]).code, 0);

    let participant = participant(robot.domain);
    let node = participant
        .node(NodeName::new("/", "listener").unwrap())
        .unwrap();
    let spec = timeloom_wire::TopicSpec {
        name: "/scan".into(),
        type_name: TypeName::parse(STRING).unwrap(),
        type_hash: None,
        qos: QosProfile::DEFAULT,
    };
    let limits = timeloom_wire::queue::QueueLimits {
        messages: 10,
        bytes: 1 << 20,
    };
    let overflow = timeloom_wire::queue::Overflow::DropOldest;
    let queue = timeloom_wire::queue::SampleQueue::new(&participant.time_base(), limits, overflow);
    let _subscription = node.subscribe(&spec, queue).unwrap();
    let sentence = "does not reach /listener: the publisher is best effort and the subscription wants reliable";
    robot.until(&arguments, |run| run.stderr.contains(sentence));
    let doctor = robot.until(&["doctor", "net"], |run| {
        run.code == 1 && run.stdout.contains(sentence)
    });
    assert!(
        doctor.stdout.contains("Problem: /scan: /_timeloom_"),
        "{doctor}"
    );
}

#[test]
fn two_owners_of_time_are_named() {
    let robot = Robot::new();
    let clock = || robot.start(&["topic", "pub", "/clock", "rosgraph_msgs/msg/Clock"]);
    let _clocks = [clock(), clock()];
    let named = |run: &Run| {
        run.code == 1
            && run
                .stdout
                .contains("/clock: 2 nodes publish it (/_timeloom_")
    };
    robot.until(&["doctor", "net"], named);
}

#[test]
fn rates_are_measured() {
    let robot = Robot::new();
    let _publisher = robot.publisher("/chatter", &[]);
    let hz = robot.run(&[
        "topic", "hz", "/chatter", STRING, "-n", "20", "--format", "json",
    ]);
    assert_eq!(hz.code, 0, "{hz}");
    let last: serde_json::Value = serde_json::from_str(hz.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["window"], &last["lost_in_transport"]),
        (&20.into(), &0.into())
    );
    assert!(last["rate_hz"].as_f64().unwrap() > 0.0, "{hz}");
    let bw = robot.run(&["topic", "bw", "/chatter", STRING, "-n", "3"]);
    assert_eq!(bw.code, 0, "{bw}");
    assert!(
        bw.stdout.contains("/s from 3 messages  size mean: 12 B"),
        "{bw}"
    );
}

#[test]
fn ctrl_c_ends_with_a_summary() {
    let robot = Robot::new();
    let publisher = robot.publisher("/chatter", &[]);
    robot.until(&["topic", "list"], |run| run.stdout == "/chatter\n");
    publisher.interrupt();
    let run = publisher.end();
    assert_eq!(run.code, 0, "{run}");
    assert!(
        run.stderr.contains(" on /chatter to 0 subscriptions"),
        "{run}"
    );
}

#[test]
fn missing_topics_nodes_and_services_are_named() {
    let robot = Robot::new();
    let _publisher = robot.publisher("/chatter", &[]);
    let near = robot.until(&["topic", "echo", "/chattr"], |run| {
        run.stderr.contains("did you mean")
    });
    assert_eq!(near.code, 1);
    assert!(
        near.stderr.ends_with("hint: did you mean /chatter?\n"),
        "{near}"
    );
    let call = robot.run(&[
        "service",
        "call",
        "/reset",
        "std_srvs/srv/Trigger",
        "--timeout",
        "0.1",
    ]);
    assert_eq!(call.code, 1, "{call}");
    assert!(
        call.stderr.contains("no service /reset in domain"),
        "{call}"
    );
    let wrong = robot.run(&["topic", "pub", "/a", STRING, r#"{"dat": 1}"#]);
    assert_eq!(wrong.code, 1, "{wrong}");
    assert!(wrong.stderr.contains("has no field `dat`"), "{wrong}");
    assert!(wrong.stderr.contains("did you mean data?"), "{wrong}");
}

#[cfg(not(feature = "zenoh"))]
#[test]
fn a_build_without_zenoh_names_the_feature() {
    let robot = Robot::new();
    let mut zenoh = robot.command(&["topic", "list"]);
    let zenoh = Run::new(
        &zenoh
            .env("RMW_IMPLEMENTATION", "rmw_zenoh_cpp")
            .output()
            .unwrap(),
    );
    assert_eq!(zenoh.code, 1, "{zenoh}");
    for words in [
        "Zenoh, which this build does not support",
        "--features zenoh",
    ] {
        assert!(zenoh.stderr.contains(words), "{zenoh}");
    }
}

/// Answers with the negation, in words.
struct SetBool;

impl RequestHandler for SetBool {
    fn request(&self, request: Request, server: &dyn ServiceServer) {
        let known = Definitions::builtin();
        let input = known.schema("std_srvs/srv/SetBool_Request").unwrap();
        let output = known.schema("std_srvs/srv/SetBool_Response").unwrap();
        let wanted = input.decode(&request.payload).unwrap().get("data");
        let mut response = output.default_value().unwrap();
        response.set("success", true).unwrap();
        let text = format!("set to {}", wanted == Some(Value::Bool(true)));
        response.set("message", Value::String(text.into())).unwrap();
        let payload = output.encode(&response).unwrap();
        server.reply(&request.id, payload.into()).unwrap();
    }
}

#[test]
fn services_are_listed_and_called() {
    let robot = Robot::new();
    let participant = participant(robot.domain);
    let node = participant
        .node(NodeName::new("/", "switch").unwrap())
        .unwrap();
    let spec = ServiceSpec {
        name: "/arm".into(),
        type_name: TypeName::parse("std_srvs/srv/SetBool").unwrap(),
        type_hash: None,
        request_hash: None,
        response_hash: None,
        qos: QosProfile::SERVICES,
    };
    let _server = node.serve(&spec, Arc::new(SetBool)).unwrap();
    robot.until(&["service", "list", "-t"], |run| {
        run.stdout == "/arm [std_srvs/srv/SetBool]\n"
    });
    let call = |request| {
        robot.run(&[
            "service",
            "call",
            "/arm",
            "std_srvs/srv/SetBool",
            request,
            "--timeout",
            "60",
        ])
    };
    let run = call(r#"{"data": true}"#);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "{\"success\":true,\"message\":\"set to true\"}\n"),
        "{run}"
    );
    let wrong = robot.run(&[
        "service",
        "call",
        "/arm",
        "std_srvs/srv/Trigger",
        "--timeout",
        "60",
    ]);
    assert_eq!(wrong.code, 1, "{wrong}");
    assert!(
        wrong
            .stderr
            .contains("/arm has the type std_srvs/srv/SetBool, not std_srvs/srv/Trigger"),
        "{wrong}"
    );
}

/// A type that is known to no other node, and its node's answer.
struct Describe(timeloom_msg::Schema);

impl RequestHandler for Describe {
    fn request(&self, request: Request, server: &dyn ServiceServer) {
        let output = Definitions::builtin()
            .schema("type_description_interfaces/srv/GetTypeDescription_Response")
            .unwrap();
        let mut response = output.default_value().unwrap();
        response.set("successful", true).unwrap();
        let description = self.0.type_description().unwrap().to_value().unwrap();
        response.set("type_description", description).unwrap();
        let payload = output.encode(&response).unwrap();
        server.reply(&request.id, payload.into()).unwrap();
    }
}

#[test]
fn an_unknown_type_is_requested_from_its_node() {
    let robot = Robot::new();
    let participant = participant(robot.domain);
    let node = participant
        .node(NodeName::new("/", "camera").unwrap())
        .unwrap();
    let schema =
        timeloom_msg::Schema::parse_ros2msg("own/msg/Thing", "int32 n\nfloat64[2] xy\n").unwrap();
    let mut qos = QosProfile::DEFAULT;
    qos.durability = timeloom_msg::qos::Durability::TransientLocal;
    let publisher = node
        .publish(&timeloom_wire::TopicSpec {
            name: "/thing".into(),
            type_name: schema.name().clone(),
            type_hash: schema.type_hash().ok(),
            qos,
        })
        .unwrap();
    let mut value = schema.default_value().unwrap();
    value.set("n", 7_i32).unwrap();
    let payload = schema.encode(&value).unwrap();
    publisher
        .publish(payload.into(), timeloom_wire::PublishOptions::default())
        .unwrap();
    let echo = ["topic", "echo", "/thing", "own/msg/Thing", "--once"];
    let unknown = robot.run(&echo);
    assert!(
        unknown.stderr.contains("payloads are printed as base64"),
        "{unknown}"
    );
    assert!(unknown.stdout.contains("\"data\":\"AAEAAA"), "{unknown}");

    let service = ServiceSpec {
        name: "/camera/get_type_description".into(),
        type_name: TypeName::parse("type_description_interfaces/srv/GetTypeDescription").unwrap(),
        type_hash: None,
        request_hash: None,
        response_hash: None,
        qos: QosProfile::SERVICES,
    };
    let _server = node.serve(&service, Arc::new(Describe(schema))).unwrap();
    let known = robot.until(&echo, |run| run.stderr.is_empty());
    assert!(
        known
            .stdout
            .ends_with("\"message\":{\"n\":7,\"xy\":[0.0,0.0]}}\n"),
        "{known}"
    );
}
