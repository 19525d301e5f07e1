//! Lineage on a real wire: our tracked nodes, nodes of TILDE played by a foreign peer, the recorder and `trace`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value as Json, json};
use timeloom_bag::{BagReader, EndpointRole, StorageReader as _};
use timeloom_msg::{QosProfile, Value};
use timeloom_node::{NodeOptions, RosNode, TrackedNode, TrackedPublisher, TrackedSubscription};
use timeloom_time::{Clock, Duration, Steady};
use timeloom_trace::MessageTrackingTag;

use crate::foreign::python;
use crate::live_node::until;
use crate::robot::{Robot, participant};
use crate::trace_peer::Helper;

const HEADER: &str = "std_msgs/msg/Header";

/// The tag of `NodeC` in the specification's sample, computed by hand in `crates/trace/tests/it/wire.rs`.
const NODE_C: &str = "00010000\
    0600000000000000 0100000000000000 08000000746f7069635f6300 060000004e6f646543000000 0000000000000000\
    0600000000000000 1000000000000000 010000000500000000000000 02000000\
    08000000746f7069635f6100 0200000000000000 0c00000000000000 010000000100000000000000\
    08000000746f7069635f6200 0400000000000000 0e00000000000000 010000000300000000000000";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).unwrap());
    pairs
        .map(|pair| u8::from_str_radix(pair, 16).unwrap())
        .collect()
}

fn tracked(robot: &Robot, name: &str) -> TrackedNode {
    let participant = Arc::new(participant(robot.domain));
    TrackedNode::new(RosNode::new(participant, NodeOptions::new(name)).unwrap()).unwrap()
}

fn stamped(publisher: &TrackedPublisher, nanos: i64) -> Value {
    let mut message = publisher.message().unwrap();
    let second = 1_000_000_000;
    let sec = i32::try_from(nanos / second).unwrap();
    let nanosec = u32::try_from(nanos % second).unwrap();
    message.set("stamp.sec", Value::Int32(sec)).unwrap();
    message
        .set("stamp.nanosec", Value::Uint32(nanosec))
        .unwrap();
    message
}

/// `/a` to `/b` to `/c`, and `/x` to `/c`: publishes on and on until dropped.
struct Pipeline {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
    _stages: Vec<(TrackedNode, TrackedSubscription)>,
}

fn relay(
    robot: &Robot,
    name: &str,
    from: &str,
    to: &str,
    others: &[&str],
) -> Vec<(TrackedNode, TrackedSubscription)> {
    let node = tracked(robot, name);
    let publisher = node
        .create_tracked_publisher(to, HEADER, QosProfile::DEFAULT)
        .unwrap();
    let mut stages = Vec::new();
    for other in others {
        let subscription =
            node.create_tracked_subscription(other, HEADER, QosProfile::DEFAULT, |_| {});
        stages.push((node.clone(), subscription.unwrap()));
    }
    let subscription =
        node.create_tracked_subscription(from, HEADER, QosProfile::DEFAULT, move |message| {
            publisher.publish(&message.value().unwrap()).unwrap();
        });
    stages.push((node, subscription.unwrap()));
    stages
}

impl Pipeline {
    fn start(robot: &Robot) -> Self {
        let mut stages = relay(robot, "filter", "/a", "/b", &[]);
        stages.extend(relay(robot, "fusion", "/b", "/c", &["/x"]));
        let sensor = tracked(robot, "sensor");
        let make = |topic| {
            sensor
                .create_tracked_publisher(topic, HEADER, QosProfile::DEFAULT)
                .unwrap()
        };
        let publishers = [make("/x"), make("/a")];
        let stop = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let clock = Clock::<Steady>::new();
            for number in 1.. {
                if ends.load(Ordering::Relaxed) {
                    return;
                }
                for publisher in &publishers {
                    publisher
                        .publish(&stamped(publisher, number * 1_000_000))
                        .unwrap();
                }
                let _woke = clock.sleep_for(Duration::from_millis(20));
            }
        });
        Self {
            stop,
            thread: Some(thread),
            _stages: stages,
        }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn path<'a>(report: &'a Json, topics: &[&str]) -> Option<&'a Json> {
    let targets = report["targets"].as_array()?.iter();
    let mut paths = targets
        .filter_map(|target| target["paths"].as_array())
        .flatten();
    paths.find(|path| path["topics"] == json!(topics))
}

#[test]
fn a_live_pipeline_of_tracked_nodes_is_reported() {
    let robot = Robot::new();
    let _pipeline = Pipeline::start(&robot);
    let arguments = [
        "trace",
        "live",
        "--duration",
        "2",
        "--format",
        "json",
        "--interval",
        "0.5",
    ];
    let run = robot.until(&arguments, |run| {
        let last = run.stdout.lines().last().unwrap_or_default();
        let report: Json = serde_json::from_str(last).unwrap_or_default();
        let count = |path: Option<&Json>| {
            path.and_then(|path| path["best"]["count"].as_u64())
                .unwrap_or(0)
        };
        count(path(&report, &["/a", "/b", "/c"])) > 5 && count(path(&report, &["/x", "/c"])) > 5
    });
    let report: Json = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(
        report["clocks"]["hosts"].as_array().unwrap().len(),
        1,
        "{report}"
    );
    let hops = report["hops"].as_array().unwrap();
    assert!(
        hops.iter()
            .all(|hop| hop["known_by"].as_object().unwrap().keys().eq(["tag"])),
        "{hops:?}"
    );
    let long = path(&report, &["/a", "/b", "/c"]).unwrap();
    assert_eq!(
        (
            long["suspicious"].as_u64(),
            long["steps"].as_array().unwrap().len()
        ),
        (Some(0), 2)
    );
}

#[test]
fn a_missed_deadline_is_reported_live() {
    let robot = Robot::new();
    let _pipeline = Pipeline::start(&robot);
    robot.sandbox.write(
        "plan.yaml",
        "paths: [{name: at once, from: /a, to: /c, deadline: 1ns}]",
    );
    let run = robot.until(
        &["trace", "live", "--duration", "2", "--plan", "plan.yaml"],
        |run| run.stderr.contains("deadline at once: /c arrived"),
    );
    assert!(
        run.stdout.contains("Target /c") && run.stdout.contains("Deadlines"),
        "{run}"
    );
}

#[test]
fn the_sample_of_the_specification_has_the_bytes_that_a_foreign_serialiser_gives_it() {
    let robot = Robot::new();
    let Some(python) = python() else {
        return;
    };
    let mut peer = Helper::start(&python, "tag_peer.py", &[robot.domain.to_string()]);
    let second = 1_000_000_000_u64;
    let input = |topic, received, stamp| {
        json!({"topic": topic, "received": received * second, "received_steady": (received + 10) * second,
            "stamp": stamp * second})
    };
    let output = json!({"topic": "topic_c", "node": "NodeC", "published": 6 * second,
        "published_steady": 16 * second, "stamp": 5 * second});
    let tag = json!({"output": output, "inputs": [input("topic_a", 2, 1), input("topic_b", 4, 3)]});
    let theirs = peer.ask(&json!({"do": "serialize", "tag": tag}));
    assert_eq!(bytes(theirs.as_str().unwrap()), bytes(NODE_C));
    let decoded = MessageTrackingTag::decode(&bytes(NODE_C)).unwrap();
    assert_eq!(decoded.encode(), bytes(NODE_C));
}

#[test]
fn foreign_tags_and_ours_are_one_lineage_live_and_in_a_bag() {
    let robot = Robot::new();
    let Some(python) = python() else {
        return;
    };
    let mut peer = Helper::start(&python, "tag_peer.py", &[robot.domain.to_string()]);
    for topic in ["/topic_a", "/topic_b"] {
        peer.ask(&json!({"do": "node", "topic": topic}));
    }
    peer.ask(&json!({"do": "read", "topic": "/topic_c"}));
    // NodeC of the specification: it wakes at topic_b, and takes the latest topic_a.
    let _node_c = relay(&robot, "NodeC", "/topic_b", "/topic_c", &["/topic_a"]);
    peer.ask(&json!({"do": "found", "topic": "/topic_c"}));
    let recording = robot.start(&["record", "--all-topics", "-o", "bag"]);
    for topic in ["/topic_a", "/topic_b"] {
        peer.ask(&json!({"do": "matched", "topic": topic, "messages": 2, "tags": 1}));
    }
    for number in 1..=20_i64 {
        peer.ask(&json!({"do": "publish", "topic": "/topic_a", "stamp": number * 1_000 + 1}));
        peer.ask(&json!({"do": "publish", "topic": "/topic_b", "stamp": number * 1_000 + 3}));
        // The tag of what was made of it is back before the next one: what is latest is certain.
        peer.ask(&json!({"do": "take", "topic": "/topic_c", "count": number}));
    }
    let tags = peer.ask(&json!({"do": "take", "topic": "/topic_c", "count": 20}));
    for (number, tag) in (1_i64..).zip(tags.as_array().unwrap()) {
        let output = &tag["output"];
        assert_eq!(
            (&output["topic"], &output["node"]),
            (&json!("/topic_c"), &json!("/NodeC"))
        );
        assert_eq!(
            (&output["sequence"], &output["stamp"]),
            (&json!(number - 1), &json!(number * 1_000 + 3))
        );
        let inputs = tag["inputs"].as_array().unwrap();
        let named: Vec<_> = inputs
            .iter()
            .map(|input| {
                (
                    input["topic"].as_str().unwrap(),
                    input["stamp"].as_i64().unwrap(),
                )
            })
            .collect();
        assert_eq!(named[1], ("/topic_b", number * 1_000 + 3));
        assert_eq!(named[0].0, "/topic_a");
        // Two readers, two threads: the newest /topic_a may still be on its way.
        assert!(
            [number * 1_000 + 1, number * 1_000 - 999].contains(&named[0].1),
            "{tag}"
        );
        // Cyclone's serialiser gives what it read the bytes that we give it.
        let theirs = bytes(tag["bytes"].as_str().unwrap());
        assert_eq!(
            MessageTrackingTag::decode(&theirs).unwrap().encode(),
            theirs
        );
    }
    peer.ask(&json!({"do": "acked"}));
    recording.interrupt();
    let run = recording.end();
    // The writers keep one message, as TILDE's do: on a loaded machine one may be gone before it is sent.
    assert!([0, 3].contains(&run.code), "{run}");
    check_bag(&robot);
}

/// The report of `trace` on the bag with the tags of all three nodes.
fn check_bag(robot: &Robot) {
    let report: Json =
        serde_json::from_str(&robot.sandbox.ok("trace report bag --format json")).unwrap();
    let target = &report["targets"][0];
    assert_eq!(target["topic"], "/topic_c");
    let recorded = target["messages"].as_u64().unwrap();
    assert!(
        (1..=20).contains(&recorded) && target["complete"] == target["messages"],
        "{target}"
    );
    for source in target["sources"].as_array().unwrap() {
        assert!(
            source["published"].as_u64().unwrap() >= recorded.saturating_sub(1),
            "{source}"
        );
    }
    for topic in ["/topic_a", "/topic_b"] {
        let found = path(&report, &[topic, "/topic_c"]).unwrap();
        assert!(
            found["best"]["count"].as_u64().unwrap() >= recorded.saturating_sub(1),
            "{found}"
        );
        assert_eq!(found["suspicious"], 0, "{found}");
    }
    // The nodes of TILDE do not say who they are; ours does.
    assert_eq!(report["hops"][0]["nodes"], json!(["/NodeC"]));
    assert_eq!(report["clocks"]["hosts"].as_array().unwrap().len(), 1);
    let path = robot
        .sandbox
        .ok("trace path bag --from /topic_b --to /topic_c");
    assert!(
        path.contains("/topic_b → /topic_c") && path.contains("slowest flow"),
        "{path}"
    );
    robot.sandbox.write(
        "good.yaml",
        "paths: [{from: /topic_b, to: /topic_c, latency: {max: 1min}}]",
    );
    robot.sandbox.ok("trace check good.yaml bag");
    robot.sandbox.write(
        "bad.yaml",
        "paths: [{from: /topic_b, to: /topic_c, latency: {max: 1ns}}]",
    );
    assert_eq!(robot.sandbox.run("trace check bad.yaml bag").code, 1);
    let diff = robot.sandbox.ok("trace diff bag bag");
    assert!(diff.contains("(+0 %)"), "{diff}");
    for format in ["chrome", "otlp"] {
        let text = robot
            .sandbox
            .ok(&format!("trace export bag --format {format}"));
        assert!(serde_json::from_str::<Json>(&text).is_ok(), "{text}");
    }
}

#[test]
fn the_keys_of_tildes_viewer_work_on_a_terminal() {
    let robot = Robot::new();
    let Some(python) = python() else {
        return;
    };
    let _pipeline = Pipeline::start(&robot);
    let command = robot.command(&["trace", "live", "--interval", "0.2"]);
    // The environment of the sandbox, and nothing else.
    let mut words = vec![
        "12".to_owned(),
        "120".to_owned(),
        "/usr/bin/env".to_owned(),
        "-i".to_owned(),
    ];
    let set = command
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    words.extend(set.map(|(name, value)| format!("{}={}", name.display(), value.display())));
    words.push(command.get_program().display().to_string());
    words.extend(
        command
            .get_args()
            .map(|argument| argument.display().to_string()),
    );
    let mut person = Helper::start(&python, "terminal.py", &words);
    let mut looks = |keys: &str, wanted: Json| {
        if !keys.is_empty() {
            person.ask(&json!({"do": "type", "keys": keys}));
        }
        let mut command = json!({"do": "until"});
        command
            .as_object_mut()
            .unwrap()
            .extend(wanted.as_object().unwrap().clone());
        person.ask(&command).as_str().unwrap().to_owned()
    };
    looks("", json!({"shows": "Target /c"}));
    // The last line is drawn last.
    let screen = looks("", json!({"shows": "Ctrl-C ends"}));
    assert!(screen.starts_with("Lineage of domain"), "{screen}");
    // Lines and pages.
    looks(
        "j",
        json!({"shows": "frozen", "hides": "Lineage of domain"}),
    );
    looks("k", json!({"shows": "Lineage of domain"}));
    looks("G", json!({"hides": "Target /c"}));
    looks("g", json!({"shows": "Lineage of domain"}));
    looks("\x1b[B\x1b[B", json!({"hides": "Lineage of domain"}));
    looks("\x1b[5~", json!({"shows": "Lineage of domain"}));
    // A filter, typed and applied; then everything again.
    looks("/fusion", json!({"shows": "filter: fusion_"}));
    let screen = looks(
        "\r",
        json!({"shows": "filter fusion", "hides": "Target /c"}),
    );
    assert!(
        screen.lines().next().unwrap().contains("/fusion"),
        "{screen}"
    );
    looks("q", json!({"shows": "Target /c", "hides": "filter fusion"}));
    // Ctrl-C gives the terminal back and prints the report once.
    person.ask(&json!({"do": "type", "keys": "\u{3}"}));
    let end = person.ask(&json!({"do": "end"}));
    assert_eq!(
        (&end["code"], &end["left"]),
        (&json!(0), &json!(1)),
        "{end}"
    );
    assert!(
        end["after"].as_str().unwrap().contains("Target /c"),
        "{end}"
    );
}

#[test]
fn the_recorded_graph_survives_a_kill() {
    let robot = Robot::new();
    let _talker = robot.publisher("/a", &[]);
    let recorder = robot.start(&["record", "-a", "-o", "bag"]);
    let talker = |bag: &str| {
        let mut reader = BagReader::open(&robot.sandbox.path(bag)).ok()?;
        let graph = reader.graph().ok()?;
        let mut publishers = graph.endpoints().filter(|endpoint| {
            (endpoint.topic.as_str(), endpoint.role) == ("/a", EndpointRole::Publisher)
        });
        publishers
            .find(|endpoint| !endpoint.node.is_empty())
            .cloned()
    };
    until("the graph is in the file", || talker("bag").is_some());
    recorder.signal("KILL");
    drop(recorder);
    let before = talker("bag").expect("the file was not touched");
    let run = robot.sandbox.run("recover bag");
    assert!(matches!(run.code, 0 | 3), "{run}");
    assert_eq!(talker("bag"), Some(before), "{run}");
}
