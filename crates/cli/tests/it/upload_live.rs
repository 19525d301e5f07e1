//! `timeloom record --upload` and `upload --follow` beside a recording.

use serde_json::json;
use timeloom_testkit::until;

use crate::record_robot::{Recording, Robot};
use crate::s3::S3;
use crate::upload_proxy::{Proxy, bucket_for};

/// A robot that knows a server over a bad network.
fn world() -> Option<(S3, Proxy, Robot)> {
    let mut robot = Robot::new()?;
    let (s3, proxy) = bucket_for(&mut robot.sandbox)?;
    robot.ask(&json!({"do": "writer", "name": "a", "topic": "/a", "reliable": true}));
    Some((s3, proxy, robot))
}

#[test]
fn files_are_uploaded_as_they_are_closed_and_the_network_costs_no_message() {
    let Some((_s3, proxy, mut robot)) = world() else {
        return;
    };
    // Down at first: the recorder goes on.
    proxy.set(|faults| faults.refuse = true);
    let recording = robot.record(
        "--topics /a -o bag --max-bag-size 20000 --upload s3://robots/r2 --delete-uploaded --index-uploaded",
    );
    robot.matched("a");
    robot.ask(&json!({"do": "publish", "name": "a", "count": 1000, "rate": 2000.0}));
    let bag = robot.sandbox.path("bag");
    until("files are closed", || bag.join("bag_2.mcap").is_file());
    assert!(bag.join("bag_0.mcap").is_file(), "nothing has arrived");
    proxy.set(|faults| faults.refuse = false);
    until("the first file has arrived", || {
        !bag.join("bag_0.mcap").exists()
    });
    robot.ask(&json!({"do": "publish", "name": "a", "count": 1000, "rate": 2000.0}));
    robot.ask(&json!({"do": "acked", "name": "a"}));
    let run = recording.interrupt();
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("uploaded s3://robots/r2/bag"), "{run}");
    assert!(!bag.exists(), "{run}");
    let info = robot.sandbox.ok("info --format json s3://robots/r2/bag");
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["message_count"], json!(2000), "{info}");
    if cfg!(feature = "query") {
        // The recorder has entered it into the catalogue: nothing is left to open.
        let index = robot.sandbox.ok("index s3://robots/r2 --format json");
        let index: serde_json::Value = serde_json::from_str(&index).unwrap();
        assert_eq!(
            (&index["unchanged"], &index["opened"]),
            (&json!(1), &json!(0)),
            "{index}"
        );
    }
}

#[cfg(feature = "query")]
#[test]
fn a_catalogue_that_cannot_be_written_is_counted_and_fails_neither_recording_nor_upload() {
    let Some((_s3, proxy, mut robot)) = world() else {
        return;
    };
    let catalog = "PUT /robots/r2/timeloom_catalog.parquet".to_owned();
    proxy.set(|faults| faults.refuse_request = Some(catalog));
    let recording = robot
        .record("--topics /a -o bag --upload s3://robots/r2 --delete-uploaded --index-uploaded");
    robot.matched("a");
    robot.ask(&json!({"do": "publish", "name": "a", "count": 10, "rate": 1000.0}));
    robot.ask(&json!({"do": "acked", "name": "a"}));
    let run = recording.interrupt();
    assert_eq!(run.code, 0, "{run}");
    assert!(
        run.stderr
            .contains("s3://robots/r2/bag is not in the catalogue: "),
        "{run}"
    );
    assert!(
        run.stderr.contains("not in the catalogue: 1 uploaded bag"),
        "{run}"
    );
    assert!(!robot.sandbox.path("bag").exists(), "{run}");
    assert_eq!(
        robot.sandbox.ok("cat s3://robots/r2/bag").lines().count(),
        10
    );
}

#[test]
fn a_recording_with_a_failed_upload_is_whole_and_lists_missing_files() {
    let Some((_s3, proxy, mut robot)) = world() else {
        return;
    };
    let recording = robot.record("--topics /a -o bag --upload s3://no-such-bucket/r2");
    robot.matched("a");
    robot.ask(&json!({"do": "publish", "name": "a", "count": 10, "rate": 1000.0}));
    robot.ask(&json!({"do": "acked", "name": "a"}));
    let run = recording.interrupt();
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("not uploaded: 1 file"), "{run}");
    assert!(run.stderr.contains("timeloom upload"), "{run}");
    assert_eq!(proxy.count("bag_0.mcap HTTP"), 1, "{run}");
    robot.sandbox.ok("upload bag --to s3://robots/r2");
    let there = robot.sandbox.ok("cat s3://robots/r2/bag");
    assert_eq!(there.lines().count(), 10);
}

#[test]
fn another_process_follows_the_recordings_of_a_directory() {
    let Some((_s3, _proxy, mut robot)) = world() else {
        return;
    };
    std::fs::create_dir(robot.sandbox.path("data")).unwrap();
    let mut command = robot
        .sandbox
        .command("upload data --to s3://robots/r2 --follow --delete");
    let follower = Recording::start(&mut command);
    for name in ["one", "two"] {
        let recording = robot.record(&format!("--topics /a -o data/{name}"));
        robot.matched("a");
        robot.ask(&json!({"do": "publish", "name": "a", "count": 10, "rate": 1000.0}));
        robot.ask(&json!({"do": "acked", "name": "a"}));
        let run = recording.interrupt();
        assert_eq!(run.code, 0, "{run}");
        let bag = robot.sandbox.path("data").join(name);
        until("the bag has arrived", || !bag.exists());
    }
    let run = follower.interrupt();
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("uploaded s3://robots/r2/two"), "{run}");
    for name in ["one", "two"] {
        let there = robot.sandbox.ok(&format!("cat s3://robots/r2/{name}"));
        assert_eq!(there.lines().count(), 10);
    }
}
