//! The flags of `record` that decide what is written, over DDS with publishers that are not ours.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;
use timeloom_bag::metadata::read_metadata_file;
use timeloom_bag::{HOST_CLOCK_KEY, HostClockRecord};
use timeloom_msg::QosProfile;
use timeloom_msg::qos::Durability;
use timeloom_node::{NodeOptions, RosNode};

use crate::record_robot::{Recording, Robot, numbers, statistics, until};
use crate::robot::participant;
use crate::support::Run;

/// Number of messages of each topic in a bag.
fn counts(bag: &Path) -> BTreeMap<String, u64> {
    let metadata = read_metadata_file(bag).unwrap();
    let topics = metadata.topics.iter();
    topics
        .map(|record| (record.topic.name.clone(), record.message_count))
        .collect()
}

fn writers(robot: &mut Robot, topics: &[&str]) {
    for topic in topics {
        robot.ask(&json!({"do": "writer", "name": topic, "topic": topic}));
    }
}

/// Publishes on all topics and waits until a reader has everything.
fn publish(robot: &mut Robot, topics: &[&str], count: u64) {
    for topic in topics {
        robot.ask(&json!({"do": "publish", "name": topic, "count": count, "rate": 1000.0}));
        robot.ask(&json!({"do": "acked", "name": topic}));
    }
}

#[test]
fn parameters_of_rosbag2_record_as_flags_do_and_flags_count_more() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    let parameters = "rosbag2_recorder:
  ros__parameters:
    use_sim_time: false
    record:
      topics: [/a, /b]
      topic_polling_interval: {sec: 0, nsec: 10000000}
      exclude_topics: [\"\"]
      compression_mode: \"\"
      statistics_max_publishing_rate: 2
      topic_throttle_frequency: [\"/b=1\"]
    storage:
      uri: from_file
      storage_id: sqlite3
      custom_data: [operator=ana, site=north]
      max_bagfile_size: 0
      max_bagfile_duration: 60
      max_cache_size: 1000000
";
    robot.sandbox.write("recorder.yaml", parameters);
    writers(&mut robot, &["/a", "/b", "/c"]);
    let recording = robot.record("--params-file recorder.yaml --custom-data operator=eva");
    for topic in ["/a", "/b"] {
        robot.matched(topic);
    }
    publish(&mut robot, &["/a", "/b", "/c"], 100);
    let run = recording.interrupt();
    assert_eq!(run.code, 0, "{run}");
    let bag = robot.sandbox.path("from_file");
    let found = counts(&bag);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["/a", "/b"], "{run}");
    assert_eq!((found["/a"], found["/b"]), (100, 1), "{run}");
    let metadata = read_metadata_file(&bag).unwrap();
    assert_eq!(metadata.storage_identifier, "sqlite3");
    let (host, own): (Vec<_>, Vec<_>) = metadata
        .custom_data
        .into_iter()
        .filter(|(key, _)| key != timeloom_bag::ENVIRONMENT_KEY)
        .partition(|(key, _)| key == HOST_CLOCK_KEY);
    let operator = [("operator".to_owned(), "eva".to_owned())];
    assert_eq!(own, operator, "the flag's alone");
    // And how the clock of this host was.
    let records = HostClockRecord::parse_all(&host[0].1);
    assert_eq!(records[0].reason, "start", "{host:?}");
    assert!(records[0].system_ns > 1_577_836_800_000_000_000);
    let info = robot.sandbox.ok("info from_file -v");
    assert!(info.contains("\nHost clock: "), "{info}");
    assert!(run.stderr.contains("left out (throttled 99)"), "{run}");
}

#[test]
fn selections_record_the_named_topics() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    let topics = ["/front/image", "/front/info", "/rear/image", "/_hidden"];
    writers(&mut robot, &topics);
    robot.sandbox.write(
        "static.yaml",
        "static_topics_and_types_list:\n  - [/later, std_msgs/msg/String]\n",
    );
    let regex = robot.record("-e ^/front --exclude-regex info$ -o regex --node-name one");
    let hidden = robot.record(
        "--topic-types std_msgs/msg/String --include-hidden-topics --exclude-topics /rear/image -o hidden --node-name two",
    );
    let fixed = robot.record("--static-topics-path static.yaml -o fixed --node-name three");
    for (topic, count) in [("/front/image", 2), ("/front/info", 1), ("/_hidden", 1)] {
        robot.ask(&json!({"do": "matched", "name": topic, "count": count}));
    }
    publish(&mut robot, &topics, 10);
    writers(&mut robot, &["/later"]);
    robot.ask(&json!({"do": "matched", "name": "/later", "count": 2}));
    // The publisher knows both subscriptions; they need a moment to know the publisher.
    robot.ask(&json!({"do": "sleep", "seconds": 0.3}));
    publish(&mut robot, &["/later"], 5);
    robot.ask(&json!({"do": "sleep", "seconds": 0.3}));
    let expected = [
        (regex, "regex", vec![("/front/image", 10)]),
        (
            hidden,
            "hidden",
            vec![
                ("/_hidden", 10),
                ("/front/image", 10),
                ("/front/info", 10),
                ("/later", 5),
            ],
        ),
        (fixed, "fixed", vec![("/later", 5)]),
    ];
    for (recording, bag, expected) in expected {
        let run = recording.interrupt();
        let found = counts(&robot.sandbox.path(bag));
        let found: Vec<_> = found.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        assert_eq!(found, expected, "{bag}\n{run}");
        assert_eq!(run.code, 0, "{run}");
    }
}

#[test]
fn lineage_is_recorded_with_everything_else() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    let node = RosNode::new(
        Arc::new(participant(robot.domain)),
        NodeOptions::new("tracker"),
    );
    let node = node.unwrap();
    let tag = "tilde_msg/msg/MessageTrackingTag";
    // Latched, so that it is there whenever the recorder comes.
    let latched = QosProfile {
        durability: Durability::TransientLocal,
        ..QosProfile::DEFAULT
    };
    let tags = node.publisher("/scan/message_tracking_tag", tag, latched);
    let tags = tags.unwrap();
    writers(&mut robot, &["/cmd", "/scan"]);
    let recording = robot.record("--topics /cmd --trace -o bag");
    robot.matched("/cmd");
    publish(&mut robot, &["/cmd", "/scan"], 3);
    tags.publish(&tags.message().unwrap()).unwrap();
    let bag = robot.sandbox.path("bag");
    robot.ask(&json!({"do": "sleep", "seconds": 0.5}));
    let run = recording.interrupt();
    assert_eq!(run.code, 0, "{run}");
    let found = counts(&bag);
    assert_eq!(found["/cmd"], 3, "{run}");
    assert_eq!(found["/scan/message_tracking_tag"], 1, "{run}");
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn the_recording_ends_at_a_limit_and_prints_the_reason() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    writers(&mut robot, &["/a"]);
    let messages =
        robot.record("--topics /a --max-recording-messages 42 -o messages --node-name one");
    let size = robot.record("--topics /a --max-recording-size 20kB -o size --node-name two");
    // More than any disk has.
    let disk = robot.record("--topics /a --min-free-space-percent 99 -o disk --node-name three");
    let ended = |recording: Recording, reason: &str| -> Run {
        let run = recording.end();
        assert!(run.stderr.contains(&format!("ended: {reason}")), "{run}");
        run
    };
    let run = ended(disk, "the disk is nearly full");
    assert!(run.stderr.contains("low disk space"), "{run}");
    robot.ask(&json!({"do": "matched", "name": "/a", "count": 2}));
    robot.ask(&json!({"do": "start", "name": "/a", "rate": 2000.0}));
    let run = ended(messages, "the maximum number of messages is reached");
    assert_eq!(run.code, 0, "{run}");
    ended(size, "the maximum size is reached");
    robot.ask(&json!({"do": "stop", "name": "/a"}));
    let bag = robot.sandbox.path("messages");
    assert_eq!(statistics(&bag, "/a").messages_recorded, 42);
    assert_eq!(numbers(&bag, "/a")["/a"].len(), 42);
    let written = statistics(&robot.sandbox.path("size"), "/a").messages_recorded;
    assert!(written > 42, "{written}");
}

#[test]
fn keys_pause_and_split_and_a_table_is_shown() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    writers(&mut robot, &["/a"]);
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap().into_string().unwrap();
    let terminal = || {
        fs::File::options()
            .read(true)
            .write(true)
            .open(&name)
            .unwrap()
    };
    let plain = robot
        .sandbox
        .command("record --topics /a -o bag --localhost");
    let mut command = Command::new("setsid");
    command
        .args(["--ctty", "--wait"])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(robot.sandbox.path(""))
        .env("ROS_DOMAIN_ID", robot.domain.to_string())
        .stdin(terminal())
        .stdout(Stdio::null())
        .stderr(terminal());
    let mut recording = command.spawn().unwrap();
    // It holds the terminal, which closes when its last holder ends.
    drop(command);
    let mut person = fs::File::from(person);
    let mut reader = person.try_clone().unwrap();
    let shown = std::thread::spawn(move || {
        let mut shown = Vec::new();
        // The end of a terminal is an error.
        let _ended = std::io::copy(&mut reader, &mut shown);
        String::from_utf8_lossy(&shown).into_owned()
    });
    robot.matched("/a");
    publish(&mut robot, &["/a"], 10);
    person.write_all(b"s").unwrap();
    let bag = robot.sandbox.path("bag");
    until(|| bag.join("bag_1.mcap").exists());
    let paused = |robot: &Robot| {
        robot.sandbox.run(
            "service call /rosbag2_recorder/is_paused rosbag2_interfaces/srv/IsPaused --timeout 60 --localhost",
        )
    };
    person.write_all(b" ").unwrap();
    until(|| paused(&robot).stdout.contains("true"));
    publish(&mut robot, &["/a"], 7);
    person.write_all(b" ").unwrap();
    until(|| paused(&robot).stdout.contains("false"));
    publish(&mut robot, &["/a"], 5);
    robot.ask(&json!({"do": "sleep", "seconds": 1.0}));
    // Ctrl-C, as a person types it.
    person.write_all(&[3]).unwrap();
    assert!(recording.wait().unwrap().success());
    drop(person);
    let shown = shown.join().unwrap();
    assert_eq!(statistics(&bag, "/a").messages_recorded, 15, "{shown}");
    let files = read_metadata_file(&bag).unwrap().files;
    let per_file: Vec<u64> = files.iter().map(|file| file.message_count).collect();
    assert_eq!(per_file, [10, 5], "{shown}");
    for part in [
        "keys: space pauses",
        "lost in transport",
        "lost in recorder",
        "paused 00:",
        "left out (paused 7)",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}
