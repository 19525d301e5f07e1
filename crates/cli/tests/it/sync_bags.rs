//! `timeloom sync` on bags: fits of topics, and other stamps.

use timeloom_bag::{BagOptions, BagWriter, Message, TopicInfo};
use timeloom_msg::{Definitions, Schema};
use timeloom_sync::Sample;
use timeloom_sync::simulate::Scenario;

use crate::support::{Sandbox, stored};

/// A bag with a lidar's headers and scans whose stamps are those of the sensor; the true times of the scans.
pub(crate) fn lidar_bag(sandbox: &Sandbox, name: &str) -> Vec<i64> {
    let schema = |name: &str| Definitions::builtin().schema(name).unwrap();
    let (header, scan) = (
        schema("pf_interfaces/msg/PFR2000Header"),
        schema("sensor_msgs/msg/LaserScan"),
    );
    let mut writer = BagWriter::create(&sandbox.path(name), BagOptions::default()).unwrap();
    let headers = writer
        .add_topic(&TopicInfo::new("/header", header.name().to_string()))
        .unwrap();
    let scans = writer
        .add_topic(&TopicInfo::new("/scan", scan.name().to_string()))
        .unwrap();
    let other = writer
        .add_topic(&TopicInfo::new("/other", "std_msgs/msg/String"))
        .unwrap();
    let scenario = Scenario {
        duration_s: 60.0,
        rate_hz: Some(50.0),
        ..Scenario::default()
    };
    let mut truths = Vec::new();
    for simulated in scenario.simulate(4) {
        let Sample::Passive(sample) = simulated.sample else {
            panic!("a packet")
        };
        let device = sample.device_event.nanos();
        let log_time_ns = sample.host_rx.nanos();
        let mut write = |topic, data: &[u8]| {
            let message = Message {
                topic,
                log_time_ns,
                publish_time_ns: log_time_ns,
                sequence: 0,
                data,
            };
            assert!(writer.write(&[message], 0).is_ok());
        };
        write(headers, &lidar_header(&header, device));
        write(scans, &stamped(&scan, device));
        write(other, b"\0\x01\0\0\x01\0\0\0\0");
        truths.push(simulated.truth.nanos());
    }
    let (_, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok());
    truths
}

fn lidar_header(schema: &Schema, device_ns: i64) -> Vec<u8> {
    let mut value = schema.default_value().unwrap();
    let ticks = (i128::from(device_ns) << 32) / 1_000_000_000;
    value
        .set("timestamp_raw", u64::try_from(ticks).unwrap())
        .unwrap();
    schema.encode(&value).unwrap()
}

fn stamped(schema: &Schema, nanos: i64) -> Vec<u8> {
    let mut value = schema.default_value().unwrap();
    value
        .set(
            "header.stamp.sec",
            i32::try_from(nanos / 1_000_000_000).unwrap(),
        )
        .unwrap();
    value
        .set(
            "header.stamp.nanosec",
            u32::try_from(nanos % 1_000_000_000).unwrap(),
        )
        .unwrap();
    value.set("header.frame_id", "laser").unwrap();
    schema.encode(&value).unwrap()
}

/// The stamps of a topic, in nanoseconds.
fn stamps(sandbox: &Sandbox, bag: &str, topic: &str, field: &str) -> Vec<i64> {
    let text = sandbox.ok(&format!("cat {bag} --topics {topic} --field {field}"));
    text.lines()
        .map(|line| {
            let stamp: serde_json::Value = serde_json::from_str(line).unwrap();
            stamp["sec"].as_i64().unwrap() * 1_000_000_000 + stamp["nanosec"].as_i64().unwrap()
        })
        .collect()
}

#[test]
fn topics_of_a_bag_are_fitted() {
    let sandbox = Sandbox::new();
    lidar_bag(&sandbox, "bag");
    let alone = sandbox.ok("sync fit bag --causal");
    assert!(
        alone.contains("3,000 (3,000 passive, 0 active)"),
        "the lidar is known by its type\n{alone}"
    );
    let by_stamp = sandbox.ok("sync fit bag --topic /scan --causal");
    let offset = |text: &str| {
        text.lines()
            .find(|line| line.starts_with("offset"))
            .unwrap()[..22]
            .to_owned()
    };
    assert_eq!(offset(&alone), offset(&by_stamp));
    insta::assert_snapshot!(sandbox.run("sync fit bag --topic /scn"), @"
    exit code: 1
    ----- stderr
    error: no topic /scn in the bag

    hint: did you mean /scan?
    ");
    insta::assert_snapshot!(sandbox.run("sync fit bag --topic /other"), @"
    exit code: 1
    ----- stderr
    error: /other (std_msgs/msg/String) has no header.stamp

    hint: name the field that holds the device's time with --device-field
    ");
    insta::assert_snapshot!(sandbox.run("sync fit bag --topic /scan --device-field header.frame_id"), @"
    exit code: 1
    ----- stderr
    error: /scan: header.frame_id is neither a stamp nor a number
    ");
    insta::assert_snapshot!(sandbox.run("sync fit BAGS/mcap_plain"), @"
    exit code: 2
    ----- stderr
    error: a bag has several topics: select one

    hint: give --topic the one with the device's stamps; `timeloom info -t <bag>` lists them
    ");
}

#[test]
fn stamps_are_rewritten_and_the_originals_kept() {
    let sandbox = Sandbox::new();
    let truths = lidar_bag(&sandbox, "bag");
    let original = stamps(&sandbox, "bag", "/scan", "header.stamp");
    for (output, flags) in [
        ("own", ""),
        ("shared", "--clock-topic /header"),
        ("less", "--least-delay 300 -s sqlite3"),
    ] {
        let run = sandbox.run(&format!(
            "sync retime bag -o {output} --topic /scan {flags}"
        ));
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run}");
        assert!(
            run.stderr.contains("/scan: 3,000 messages retimed"),
            "{run}"
        );
        assert_eq!(
            stamps(&sandbox, output, "/scan/original_header", "stamp"),
            original
        );
        let floor = if output == "less" { 0 } else { 300_000 };
        let retimed = stamps(&sandbox, output, "/scan", "header.stamp");
        for (number, (stamp, truth)) in retimed.iter().zip(&truths).enumerate() {
            let error = stamp - truth - floor;
            assert!(error.abs() < 120_000, "{output} {number}: {error}");
        }
    }
    // All else is as it was, to the byte.
    let others = |bag: &str| {
        let mut all = stored(&sandbox.path(bag));
        all.retain(|message| !message.topic.starts_with("/scan"));
        all
    };
    assert_eq!(others("own"), others("bag"));
    assert_eq!(others("own").len(), 6_000);
    assert!(
        sandbox
            .ok("info own --format json")
            .contains("timeloom_retime")
    );
}

/// A bag of joint states whose first position is the device's time in seconds; the true times.
fn counting_bag(sandbox: &Sandbox, name: &str) -> Vec<i64> {
    let schema = Definitions::builtin()
        .schema("sensor_msgs/msg/TimeReference")
        .unwrap();
    let mut writer = BagWriter::create(&sandbox.path(name), BagOptions::default()).unwrap();
    let topic = TopicInfo::new("/counted", schema.name().to_string());
    let topic = writer.add_topic(&topic).unwrap();
    let scenario = Scenario {
        duration_s: 60.0,
        rate_hz: Some(50.0),
        ..Scenario::default()
    };
    let mut truths = Vec::new();
    for simulated in scenario.simulate(4) {
        let device = simulated.sample.device().nanos();
        let log_time_ns = simulated.sample.host_rx().nanos();
        let mut value = schema.default_value().unwrap();
        let (sec, nanosec) = (device / 1_000_000_000, device % 1_000_000_000);
        value
            .set("time_ref.sec", i32::try_from(sec).unwrap())
            .unwrap();
        value
            .set("time_ref.nanosec", u32::try_from(nanosec).unwrap())
            .unwrap();
        let message = Message {
            topic,
            log_time_ns,
            publish_time_ns: log_time_ns,
            sequence: 0,
            data: &schema.encode(&value).unwrap(),
        };
        assert!(writer.write(&[message], 0).is_ok());
        truths.push(simulated.truth.nanos());
    }
    assert!(writer.finish().unwrap().1.is_ok());
    truths
}

#[test]
fn stamps_are_made_from_the_field_that_is_named() {
    let sandbox = Sandbox::new();
    let truths = counting_bag(&sandbox, "bag");
    let run = sandbox.run("sync retime bag -o new --topic /counted --device-field time_ref");
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("3,000 messages retimed"), "{run}");
    let retimed = stamps(&sandbox, "new", "/counted", "header.stamp");
    assert_eq!(retimed.len(), truths.len());
    for (number, (stamp, truth)) in retimed.iter().zip(&truths).enumerate() {
        let error = stamp - truth - 300_000;
        assert!(error.abs() < 120_000, "{number}: {error}");
    }
}

#[test]
fn topics_without_stamps_cannot_be_retimed() {
    let sandbox = Sandbox::new();
    lidar_bag(&sandbox, "bag");
    sandbox.ok("sync retime bag -o once --topic /scan");
    let runs = [
        sandbox.run("sync retime bag -o once --topic /scan"),
        sandbox.run("sync retime once -o twice --topic /scan"),
        sandbox.run("sync retime bag -o new --topic /header"),
        sandbox.run("sync retime bag -o new --topic /nothing"),
        sandbox.run("sync retime bag -o new"),
    ];
    let text: Vec<String> = runs.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(text.join("\n"), @"
    exit code: 1
    ----- stderr
    error: once exists already

    hint: choose another output, or remove this one: bags are never overwritten

    exit code: 1
    ----- stderr
    error: /scan has been retimed before: /scan/original_header is in the bag

    hint: retime the original bag

    exit code: 1
    ----- stderr
    error: /header (pf_interfaces/msg/PFR2000Header) has no header.stamp to rewrite

    hint: topics without a header can show the clock: name it with --clock-topic

    exit code: 1
    ----- stderr
    error: no topic /nothing in the bag

    hint: `timeloom info <bag>` lists the topics

    exit code: 2
    ----- stderr
    error: the following required arguments were not provided:
      --topic <TOPIC>

    Usage: timeloom sync retime --output <OUTPUT> --topic <TOPIC> <BAG>

    For more information, try '--help'.
    ");
    assert!(!sandbox.path("new").exists());
}
