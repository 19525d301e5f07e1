//! `timeloom doctor`: what it says of bags that are well and of bags that are not.

use std::fs;

use insta::assert_snapshot;
use timeloom_bag::mcap::{McapOptions, McapWriter};
use timeloom_bag::storage::StorageWriter as _;

use crate::support::Sandbox;

#[test]
fn a_bag_that_is_well() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run("doctor bag BAGS/mcap_plain"), @"
    exit code: 0
    ----- stdout
    Bag: mcap, 1 file, recorded by jazzy
    Read: 474 messages of 16 topics, 474 decoded
    No problem found
    ");
}

#[test]
fn every_golden_bag_is_well() {
    let sandbox = Sandbox::new();
    for bag in [
        "fastrtps_mcap",
        "mcap_msg_zstd",
        "mcap_split_dur",
        "sqlite3_file_zstd",
    ] {
        let text = sandbox.ok(&format!("doctor bag BAGS/{bag} --format json"));
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report["problems"], serde_json::json!([]), "{bag}");
        assert_eq!(report["undecoded"], 0, "{bag}");
    }
}

#[test]
fn simulated_time_is_not_reported_as_a_wrong_clock() {
    let sandbox = Sandbox::new();
    let text = sandbox.ok("doctor bag BAGS/mcap_simtime");
    assert!(!text.contains("before they were sent"), "{text}");
}

#[test]
fn a_truncated_bag_is_reported_with_the_remedy() {
    let sandbox = Sandbox::new();
    let cut = sandbox.copy("mcap_plain", "cut").join("mcap_plain_0.mcap");
    let file = fs::File::options().write(true).open(cut).unwrap();
    file.set_len(200_000).unwrap();
    let run = sandbox.run("doctor bag cut");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stdout.contains("Remedy: run `timeloom recover cut`"),
        "{run}"
    );
    assert!(run.stdout.contains(": the bag claims "), "{run}");
}

#[test]
fn undecodable_payloads_are_reported() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("odd.mcap");
    let mut writer = McapWriter::create(&path, McapOptions::default(), None).unwrap();
    let topic = timeloom_bag::TopicInfo::new("/text", "std_msgs/msg/String");
    let topic = writer.add_topic(&topic).unwrap();
    let message = |data| timeloom_bag::Message {
        topic,
        log_time_ns: 1_000_000_000,
        publish_time_ns: 1_000_000_000,
        sequence: 1,
        data,
    };
    let good = [0, 1, 0, 0, 2, 0, 0, 0, b'a', 0];
    // A length that the payload does not have.
    let bad = [0, 1, 0, 0, 9, 0, 0, 0, b'a', 0];
    let outcome = writer.write(&[message(&good), message(&bad)], 0);
    assert!(outcome.is_ok(), "{outcome:?}");
    let (_, outcome) = Box::new(writer).finish(&mut |_| timeloom_bag::BagMetadata::default());
    assert!(outcome.is_ok(), "{outcome:?}");
    let run = sandbox.run("doctor bag odd.mcap");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stdout
            .contains("/text: 1 of 2 messages cannot be decoded"),
        "{run}"
    );
    assert!(
        run.stdout
            .contains("Advice: /text: the bag does not say its QoS"),
        "{run}"
    );
}

#[test]
fn this_machine_is_described() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("doctor --format json");
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert!(report["disk_free"].as_u64().is_some(), "{report}");
    let wrong = report["problems"].as_array().unwrap().len();
    assert_eq!(run.code, i32::from(wrong > 0), "{run}");
    let run = sandbox.run("doctor my_bag");
    assert_eq!(run.code, 2, "{run}");
}
