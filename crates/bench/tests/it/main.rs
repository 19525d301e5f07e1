//! The real binary: loads that go straight to a recorder, their verification, and comparisons.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod live;

use std::path::Path;

use serde_json::Value;
use timeloom_bag::BagOptions;
use timeloom_bag::convert::{ConvertOutput, OnDamage};
use timeloom_testkit::{Sandbox, golden_bags, python};

/// The binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_timeloom-bench");

/// Every kind of message, few of each.
pub(crate) const PRODUCERS: &str = "
node:
  ros__parameters:
    publishers:
      publisher_groups: [bytes, pictures, clouds, imu]
      number_of_threads: 2
      bytes: {publishers_count: 3, topic_root: bytes, msg_size_bytes: 100, msg_count_each: 100, rate_hz: 1000}
      pictures: {publishers_count: 1, topic_root: picture, msg_type: Image, msg_size_bytes: 70001, msg_count_each: 10,
        rate_hz: 100}
      clouds: {publishers_count: 1, topic_root: cloud, msg_type: 'sensor_msgs::msg::PointCloud2', msg_size_bytes: 3200,
        msg_count_each: 10, rate_hz: 100}
      imu: {publishers_count: 1, topic_root: imu, msg_type: 'sensor_msgs::msg::Imu', msg_count_each: 50, rate_hz: 500}
";

fn without_imu(bag: &Path, part: &Path) {
    let output = ConvertOutput {
        topics: Box::new(|topic, _| topic.name != "/imu_1"),
        ..ConvertOutput::new(part, BagOptions::default())
    };
    timeloom_bag::convert(&[bag], vec![output], OnDamage::Fail, &mut |_| {}).unwrap();
}

/// A bag of that load, and its ledger.
fn recorded(storage: &str) -> Sandbox {
    let sandbox = Sandbox::new(BINARY);
    sandbox.write("producers.yaml", PRODUCERS);
    let load = "load producers.yaml --without-transport bag --format json -s";
    let ledger = sandbox.ok(&format!("{load} {storage}"));
    sandbox.write("ledger.json", ledger);
    sandbox
}

#[test]
fn a_load_without_transport_is_complete_in_every_storage() {
    for storage in ["mcap", "sqlite3"] {
        let sandbox = recorded(storage);
        let checked = sandbox.ok("verify bag --ledger ledger.json --format json");
        let checked: Value = serde_json::from_str(&checked).unwrap();
        assert_eq!(checked["total"]["recorded"], 370, "{checked:#}");
        for (topic, count) in [("/bytes_3", 100), ("/picture_1", 10), ("/imu_1", 50)] {
            let found = &checked["topics"][topic];
            assert_eq!(found["published"], count, "{topic}: {found}");
            assert_eq!(found["recorded"], count, "{topic}: {found}");
            assert_eq!((&found["first"], &found["damaged"]), (&0.into(), &0.into()));
            assert_eq!(found["unexplained"], 0, "{topic}: {found}");
        }
    }
}

#[test]
fn missing_messages_exit_with_3_and_unaccounted_ones_with_1() {
    let sandbox = recorded("mcap");
    without_imu(&sandbox.path("bag"), &sandbox.path("part"));
    let run = sandbox.run("verify part --ledger ledger.json");
    assert_eq!(run.code, 3, "{run}");
    let more = std::fs::read_to_string(sandbox.path("ledger.json")).unwrap();
    let changed = more.replacen("\"published\": 50", "\"published\": 51", 1);
    assert_ne!(more, changed);
    sandbox.write("more.json", changed);
    let run = sandbox.run("verify bag --ledger more.json");
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("messages of 1 topics"), "{run}");
}

/// The bytes of a topic, as the load makes them.
fn noise(topic: &str, size: usize) -> Vec<u8> {
    let mut state = topic.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    }) | 1;
    let mut bytes = Vec::new();
    while bytes.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(size);
    bytes
}

#[test]
fn a_changed_byte_is_reported_as_damage() {
    let sandbox = recorded("sqlite3");
    let file = sandbox.path("bag/bag_0.db3");
    let mut bytes = std::fs::read(&file).unwrap();
    // A place well inside of every picture; sqlite leaves stale copies about, so the first alone may be none.
    let needle = &noise("/picture_1", 8000)[7990..];
    let is_there = |at: &usize| bytes[*at..].starts_with(needle);
    let places: Vec<usize> = (0..bytes.len()).filter(is_there).collect();
    for place in places {
        bytes[place + 3] ^= 1;
    }
    std::fs::write(&file, bytes).unwrap();
    let run = sandbox.run("verify bag --format json");
    assert_eq!(run.code, 1, "{run}");
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["topics"]["/picture_1"]["damaged"], 10, "{found:#}");
    assert_eq!(found["total"]["damaged"], 10);
}

#[test]
fn a_bag_without_a_load_is_an_error() {
    let run = Sandbox::new(BINARY).run(&format!(
        "verify {}",
        golden_bags().join("mcap_plain").display()
    ));
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr.contains("no messages of `timeloom-bench load`"),
        "{run}"
    );
}

#[test]
fn a_comparison_lists_tools_that_are_not_installed() {
    let sandbox = Sandbox::new(BINARY);
    let rows = sandbox.ok("--only slice --rounds 1 --scale 0.01 --work . --format json");
    let rows: Value = serde_json::from_str(&rows).unwrap();
    let row = |other: &str| {
        let mut rows = rows.as_array().unwrap().iter();
        rows.find(|row| row["other"] == other).unwrap().clone()
    };
    let rosbags = row("rosbags (PyPI)");
    assert!(rosbags["ours"].as_f64().unwrap() > 0.0, "{rosbags}");
    assert_eq!(rosbags["missing"], "not installed");
    assert_eq!(rosbags["ratio"], Value::Null);
    let left: Vec<_> = std::fs::read_dir(sandbox.path(".")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn python_tools_agree_on_the_answers() {
    let Some(python) = python() else {
        return;
    };
    let mut sandbox = Sandbox::new(BINARY);
    sandbox.set("TIMELOOM_PYTHON", python.to_str().unwrap());
    for only in ["write.mcap.s", "read", "info", "slice", "decode", "convert"] {
        let rows = sandbox.ok(&format!(
            "--only {only} --rounds 1 --scale 0.005 --work . --format json"
        ));
        let rows: Value = serde_json::from_str(&rows).unwrap();
        let mut rows = rows.as_array().unwrap().iter();
        let rosbags = rows.find(|row| row["other"] == "rosbags (PyPI)").unwrap();
        assert!(rosbags["ratio"].as_f64().unwrap() > 0.0, "{rosbags}");
    }
}
