//! Beside other nodes, over DDS: types that they lack, and QoS that does not fit.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::play_listener::ForeignListener;
use crate::robot::{Robot, STRING};

/// A verb that is ended with the test.
struct Verb(Child);

impl Verb {
    fn start(command: &mut Command) -> Self {
        let stderr = command.stdout(Stdio::null()).stderr(Stdio::piped());
        Self(stderr.spawn().unwrap())
    }

    /// The first line of stderr with that text; panics if the verb ends without it.
    fn says(&mut self, text: &str) -> String {
        let lines = BufReader::new(self.0.stderr.as_mut().unwrap()).lines();
        let mut said = String::new();
        for line in lines.map_while(Result::ok) {
            if line.contains(text) {
                return line;
            }
            said.push_str(&line);
            said.push('\n');
        }
        panic!("ended without {text:?}:\n{said}");
    }
}

impl Drop for Verb {
    fn drop(&mut self) {
        // As Ctrl-C does, so that a bag is closed.
        let pid = self.0.id().to_string();
        let _sent = Command::new("kill").args(["-INT", &pid]).status();
        let _ended = self.0.wait();
    }
}

#[test]
fn a_recorder_publishes_only_types_that_the_distribution_has() {
    for (distro, published) in [("humble", false), ("jazzy", false), ("lyrical", true)] {
        let robot = Robot::new();
        // The recorder is killed at the end.
        robot.sandbox.unchecked();
        let mut command = robot.command(&["record", "-a", "-o", "bag", "--ros-distro", distro]);
        let _recorder = Verb::start(&mut command);
        let list = ["topic", "list", "-t", "--include-hidden-topics"];
        let run = robot.until(&list, |run| run.stdout.contains("/events/write_split"));
        let lost = run.stdout.contains("MessagesLostEvent");
        assert_eq!(lost, published, "{distro}\n{run}");
    }
}

#[test]
fn losses_are_published_once_a_subscription_asks_for_them() {
    let robot = Robot::new();
    // The recorder is killed at the end.
    robot.sandbox.unchecked();
    let mut command = robot.command(&["record", "-a", "-o", "bag", "--ros-distro", "jazzy"]);
    let _recorder = Verb::start(&mut command);
    let topic = "/_timeloom/rosbag2_messages_lost";
    let event = "timeloom_interfaces/msg/MessagesLostEvent";
    let _listener = robot.start(&["topic", "echo", topic, event]);
    robot.until(&["topic", "info", topic], |run| {
        run.stdout.contains("Publisher count: 1")
    });
}

#[test]
fn record_reports_a_publisher_with_incompatible_qos() {
    let robot = Robot::new();
    // The recorder is killed at the end.
    robot.sandbox.unchecked();
    robot
        .sandbox
        .write("qos.yaml", "/weak: {reliability: reliable, depth: 10}\n");
    let _publisher = robot.publisher("/weak", &["--qos-reliability", "best_effort"]);
    let mut command = robot.command(&[
        "record",
        "--topics",
        "/weak",
        "-o",
        "bag",
        "--qos-profile-overrides-path",
        "qos.yaml",
    ]);
    let line = Verb::start(&mut command).says("is not recorded");
    assert!(
        line.contains("/weak of /") && line.contains("the publisher is best effort"),
        "{line}"
    );
}

#[test]
fn play_reports_a_subscription_with_incompatible_qos() {
    let Some(mut listener) = ForeignListener::new() else {
        return;
    };
    listener.bag("bag", &[("/chatter", 0, 0), ("/chatter", 1000, 1)]);
    let qos = "/chatter: {reliability: best_effort, depth: 10}\n";
    listener.robot.sandbox.write("qos.yaml", qos);
    listener.subscribe("/chatter");
    let arguments = "play bag --loop --qos-profile-overrides-path qos.yaml --localhost";
    let mut command = listener.robot.sandbox.command(arguments);
    let line = Verb::start(&mut command).says("does not reach");
    assert!(
        line.contains("/chatter does not reach") && line.contains("the publisher is best effort"),
        "{line}"
    );
}

#[test]
fn unplayable_topics_exit_with_3() {
    let robot = Robot::new();
    let path = robot.sandbox.path("bag");
    let mut writer =
        timeloom_bag::BagWriter::create(&path, timeloom_bag::BagOptions::default()).unwrap();
    let mut unknown = timeloom_bag::TopicInfo::new("/other", STRING);
    unknown.serialization_format = "protobuf".into();
    for topic in [timeloom_bag::TopicInfo::new("/chatter", STRING), unknown] {
        let topic = writer.add_topic(&topic).unwrap();
        let message = timeloom_bag::Message {
            topic,
            log_time_ns: 1,
            publish_time_ns: 1,
            sequence: 0,
            data: &crate::play_listener::payload(1),
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    assert!(writer.finish().unwrap().1.is_ok());
    let run = robot.run(&["play", "bag"]);
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("/other is not played"), "{run}");
    let run = robot.run(&["play", "bag", "--topics", "/chatter"]);
    assert_eq!(run.code, 0, "{run}");
}
