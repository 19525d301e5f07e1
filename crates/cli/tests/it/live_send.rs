//! Messages of `topic pub` and `service call`, and their flags, compatible with `ros2`.

use std::io::Write as _;
use std::process::Stdio;
use std::sync::Arc;

use serde_json::Value;
use timeloom_msg::QosProfile;
use timeloom_msg::qos::Durability;
use timeloom_node::{NodeOptions, RosNode, ServiceTypes};

use crate::robot::{Robot, STRING, participant};
use crate::support::Run;

/// Runs a verb with something on its standard input.
fn run_with_input(robot: &Robot, arguments: &[&str], input: &str) -> Run {
    let mut command = robot.command(arguments);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    Run::new(&child.wait_with_output().unwrap())
}

fn lines(run: &Run) -> Vec<Value> {
    let parsed = run.stdout.lines().map(serde_json::from_str);
    parsed.collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_message_from_stdin_waits_for_subscriptions() {
    let robot = Robot::new();
    let echo = || {
        robot.start(&[
            "topic", "echo", "/chatter", STRING, "--once", "--field", "data",
        ])
    };
    let echoes = [echo(), echo()];
    let arguments = [
        "topic", "pub", "/chatter", STRING, "--stdin", "-1", "-w", "2",
    ];
    let run = run_with_input(&robot, &arguments, "data: >\n  from\n  below\n");
    assert_eq!(run.code, 0, "{run}");
    let words = "published 1 message on /chatter to 2 subscriptions";
    assert!(run.stderr.contains(words), "{run}");
    for echo in echoes {
        let run = echo.end();
        assert_eq!(run.stdout, "\"from below\\n\"\n", "{run}");
    }
    let both = robot.run(&["topic", "pub", "/chatter", STRING, "{data: 1}", "--stdin"]);
    assert_eq!(both.code, 2, "{both}");
}

#[test]
fn now_is_resolved_for_each_message() {
    let robot = Robot::new();
    let stamped = "geometry_msgs/msg/PointStamped";
    let echo = robot.start(&["topic", "echo", "/point", stamped, "-n", "3"]);
    let message = "{header: auto, point: {x: 1.5}}";
    let arguments = [
        "topic", "pub", "/point", stamped, message, "-t", "3", "-r", "100",
    ];
    let run = robot.run(&[&arguments[..], &["-p", "2", "-n", "painter"]].concat());
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(lines(&run).len(), 1, "every second of three: {run}");
    let echo = echo.end();
    let stamp = |line: &Value| {
        let stamp = &line["message"]["header"]["stamp"];
        stamp["sec"].as_i64().unwrap() * 1_000_000_000 + stamp["nanosec"].as_i64().unwrap()
    };
    let echoed = lines(&echo);
    let stamps: Vec<i64> = echoed.iter().map(stamp).collect();
    assert!(stamps.windows(2).all(|two| two[0] < two[1]), "{echo}");
    for (stamp, line) in stamps.iter().zip(&echoed) {
        let sent = line["publish_time"].as_i64().unwrap();
        assert!(*stamp <= sent && sent - stamp < 60_000_000_000, "{echo}");
    }
}

#[test]
fn a_publisher_has_the_name_and_the_qos_it_is_given() {
    let robot = Robot::new();
    let flags = [
        "--node-name",
        "painter",
        "--qos-profile",
        "sensor_data",
        "--qos-history",
        "keep_last",
        "--qos-durability",
        "transient_local",
        "--qos-liveliness",
        "manual_by_topic",
        "--qos-liveliness-lease-duration-seconds",
        "2.5",
    ];
    let _publisher = robot.publisher("/paint", &flags);
    let arguments = ["topic", "info", "/paint", "-v"];
    let info = robot.until(&arguments, |run| run.stdout.contains("Node name: painter"));
    let qos = "  Reliability: BEST_EFFORT\n  History (Depth): KEEP_LAST (5)\n  Durability: TRANSIENT_LOCAL\n  \
               Lifespan: Infinite\n  Deadline: Infinite\n  Liveliness: MANUAL_BY_TOPIC\n  \
               Liveliness lease duration: 2500000000 nanoseconds\n";
    assert!(info.stdout.contains(qos), "{info}");
    robot.until(&["node", "list"], |run| run.stdout == "/painter\n");
}

#[test]
fn wrong_flags_are_refused_before_the_network_is_touched() {
    let robot = Robot::new();
    for (flags, words) in [
        (&["-r", "0"][..], "a number above 0"),
        (&["-t", "0"], "0 is not in 1.."),
        (&["-t", "2", "--once"], "cannot be used with"),
        (&["--qos-reliability", "often"], "best_effort"),
        (&["--qos-depth", "0"], "0 is not in 1.."),
        (&["--keep-alive=-1"], "0 or more"),
    ] {
        let run = robot.run(&[&["topic", "pub", "/a", STRING, "{}"], flags].concat());
        assert_eq!(run.code, 2, "{flags:?} {run}");
        assert!(run.stderr.contains(words), "{flags:?} {run}");
    }
}

#[test]
fn late_joiners_get_a_latched_message_while_the_publisher_runs() {
    let robot = Robot::new();
    let flags = ["-t", "1", "-w", "0", "--keep-alive", "600"];
    let latched = ["--qos-durability", "transient_local"];
    let publisher = robot.publisher("/map", &[&flags[..], &latched].concat());
    let seen = |run: &Run| run.stdout == "/map\n";
    robot.until(&["topic", "list"], seen);
    let late = robot.run(&["topic", "echo", "/map", STRING, "--once", "--field", "data"]);
    assert_eq!(late.stdout, "\"hi\"\n", "{late}");
    publisher.interrupt();
    assert_eq!(publisher.end().code, 0);
}

#[test]
fn missing_services_and_topics_are_named() {
    let robot = Robot::new();
    let _publisher = robot.publisher("/scan", &["--qos-reliability", "best_effort"]);
    let arguments = [
        "topic",
        "echo",
        "/scan",
        STRING,
        "--qos-reliability",
        "reliable",
    ];
    let mut echo = robot.start(&arguments);
    let (lines, words) = (echo.lines(), echo.words());
    let line = words.recv().unwrap();
    let expected = "warning: a publisher of /scan offers weaker QoS than requested (reliability)";
    assert!(line.starts_with(expected), "{line}");
    echo.interrupt();
    assert_eq!(echo.end().code, 0);
    assert_eq!(lines.iter().count(), 0);
}

fn counter(robot: &Robot) -> (RosNode, timeloom_node::Service) {
    let participant = Arc::new(participant(robot.domain));
    let node = RosNode::new(participant, NodeOptions::new("counter")).unwrap();
    let types = ServiceTypes::builtin("std_srvs/srv/SetBool").unwrap();
    let count = std::sync::atomic::AtomicU32::new(0);
    let service = node.serve("/count", "std_srvs/srv/SetBool", move |request| {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let mut response = types.response.default_value()?;
        response.set("success", request.get("data").is_some())?;
        response.set("message", format!("call {number}"))?;
        Ok(response)
    });
    (node, service.unwrap())
}

#[test]
fn a_service_is_called_again_and_again_until_ctrl_c() {
    let robot = Robot::new();
    let _counter = counter(&robot);
    let base = [
        "service",
        "call",
        "/count",
        "std_srvs/srv/SetBool",
        "--timeout",
        "60",
    ];
    let once = run_with_input(&robot, &[&base[..], &["--stdin"]].concat(), "data: true\n");
    assert_eq!(lines(&once)[0]["message"], "call 0", "{once}");
    let mut calls = robot.start(&[&base[..], &["-r", "50"]].concat());
    let answers = calls.lines();
    for number in 1..=5 {
        let answer: Value = serde_json::from_str(&answers.recv().unwrap()).unwrap();
        assert_eq!(answer["message"], format!("call {number}"));
    }
    calls.interrupt();
    assert_eq!(calls.end().code, 0);
}

#[test]
fn ctrl_c_ends_an_unanswered_call() {
    let robot = Robot::new();
    let participant = Arc::new(participant(robot.domain));
    let node = RosNode::new(participant, NodeOptions::new("lazy")).unwrap();
    let (heard, hears) = std::sync::mpsc::channel();
    let (_never, wait) = std::sync::mpsc::channel::<()>();
    let (heard, wait) = (std::sync::Mutex::new(heard), std::sync::Mutex::new(wait));
    let _service = node
        .serve("/lazy", "std_srvs/srv/Trigger", move |_| {
            heard.lock().unwrap().send(()).ok();
            wait.lock().unwrap().recv().ok();
            Ok(ServiceTypes::builtin("std_srvs/srv/Trigger")?
                .response
                .default_value()?)
        })
        .unwrap();
    let arguments = [
        "service",
        "call",
        "/lazy",
        "std_srvs/srv/Trigger",
        "--timeout",
        "3600",
    ];
    let call = robot.start(&arguments);
    hears.recv().unwrap();
    call.interrupt();
    let call = call.end();
    assert_eq!((call.code, call.stdout.as_str()), (0, ""), "{call}");
}

#[test]
fn a_type_that_only_a_subscriber_knows_can_be_published() {
    let robot = Robot::new();
    let participant = Arc::new(participant(robot.domain));
    let node = RosNode::new(participant, NodeOptions::new("arm")).unwrap();
    let schema = timeloom_msg::Schema::parse_ros2msg("own/msg/Goal", "int32 n\n").unwrap();
    let schema = Arc::new(schema);
    node.register_type(&schema);
    let queue = timeloom_wire::queue::SampleQueue::new(
        &node.participant().time_base(),
        timeloom_wire::queue::QueueLimits {
            messages: 10,
            bytes: 1 << 20,
        },
        timeloom_wire::queue::Overflow::DropOldest,
    );
    let spec = timeloom_wire::TopicSpec {
        name: "/goal".into(),
        type_name: schema.name().clone(),
        type_hash: schema.type_hash().ok(),
        qos: QosProfile {
            durability: Durability::Volatile,
            ..QosProfile::DEFAULT
        },
    };
    let _subscription = node
        .wire()
        .subscribe(&spec, Arc::clone(&queue) as _)
        .unwrap();
    let arguments = ["topic", "pub", "/goal", "own/msg/Goal", "{n: 7}", "--once"];
    let arguments = [&arguments[..], &["--spin-time", "10"]].concat();
    robot.until(&arguments, |run| run.code == 0);
    let mut samples = Vec::new();
    queue.wait(timeloom_time::Duration::from_secs(60));
    queue.take(&mut samples);
    let value = schema.decode(&samples[0].payload).unwrap();
    assert_eq!(value.to_json(), r#"{"n":7}"#);
    let unknown = robot.run(&["topic", "pub", "/goal", "own/msg/Gaol", "{}", "--once"]);
    assert!(
        unknown.stderr.contains("no definition of own/msg/Gaol"),
        "{unknown}"
    );
}
