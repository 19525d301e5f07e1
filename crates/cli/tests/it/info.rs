//! `info` against the captured text of the real `ros2 bag info`, and what it shows beyond.

use std::fs;

use serde_json::Value;
use timeloom_bag::{BagOptions, BagWriter, LossCause, Message, TopicInfo};

use crate::support::{Sandbox, bags};

fn captured(kind: &str) -> Vec<(String, String)> {
    let suffix = format!(".{kind}.txt");
    let mut found = Vec::new();
    for entry in fs::read_dir(bags().join("info")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if let Some(bag) = name.strip_suffix(&suffix) {
            let text = fs::read_to_string(&path).unwrap();
            // Log lines of the real program begin with `[`.
            let text: String = text
                .lines()
                .filter(|line| !line.starts_with('['))
                .map(|line| line.to_owned() + "\n")
                .collect();
            found.push((bag.to_owned(), text));
        }
    }
    found.sort();
    found
}

/// A text of rosbag2 0.26.5 with the topics in the order of later versions: by name.
fn by_name(text: &str) -> String {
    const LABEL: &str = "Topic information: ";
    let is_topic = |line: &str| {
        line.trim_start_matches(LABEL)
            .trim_start()
            .starts_with("Topic: ")
    };
    let mut topics: Vec<&str> = text
        .lines()
        .filter(|line| is_topic(line))
        .map(|line| line.trim_start_matches(LABEL).trim_start())
        .collect();
    topics.sort_by_key(|line| line.split(" | ").next());
    let block = LABEL.to_owned() + &topics.join(&format!("\n{}", " ".repeat(LABEL.len())));
    let others = text
        .lines()
        .filter(|line| !is_topic(line) || line.starts_with(LABEL));
    let lines = others.map(|line| {
        if line.starts_with(LABEL) {
            &block
        } else {
            line
        }
    });
    lines.fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn the_text_is_that_of_ros2_bag_info() {
    let sandbox = Sandbox::new();
    let captured = captured("info");
    assert_eq!(captured.len(), 12);
    for (bag, expected) in captured {
        let copy = sandbox.copy(&bag, &bag);
        // Made by sqlite3 for a later reader: it was not there when the text was captured.
        let _not_there = fs::remove_file(copy.join(format!("{bag}_0.db3-shm")));
        let run = sandbox.run(&format!("info {bag}"));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{bag}");
        assert_eq!(run.stdout, by_name(&expected), "{bag}");
    }
}

#[test]
fn verbose_counts_requests_and_responses_as_the_real_one_does() {
    let sandbox = Sandbox::new();
    let text = sandbox.ok("info BAGS/mcap_plain -v");
    let (_, captured) = captured("info_verbose")
        .into_iter()
        .find(|(bag, _)| bag == "mcap_plain")
        .unwrap();
    // The captured version does not show sizes yet.
    let without_sizes: String = text
        .lines()
        .map(|line| match line.split_once(" | Size Contribution: ") {
            Some((head, tail)) => format!("{head} |{}\n", tail.split_once(" |").unwrap().1),
            None => format!("{line}\n"),
        })
        .collect();
    assert_eq!(without_sizes, by_name(&captured));
    assert!(
        text.contains(
            "Topic: /fix | Type: sensor_msgs/msg/NavSatFix | Count: 4 | Size Contribution: 512 B |"
        ),
        "{text}"
    );
}

#[test]
fn the_local_time_zone_counts() {
    let mut sandbox = Sandbox::new();
    sandbox.set("TZ", "JST-9");
    let text = sandbox.ok("info BAGS/mcap_plain");
    assert!(
        text.contains("Start:             Nov 15 2026 17:58:51.923572955 (1794733131.923572955)"),
        "{text}"
    );
}

#[test]
fn names_only() {
    insta::assert_snapshot!(Sandbox::new().run("info BAGS/mcap_plain -t --sort name"), @"
    exit code: 0
    ----- stdout
    /camera/image_raw
    /chatter
    /clock
    /diagnostics
    /empty
    /fix
    /imu/data
    /joint_states
    /keep_all
    /parameter_events
    /points
    /robot_description
    /scan
    /tf
    /tf_static
    ");
}

fn topics(json: &str) -> Vec<Value> {
    let info: Value = serde_json::from_str(json).unwrap();
    info["topics"].as_array().unwrap().clone()
}

#[test]
fn json_has_the_same_values() {
    let json = Sandbox::new().ok("info BAGS/mcap_split_dur --format json");
    let info: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(info["files"].as_array().unwrap().len(), 4);
    assert_eq!(
        (&info["storage_identifier"], &info["ros_distro"]),
        (&"mcap".into(), &"jazzy".into())
    );
    let sum: u64 = topics(&json)
        .iter()
        .map(|topic| topic["message_count"].as_u64().unwrap())
        .sum();
    assert_eq!(info["message_count"].as_u64(), Some(sum));
    assert_eq!(info["damage"], Value::Array(Vec::new()));
}

#[test]
fn topics_are_sorted_on_request() {
    let sandbox = Sandbox::new();
    let column = |sort: &str, key: &str| -> Vec<Value> {
        let json = sandbox.ok(&format!(
            "info BAGS/sqlite3_plain --format json --sort {sort}"
        ));
        topics(&json)
            .iter()
            .map(|topic| topic[key].clone())
            .collect()
    };
    let sizes: Vec<u64> = column("size", "size_bytes")
        .iter()
        .map(|size| size.as_u64().unwrap())
        .collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    let text = sandbox.ok("info BAGS/sqlite3_plain --sort count");
    let counts: Vec<u64> = text
        .lines()
        .filter_map(|line| {
            line.split_once(" | Count: ")?
                .1
                .split_once(' ')?
                .0
                .parse()
                .ok()
        })
        .collect();
    assert_eq!(counts.len(), 15);
    assert!(counts.is_sorted(), "{counts:?}");
    let text = sandbox.ok("info BAGS/sqlite3_plain -v");
    let service = "Service: /add_two_ints | Type: example_interfaces/srv/AddTwoInts | Request Count: 8 | Response \
                   Count: 8 | Size Contribution: 944 B | Serialization Format: cdr\n";
    assert!(text.contains(service), "{text}");
    for (sort, key) in [("name", " Topic: "), ("type", " | Type: ")] {
        let text = sandbox.ok(&format!("info BAGS/sqlite3_plain --sort {sort}"));
        let keys: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("Topic: "))
            .filter_map(|line| Some(line.split_once(key)?.1.split_once(" |")?.0))
            .collect();
        assert!(keys.len() == 15 && keys.is_sorted(), "{keys:?}");
    }
}

#[test]
fn the_storage_is_checked_when_it_is_named() {
    let sandbox = Sandbox::new();
    sandbox.ok("info BAGS/mcap_plain -s mcap");
    insta::assert_snapshot!(sandbox.run("info BAGS/mcap_plain -s sqlite3"), @"
    exit code: 1
    ----- stderr
    error: the bag is stored as mcap, not as sqlite3

    hint: omit --storage: the storage is detected
    ");
    insta::assert_snapshot!(sandbox.run("info BAGS/mcap_plain -s rosbag1"), @r#"
    exit code: 2
    ----- stderr
    error: unknown storage "rosbag1" (known: mcap, sqlite3)
    "#);
}

#[test]
fn losses_are_shown_and_need_no_reading() {
    let sandbox = Sandbox::new();
    let mut writer = BagWriter::create(&sandbox.path("lossy"), BagOptions::default()).unwrap();
    let topic = writer
        .add_topic(&TopicInfo::new("/a", "std_msgs/msg/Empty"))
        .unwrap();
    let message = Message {
        topic,
        log_time_ns: 1,
        publish_time_ns: 1,
        sequence: 0,
        data: &[0, 1, 0, 0, 0],
    };
    assert!(writer.write(&[message], 0).is_ok());
    writer.lost_in_transport(topic, 3, 0);
    writer.lost_in_recorder(topic, LossCause::Queue, 2, 0);
    assert!(writer.finish().unwrap().1.is_ok());
    let text = sandbox.ok("info lossy -v");
    let line = "Topic: /a | Type: std_msgs/msg/Empty | Count: 1 | Size Contribution: 5 B | Serialization Format: cdr | Lost in Transport: 3 | Lost in Recorder: 2";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_single_file_is_a_bag() {
    let text = Sandbox::new().ok("info BAGS/mcap_split_dur/mcap_split_dur_1.mcap");
    assert!(
        text.contains("/mcap_split_dur/mcap_split_dur_1.mcap\n"),
        "{text}"
    );
}

#[test]
fn a_cut_file_is_shown_with_its_damage() {
    let sandbox = Sandbox::new();
    let bag = sandbox.copy("mcap_services_only", "cut");
    let file = fs::File::options()
        .write(true)
        .open(bag.join("mcap_services_only_0.mcap"))
        .unwrap();
    file.set_len(3000).unwrap();
    insta::assert_snapshot!(sandbox.run("info cut"), @"
    exit code: 3
    ----- stdout

    Files:             mcap_services_only_0.mcap
    Bag size:          4.7 KiB
    Storage id:        mcap
    ROS Distro:        jazzy
    Duration:          2.000792926s
    Start:             Nov 15 2026 08:59:50.450188753 (1794733190.450188753)
    End:               Nov 15 2026 08:59:52.450981679 (1794733192.450981679)
    Messages:          0
    Topic information: 
    Service:           1
    Service information: Service: /add_two_ints | Type: example_interfaces/srv/AddTwoInts | Event Count: 12 | Serialization Format: cdr
    Damage:            mcap_services_only_0.mcap: the file has no end: it was cut off or never closed
                       mcap_services_only_0.mcap: 71 bytes at byte 2929 are no MCAP records

    ----- stderr

    hint: run `timeloom recover cut` to restore its messages
    ");
    let run = sandbox.run("info cut --format json");
    let info: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, info["damage"].as_array().unwrap().len()), (3, 2));
}

#[test]
fn a_directory_without_metadata_is_shown_and_loses_nothing() {
    let sandbox = Sandbox::new();
    let bag = sandbox.copy("mcap_services_only", "bare");
    fs::remove_file(bag.join("metadata.yaml")).unwrap();
    insta::assert_snapshot!(sandbox.run("info bare"), @"
    exit code: 0
    ----- stdout

    Files:             mcap_services_only_0.mcap
    Bag size:          5.9 KiB
    Storage id:        mcap
    ROS Distro:        jazzy
    Duration:          2.000792926s
    Start:             Nov 15 2026 08:59:50.450188753 (1794733190.450188753)
    End:               Nov 15 2026 08:59:52.450981679 (1794733192.450981679)
    Messages:          0
    Topic information: 
    Service:           1
    Service information: Service: /add_two_ints | Type: example_interfaces/srv/AddTwoInts | Event Count: 12 | Serialization Format: cdr
    Damage:            metadata.yaml is missing

    ----- stderr

    hint: run `timeloom reindex bare` to rebuild metadata.yaml
    ");
}
