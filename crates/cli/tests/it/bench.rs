//! `timeloom bench` without a network: loads that go straight to a recorder, and comparisons.

use serde_json::Value;

use crate::support::Sandbox;

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

/// A bag of that load, and its ledger.
fn recorded(storage: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("producers.yaml", PRODUCERS);
    let load = "bench load producers.yaml --without-transport bag --format json -s";
    let ledger = sandbox.ok(&format!("{load} {storage}"));
    sandbox.write("ledger.json", ledger);
    sandbox
}

#[test]
fn a_load_without_transport_is_whole_in_every_storage() {
    for storage in ["mcap", "sqlite3"] {
        let sandbox = recorded(storage);
        let checked = sandbox.ok("bench verify bag --ledger ledger.json --format json");
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
fn what_is_missing_is_loss_and_what_is_not_accounted_for_is_a_fault() {
    let sandbox = recorded("mcap");
    sandbox.ok("convert bag -o part --exclude-topics /imu_1");
    let run = sandbox.run("bench verify part --ledger ledger.json");
    assert_eq!(run.code, 3, "{run}");
    let more = std::fs::read_to_string(sandbox.path("ledger.json")).unwrap();
    let changed = more.replacen("\"published\": 50", "\"published\": 51", 1);
    assert_ne!(more, changed);
    sandbox.write("more.json", changed);
    let run = sandbox.run("bench verify bag --ledger more.json");
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("1 topic with messages"), "{run}");
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
fn a_changed_byte_is_a_fault() {
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
    let run = sandbox.run("bench verify bag --format json");
    assert_eq!(run.code, 1, "{run}");
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["topics"]["/picture_1"]["damaged"], 10, "{found:#}");
    assert_eq!(found["total"]["damaged"], 10);
}

#[test]
fn a_bag_without_a_load_is_not_well() {
    let run = Sandbox::new().run("bench verify BAGS/mcap_plain");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr.contains("no message of `timeloom bench load`"),
        "{run}"
    );
}

#[test]
fn a_comparison_names_what_is_not_installed() {
    let sandbox = Sandbox::new();
    let rows = sandbox.ok("bench --only slice --rounds 1 --scale 0.01 --work . --format json");
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
fn with_python_the_others_find_the_same() {
    let Some(python) = crate::record_robot::python() else {
        return;
    };
    let mut sandbox = Sandbox::new();
    sandbox.set("TIMELOOM_PYTHON", &python.display().to_string());
    for only in ["write.mcap.s", "read", "info", "slice", "decode", "convert"] {
        let rows = sandbox.ok(&format!(
            "bench --only {only} --rounds 1 --scale 0.005 --work . --format json"
        ));
        let rows: Value = serde_json::from_str(&rows).unwrap();
        let mut rows = rows.as_array().unwrap().iter();
        let rosbags = rows.find(|row| row["other"] == "rosbags (PyPI)").unwrap();
        assert!(rosbags["ratio"].as_f64().unwrap() > 0.0, "{rosbags}");
    }
}
