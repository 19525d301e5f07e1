//! Output of `trace`: unusual names, and targets with very many paths.

use timeloom_bag::{
    BagOptions, BagWriter, EndpointRole, GraphEndpoint, Message, MessageDefinition, RobotGraph,
    TopicInfo,
};
use timeloom_msg::{Definitions, QosProfile};
use timeloom_time::Time;
use timeloom_trace::{InputInfo, MessageTrackingTag, Moment, OutputInfo, TAG_TYPE};

use crate::support::Sandbox;

/// A name that would clear the screen and change the colour.
const WILD: &str = "/cmd\u{1b}[2J\u{1b}[31m";

/// A bag of one topic with a wild name, and a tag that names it.
fn wild_bag(path: &std::path::Path) {
    let mut writer = BagWriter::create(path, BagOptions::default()).unwrap();
    let topic = writer.add_topic(&TopicInfo::new(WILD, TAG_TYPE)).unwrap();
    for (number, input) in [(0, None), (1, Some("/points"))] {
        let at = Moment::from_nanos(1_000_000 + number, 1_000_000 + number);
        let inputs = input.map(|topic| InputInfo {
            topic: topic.to_owned(),
            received: at,
            stamp: None,
        });
        let tag = MessageTrackingTag {
            header_stamp: at.ros,
            output: OutputInfo {
                topic: WILD.to_owned(),
                node: "/\u{9b}31mnode".to_owned(),
                sequence: number,
                published: at,
                stamp: None,
            },
            inputs: inputs.into_iter().collect(),
        };
        let message = Message {
            topic,
            log_time_ns: 1_000_000 + number,
            publish_time_ns: 1_000_000 + number,
            sequence: 0,
            data: &tag.encode(),
        };
        assert!(writer.write(&[message], 1_000_000 + number).is_ok());
    }
    assert!(writer.finish().unwrap().1.is_ok());
}

#[test]
fn escape_sequences_in_names_are_printed_as_text() {
    let sandbox = Sandbox::new();
    sandbox.unchecked();
    wild_bag(&sandbox.path("wild"));
    sandbox.write(
        "budget.yaml",
        "paths: [{from: /points, to: \"/cmd\\e[2J\\e[31m\", lost: 0}]",
    );
    for arguments in [
        "trace report wild",
        "trace path wild",
        "trace check budget.yaml wild",
        "trace diff wild wild",
        "info wild",
        "info -v wild",
    ] {
        let run = sandbox.run(arguments);
        let all = run.stdout.clone() + &run.stderr;
        assert!(
            all.contains("/cmd\\x1b[2J\\x1b[31m"),
            "{arguments}\n{all:?}"
        );
        assert!(!all.contains(['\u{1b}', '\u{9b}']), "{arguments}\n{all:?}");
    }
}

/// Two times eight ways lead from one source to one target.
#[test]
fn hundreds_of_paths_are_summarised_and_listed_on_request() {
    let sandbox = Sandbox::new();
    let mut writer = BagWriter::create(&sandbox.path("many"), BagOptions::default()).unwrap();
    let info = TopicInfo::new("/tags/message_tracking_tag", TAG_TYPE);
    let topic = writer.add_topic(&info).unwrap();
    let mut levels = vec![vec!["/source".to_owned()]];
    levels.extend((0..3).map(|level| (0..4).map(|way| format!("/l{level}/w{way}")).collect()));
    levels.push(vec!["/target".to_owned()]);
    let mut time = 1_000_000_000_i64;
    for cycle in 0..3 {
        for (level, topics) in levels.iter().enumerate() {
            for name in topics {
                time += 1_000_000;
                let at = Moment::from_nanos(time, time);
                let stamp = Some(Time::from_nanos(cycle + 1));
                let before = level.checked_sub(1).map(|level| levels[level].clone());
                let inputs = before.into_iter().flatten().map(|topic| InputInfo {
                    topic,
                    received: at,
                    stamp,
                });
                let tag = MessageTrackingTag {
                    header_stamp: at.ros,
                    output: OutputInfo {
                        topic: name.clone(),
                        node: "/node".into(),
                        sequence: cycle,
                        published: at,
                        stamp,
                    },
                    inputs: inputs.collect(),
                };
                let message = Message {
                    topic,
                    log_time_ns: time,
                    publish_time_ns: time,
                    sequence: 0,
                    data: &tag.encode(),
                };
                assert!(writer.write(&[message], time).is_ok());
            }
        }
    }
    assert!(writer.finish().unwrap().1.is_ok());
    let text = sandbox.ok("trace report many");
    let paths = |text: &str| {
        let lines = text.lines();
        lines
            .filter(|line| line.starts_with("  /source → ") && line.contains("/target"))
            .count()
    };
    assert_eq!(paths(&text), 8, "{text}");
    assert!(
        text.contains(
            "\n  and 56 more paths from /source: p50 13.0 ms to 13.0 ms, max 13.0 ms; --all-paths lists them\n"
        ),
        "{text}"
    );
    assert_eq!(paths(&sandbox.ok("trace report many --all-paths")), 64);
}

/// A recorded graph comes from outside, too. (A live node with such a name is refused by `NodeName`.)
#[test]
fn escape_sequences_in_node_names_of_a_recorded_graph_are_printed_as_text() {
    let sandbox = Sandbox::new();
    sandbox.unchecked();
    let schema = Definitions::builtin()
        .schema("std_msgs/msg/Header")
        .unwrap();
    let endpoint = |number: u8, role, topic: &str| GraphEndpoint {
        id: format!("{number:032x}"),
        node: "/\u{9b}31mnode\u{1b}[2J".into(),
        role,
        topic: topic.into(),
        type_name: schema.name().to_string(),
        type_hash: String::new(),
        qos: QosProfile::DEFAULT,
        appeared_ns: 0,
        vanished_ns: None,
    };
    let graph: RobotGraph = [
        endpoint(1, EndpointRole::Subscription, "/in"),
        endpoint(2, EndpointRole::Publisher, "/out"),
    ]
    .into_iter()
    .collect();
    let mut writer = BagWriter::create(&sandbox.path("wild"), BagOptions::default()).unwrap();
    assert!(writer.update_graph(&graph).is_ok());
    for (second, name) in [(1, "/in"), (2, "/out")] {
        let mut info = TopicInfo::new(name, schema.name().to_string());
        info.definition = MessageDefinition {
            encoding: "ros2msg".into(),
            text: schema.ros2msg().unwrap(),
        };
        let topic = writer.add_topic(&info).unwrap();
        let message = Message {
            topic,
            log_time_ns: second * 1_000_000_000,
            publish_time_ns: second * 1_000_000_000,
            sequence: 0,
            data: &schema.encode(&schema.default_value().unwrap()).unwrap(),
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    assert!(writer.finish().unwrap().1.is_ok());
    for arguments in ["trace report wild", "trace path wild", "info -v wild"] {
        let run = sandbox.run(arguments);
        let all = format!("{}{}", run.stdout, run.stderr);
        assert!(!all.contains(['\u{1b}', '\u{9b}']), "{arguments}\n{all:?}");
    }
    let path = sandbox.ok("trace path wild");
    assert!(path.contains("31mnode\\x1b[2J"), "{path}");
}
