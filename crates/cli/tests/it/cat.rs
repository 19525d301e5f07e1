//! `cat`: messages as JSON, against values that the package `rosbags` of `PyPI` decodes.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;
use timeloom_bag::{BagOptions, BagWriter, Message, TopicInfo};

use crate::support::Sandbox;

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn messages_are_decoded() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("cat BAGS/sqlite3_plain --topics /chatter /joint_states -n 4"), @r#"
    exit code: 0
    ----- stdout
    {"topic":"/chatter","log_time":1794733215334344559,"publish_time":1794733215334344559,"message":{"data":"Hello World: 20"}}
    {"topic":"/joint_states","log_time":1794733215335334669,"publish_time":1794733215335334669,"message":{"header":{"stamp":{"sec":1794733215,"nanosec":333687186},"frame_id":""},"name":["a","b"],"position":[10.0,-10.0],"velocity":[],"effort":[]}}
    {"topic":"/chatter","log_time":1794733215436239214,"publish_time":1794733215436239214,"message":{"data":"Hello World: 21"}}
    {"topic":"/joint_states","log_time":1794733215436305097,"publish_time":1794733215436305097,"message":{"header":{"stamp":{"sec":1794733215,"nanosec":434018594},"frame_id":""},"name":["a","b"],"position":[10.5,-10.5],"velocity":[],"effort":[]}}
    "#);
    let imu = lines(&sandbox.ok("cat BAGS/sqlite3_plain --topics /imu/data -n 2"));
    let values = |line: &Value| {
        let message = &line["message"];
        (
            line["log_time"].as_i64().unwrap(),
            message["header"]["stamp"]["nanosec"].as_u64().unwrap(),
            message["angular_velocity"]["x"].as_f64().unwrap(),
            message["linear_acceleration"]["z"].as_f64().unwrap(),
        )
    };
    assert_eq!(
        values(&imu[0]),
        (1_794_733_215_295_781_865, 293_579_289, 98.0, 9.81)
    );
    assert_eq!(
        values(&imu[1]),
        (1_794_733_215_314_141_272, 313_558_890, 99.0, 9.81)
    );
}

#[test]
fn every_golden_bag_can_be_printed() {
    let sandbox = Sandbox::new();
    for (bag, expected) in [
        ("mcap_plain", 474),
        ("mcap_fastwrite", 0),
        ("mcap_zstd_fast", 0),
        ("mcap_file_zstd", 0),
        ("mcap_msg_zstd", 0),
        ("mcap_split_dur", 0),
        ("sqlite3_plain", 374),
        ("sqlite3_file_zstd", 0),
        ("fastrtps_mcap", 0),
    ] {
        let printed = lines(&sandbox.ok(&format!("cat BAGS/{bag}")));
        let info: Value =
            serde_json::from_str(&sandbox.ok(&format!("info BAGS/{bag} --format json"))).unwrap();
        let events: u64 = info["services"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["event_count"].as_u64().unwrap())
            .sum();
        let claimed = info["message_count"].as_u64().unwrap() + events;
        assert_eq!(printed.len() as u64, claimed, "{bag}");
        assert!(expected == 0 || claimed == expected, "{bag}");
        assert!(
            printed.iter().all(|line| line["message"].is_object()),
            "{bag}"
        );
        let times: Vec<i64> = printed
            .iter()
            .map(|line| line["log_time"].as_i64().unwrap())
            .collect();
        assert!(times.is_sorted(), "{bag}");
    }
}

#[test]
fn times_limits_and_order() {
    let sandbox = Sandbox::new();
    let times = |arguments: &str| -> Vec<i64> {
        let text = sandbox.ok(&format!("cat BAGS/sqlite3_plain {arguments}"));
        lines(&text)
            .iter()
            .map(|line| line["log_time"].as_i64().unwrap())
            .collect()
    };
    let all = times("");
    let (start, end) = (all[0], all[all.len() - 1]);
    let within = |from: i64, to: i64| -> Vec<i64> {
        all.iter()
            .copied()
            .filter(|t| (from..=to).contains(t))
            .collect()
    };
    let second = 1_000_000_000;
    assert_eq!(
        times("--start +1s --end +2s"),
        within(start + second, start + 2 * second)
    );
    assert_eq!(times("--start -1s"), within(end - second, end));
    assert_eq!(
        times("--start 09:00:16 --end 09:00:17.5"),
        within(1_794_733_216 * second, 1_794_733_217 * second + second / 2)
    );
    assert_eq!(
        times("--start 2026-11-15T10:00:16+01:00 --end 1794733217"),
        within(1_794_733_216 * second, 1_794_733_217 * second)
    );
    assert_eq!(times(&format!("--start {start} --end {start}")), [start]);
    assert!(!within(start + second, start + 2 * second).is_empty());
    let mut reversed = times("--reverse");
    assert_eq!(times("--reverse -n 3"), reversed[..3]);
    reversed.reverse();
    assert_eq!(reversed, all);
    assert_eq!(times("-n 0"), Vec::<i64>::new());
}

#[test]
fn topics_are_selected() {
    let sandbox = Sandbox::new();
    let topics = |arguments: &str| -> Vec<String> {
        let text = sandbox.ok(&format!("cat BAGS/sqlite3_plain {arguments}"));
        let mut names: Vec<String> = lines(&text)
            .iter()
            .map(|line| line["topic"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(topics("--topics fix,/empty"), ["/empty", "/fix"]);
    assert_eq!(topics("-e ^/tf"), ["/tf", "/tf_static"]);
    assert_eq!(topics("-e ^/tf(?!_)"), ["/tf"]);
    assert_eq!(topics("-e ^/tf --exclude-topics /tf"), ["/tf_static"]);
    assert_eq!(
        topics("--topic-types std_msgs/String"),
        ["/chatter", "/robot_description"]
    );
    assert_eq!(
        topics("--services /add_two_ints"),
        ["/add_two_ints/_service_event"]
    );
    assert_eq!(topics("").len(), 15);
    assert_eq!(topics("--exclude-services /add_two_ints --exclude-regex /tf --exclude-topic-types sensor_msgs/msg/Imu").len(), 11);
}

#[test]
fn one_field() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("cat BAGS/sqlite3_plain --topics /fix --field altitude"), @"
    exit code: 0
    ----- stdout
    100.0
    150.0
    200.0
    250.0
    ");
    insta::assert_snapshot!(sandbox.run("cat BAGS/sqlite3_plain --topics /joint_states --field name[1] -n 1"), @r#"
    exit code: 0
    ----- stdout
    "b"
    "#);
    insta::assert_snapshot!(sandbox.run("cat BAGS/sqlite3_plain --topics /joint_states --field name[7] -n 1"), @"
    exit code: 0
    ----- stdout
    null
    ");
    insta::assert_snapshot!(sandbox.run("cat BAGS/sqlite3_plain --topics /fix --field altitud"), @"
    exit code: 1
    ----- stderr
    error: /fix (sensor_msgs/msg/NavSatFix) has no field altitud

    hint: did you mean altitude?
    ");
    insta::assert_snapshot!(sandbox.run("cat BAGS/sqlite3_plain --topics /fix --field altitude.x"), @"
    exit code: 1
    ----- stderr
    error: /fix has no field altitude.x: altitude has no fields
    ");
}

#[test]
fn other_forms() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("cat BAGS/sqlite3_plain --topics /chatter -n 1 --format json-pretty --time-format rfc3339"), @r#"
    exit code: 0
    ----- stdout
    {
      "topic": "/chatter",
      "log_time": "2026-11-15T09:00:15.334344559Z",
      "publish_time": "2026-11-15T09:00:15.334344559Z",
      "message": {
        "data": "Hello World: 20"
      }
    }
    "#);
    insta::assert_snapshot!(sandbox.run("cat BAGS/sqlite3_plain --topics /chatter -n 1 --raw --time-format seconds"), @r#"
    exit code: 0
    ----- stdout
    {"topic":"/chatter","log_time":1794733215.334344559,"publish_time":1794733215.334344559,"data":"AAEAABAAAABIZWxsbyBXb3JsZDogMjAA"}
    "#);
}

fn unknown_bag(sandbox: &Sandbox) {
    let mut writer = BagWriter::create(&sandbox.path("odd"), BagOptions::default()).unwrap();
    let types = [
        ("/own", "my_robot/msg/Own"),
        ("/text", "std_msgs/msg/String"),
    ];
    for (index, (name, type_name)) in types.into_iter().enumerate() {
        let topic = writer.add_topic(&TopicInfo::new(name, type_name)).unwrap();
        let time = i64::try_from(index).unwrap() + 1;
        let message = Message {
            topic,
            log_time_ns: time,
            publish_time_ns: time,
            sequence: 0,
            data: &[0, 1, 0, 0, 9],
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    assert!(writer.finish().unwrap().1.is_ok());
}

#[test]
fn undecodable_messages_are_reported() {
    let mut sandbox = Sandbox::new();
    unknown_bag(&sandbox);
    insta::assert_snapshot!(sandbox.run("cat odd"), @r#"
    exit code: 3
    ----- stdout
    {"topic":"/own","log_time":1,"publish_time":1,"error":"no definition of my_robot/msg/Own: not in the bag, not built in"}
    {"topic":"/text","log_time":2,"publish_time":2,"error":"cannot decode std_msgs/msg/String: payload too short at byte 4 for message: 4 bytes needed, 1 left"}
    ----- stderr
    warning: 2 messages could not be decoded; `--raw` prints the payload
    "#);
    insta::assert_snapshot!(sandbox.run("cat odd --raw"), @r#"
    exit code: 0
    ----- stdout
    {"topic":"/own","log_time":1,"publish_time":1,"data":"AAEAAAk="}
    {"topic":"/text","log_time":2,"publish_time":2,"data":"AAEAAAk="}
    "#);
    // An installed definition helps.
    sandbox.write("ros/share/my_robot/msg/Own.msg", "uint8 x\n");
    let prefix = sandbox.path("ros").display().to_string();
    sandbox.set("AMENT_PREFIX_PATH", &prefix);
    insta::assert_snapshot!(sandbox.run("cat odd --topics /own"), @r#"
    exit code: 0
    ----- stdout
    {"topic":"/own","log_time":1,"publish_time":1,"message":{"x":9}}
    "#);
}

#[test]
fn several_bags_are_one() {
    let sandbox = Sandbox::new();
    let printed = lines(&sandbox.ok("cat BAGS/sqlite3_plain BAGS/mcap_plain"));
    assert_eq!(printed.len(), 374 + 474);
    let times: Vec<i64> = printed
        .iter()
        .map(|line| line["log_time"].as_i64().unwrap())
        .collect();
    assert!(times.is_sorted());
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("cat BAGS/mcap_plain BAGS/sqlite3_plain BAGS/fastrtps_mcap");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    assert!(first.starts_with("{\"topic\":\""), "{first}");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
