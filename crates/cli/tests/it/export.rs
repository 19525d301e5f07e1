//! CSV and JSON lines.

use std::fs;

use serde_json::Value;
use timeloom_bag::{BagOptions, BagWriter, Message, TopicInfo};

use crate::support::Sandbox;

#[test]
fn csv_has_one_file_per_topic() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("convert BAGS/sqlite3_plain -o tables --format csv"), @"
    exit code: 0
    ----- stderr
    wrote tables: 374 messages in 15 files
    ");
    let mut names: Vec<String> = fs::read_dir(sandbox.path("tables"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    insta::assert_snapshot!(names.join("\n"), @"
    add_two_ints___service_event.csv
    camera__image_raw.csv
    chatter.csv
    clock.csv
    diagnostics.csv
    empty.csv
    fix.csv
    imu__data.csv
    joint_states.csv
    keep_all.csv
    points.csv
    robot_description.csv
    scan.csv
    tf.csv
    tf_static.csv
    ");
    let table =
        |name: &str| fs::read_to_string(sandbox.path(&format!("tables/{name}.csv"))).unwrap();
    let head = |name: &str, count: usize| {
        table(name)
            .lines()
            .take(count)
            .collect::<Vec<_>>()
            .join("\n")
    };
    insta::assert_snapshot!(head("chatter", 3), @"
    log_time,publish_time,data
    1794733215334344559,1794733215334344559,Hello World: 20
    1794733215436239214,1794733215436239214,Hello World: 21
    ");
    insta::assert_snapshot!(head("joint_states", 3), @r#"
    log_time,publish_time,header.stamp.sec,header.stamp.nanosec,header.frame_id,name,position,velocity,effort
    1794733215335334669,1794733215335334669,1794733215,333687186,,"[""a"",""b""]","[10.0,-10.0]",[],[]
    1794733215436305097,1794733215436305097,1794733215,434018594,,"[""a"",""b""]","[10.5,-10.5]",[],[]
    "#);
    insta::assert_snapshot!(head("fix", 5), @"
    log_time,publish_time,header.stamp.sec,header.stamp.nanosec,header.frame_id,status.status,status.service,latitude,longitude,altitude,position_covariance[0],position_covariance[1],position_covariance[2],position_covariance[3],position_covariance[4],position_covariance[5],position_covariance[6],position_covariance[7],position_covariance[8],position_covariance_type
    1794733215336255899,1794733215336255899,1794733215,333687186,gps,-2,0,52.0,13.0,100.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0
    1794733216336029052,1794733216336029052,1794733216,333733130,gps,-2,0,52.0,13.0,150.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0
    1794733217336025692,1794733217336025692,1794733217,333678688,gps,-2,0,52.0,13.0,200.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0
    1794733218335292259,1794733218335292259,1794733218,333555618,gps,-2,0,52.0,13.0,250.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0
    ");
    insta::assert_snapshot!(head("empty", 2), @"
    log_time,publish_time
    1794733215338331871,1794733215338331871
    ");
    assert_eq!(table("imu__data").lines().count(), 163);
    let columns = |line: &str| line.split(',').count();
    assert!(
        table("imu__data")
            .lines()
            .all(|line| columns(line) == 2 + 3 + 4 + 9 + 3 + 9 + 3 + 9)
    );
}

#[test]
fn json_lines_to_a_file_and_to_stdout() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("convert BAGS/sqlite3_plain -o all.ndjson --format ndjson");
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (0, "wrote all.ndjson: 374 messages\n")
    );
    let file = fs::read_to_string(sandbox.path("all.ndjson")).unwrap();
    let run = sandbox.run("convert BAGS/sqlite3_plain -o - --format ndjson");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout, file);
    assert_eq!(sandbox.ok("cat BAGS/sqlite3_plain"), file);
    let first = |topic: &str| -> Value {
        let lines = file
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .into_iter()
            .find(|line| line["topic"] == topic)
            .unwrap()
    };
    // As the PyPI package `rosbags` decodes them.
    assert_eq!(first("/chatter")["message"]["data"], "Hello World: 20");
    assert_eq!(
        first("/keep_all")["log_time"],
        1_794_733_215_294_923_179_i64
    );
    assert_eq!(
        first("/joint_states")["message"]["position"],
        serde_json::json!([10.0, -10.0])
    );
}

#[test]
fn undecodable_messages_are_counted() {
    let sandbox = Sandbox::new();
    let mut writer = BagWriter::create(&sandbox.path("odd"), BagOptions::default()).unwrap();
    let own = writer
        .add_topic(&TopicInfo::new("/own", "my_robot/msg/Own"))
        .unwrap();
    let text = writer
        .add_topic(&TopicInfo::new("/a/b", "std_msgs/msg/String"))
        .unwrap();
    let flat = writer
        .add_topic(&TopicInfo::new("/A__b", "std_msgs/msg/Bool"))
        .unwrap();
    let message = |topic, time, data| Message {
        topic,
        log_time_ns: time,
        publish_time_ns: time,
        sequence: 0,
        data,
    };
    let data: [&[u8]; 3] = [
        &[0, 1, 0, 0, 9],
        &[0, 1, 0, 0, 2, 0, 0, 0, b'"', 0],
        &[0, 1, 0, 0, 1],
    ];
    let batch = [
        message(own, 1, data[0]),
        message(own, 2, data[0]),
        message(text, 3, data[1]),
        message(flat, 4, data[2]),
    ];
    assert!(writer.write(&batch, 0).is_ok());
    assert!(writer.finish().unwrap().1.is_ok());
    insta::assert_snapshot!(sandbox.run("convert odd -o tables --format csv"), @"
    exit code: 3
    ----- stderr
    wrote tables: 2 messages in 2 files
    warning: /own: 2 messages could not be decoded: no definition of my_robot/msg/Own: not in the bag, not built in
    ");
    // Names that differ only in case, or in `/` and `__`, do not collide.
    assert_eq!(
        fs::read_to_string(sandbox.path("tables/a__b.csv")).unwrap(),
        "log_time,publish_time,data\n3,3,\"\"\"\"\n"
    );
    assert_eq!(
        fs::read_to_string(sandbox.path("tables/A__b-2.csv")).unwrap(),
        "log_time,publish_time,data\n4,4,true\n"
    );
    insta::assert_snapshot!(sandbox.run("convert odd -o - --format ndjson"), @r#"
    exit code: 3
    ----- stdout
    {"topic":"/own","log_time":1,"publish_time":1,"error":"no definition of my_robot/msg/Own: not in the bag, not built in"}
    {"topic":"/own","log_time":2,"publish_time":2,"error":"no definition of my_robot/msg/Own: not in the bag, not built in"}
    {"topic":"/a/b","log_time":3,"publish_time":3,"message":{"data":"\""}}
    {"topic":"/A__b","log_time":4,"publish_time":4,"message":{"data":true}}
    ----- stderr
    warning: /own: 2 messages could not be decoded: no definition of my_robot/msg/Own: not in the bag, not built in
    "#);
}

#[test]
fn invalid_conversions_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("there", "x");
    for (arguments, code, message) in [
        (
            "convert BAGS/sqlite3_plain -o - --format csv",
            2,
            "csv cannot be written to stdout",
        ),
        (
            "convert BAGS/sqlite3_plain -o there --format csv",
            1,
            "there exists already",
        ),
        (
            "convert BAGS/sqlite3_plain -o there --format ndjson",
            1,
            "there exists already",
        ),
        (
            "convert BAGS/sqlite3_plain -o new --format csv -s mcap",
            2,
            "--storage cannot be used with --format csv",
        ),
        (
            "convert BAGS/sqlite3_plain -o /proc/no/such --format csv",
            1,
            "cannot create /proc/no/such",
        ),
    ] {
        sandbox.refuses(arguments, code, message);
    }
    assert_eq!(fs::read_to_string(sandbox.path("there")).unwrap(), "x");
}
