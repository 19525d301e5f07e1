//! `timeloom merge`: what it prints, and its exit codes.

use timeloom_bag::{BagOptions, BagWriter, MergedHost, Message, TopicInfo};

use crate::support::Sandbox;

const START: i64 = 1_794_800_000_000_000_000;

/// The clock of `arm`: 180 ms ahead of that of `car`, and 30 ppm faster.
fn arm(true_ns: i64) -> i64 {
    true_ns + 180_050_000 + (true_ns - START) / 1_000_000 * 30
}

fn car(true_ns: i64) -> i64 {
    true_ns
}

/// A minute of two hosts: `/a` comes from `car`, `/b` from `arm`, and both record both. `alone` shares no topic with them.
pub(crate) fn write_bags(sandbox: &Sandbox) {
    write(
        sandbox,
        "car",
        car,
        &[("/a", car, 50_000), ("/b", arm, 400_000)],
    );
    write(
        sandbox,
        "arm",
        arm,
        &[("/a", car, 400_000), ("/b", arm, 50_000)],
    );
    write(sandbox, "alone", car, &[("/c", car, 50_000)]);
}

type Clock = fn(i64) -> i64;

/// Topics with the clock of their publisher and the delay to this recorder.
fn write(sandbox: &Sandbox, name: &str, recorder: Clock, topics: &[(&str, Clock, i64)]) {
    let mut writer = BagWriter::create(&sandbox.path(name), BagOptions::default()).unwrap();
    for (topic, publisher, delay) in topics {
        let topic = TopicInfo::new(*topic, "std_msgs/msg/Int64");
        let topic = writer.add_topic(&topic).unwrap();
        for number in 0..1_200 {
            let sent = START + number * 50_000_000;
            let late = i64::from(number % 7 == 0) * 3_000_000;
            let data = [&[0, 1, 0, 0][..], &number.to_le_bytes()].concat();
            let message = Message {
                topic,
                log_time_ns: recorder(sent + delay + late),
                publish_time_ns: publisher(sent),
                sequence: 0,
                data: &data,
            };
            assert!(writer.write(&[message], 0).is_ok());
        }
    }
    let (_summary, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok());
}

#[test]
fn missing_evidence_has_its_own_exit_code() {
    let sandbox = Sandbox::new();
    write_bags(&sandbox);
    assert_eq!(sandbox.run("merge car arm -o both").code, 0);
    let run = sandbox.run("merge car alone -o none");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr
            .contains("no evidence of the offset between the clocks of alone and car"),
        "{run}"
    );
    assert!(
        run.stderr.contains("timeloom convert car alone -o OUTPUT"),
        "{run}"
    );
    assert!(!sandbox.path("none").exists());
    let run = sandbox.run("merge car arm --published-on car=/b --published-on arm=/a -o wrong");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr
            .contains("/b is not published on the host of car"),
        "{run}"
    );
    for usage in [
        "merge car",
        "merge car car",
        "merge car arm --correct",
        "merge car arm --reference base",
        "merge car arm --published-on car",
        "merge car arm --published-on car=/nothing",
        "merge car arm --max-skew 0",
    ] {
        assert_eq!(sandbox.run(usage).code, 2, "{usage}");
    }
    assert_eq!(sandbox.run("merge car arm -o both").code, 1, "it exists");
}

#[test]
fn a_damaged_input_is_named() {
    let sandbox = Sandbox::new();
    sandbox.unchecked();
    write_bags(&sandbox);
    let file = sandbox.path("arm").join("arm_0.mcap");
    let size = std::fs::metadata(&file).unwrap().len();
    let file = std::fs::File::options().write(true).open(file).unwrap();
    file.set_len(size - 100).unwrap();
    let run = sandbox.run("merge car arm -o both");
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("timeloom recover arm"), "{run}");
    let run = sandbox.run("merge car arm -o both --skip-damage");
    assert_eq!(run.code, 3, "{run}");
}

#[test]
fn the_output_says_where_its_times_come_from() {
    let sandbox = Sandbox::new();
    write_bags(&sandbox);
    let run = sandbox.run("merge car arm -o both --correct --reference arm --format json");
    assert_eq!(run.code, 0, "{run}");
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["reference"], 1);
    let offset = &report["hosts"][0]["offsets"][0];
    let number = |key: &str| offset[key].as_i64().unwrap();
    assert!(
        number("lower_ns") <= 180_050_000 && 180_050_000 <= number("upper_ns"),
        "{offset}"
    );
    let metadata = timeloom_bag::metadata::read_metadata_file(&sandbox.path("both")).unwrap();
    let hosts = MergedHost::read(&metadata.custom_data);
    assert!(hosts.iter().all(|host| host.corrected), "{hosts:?}");
    assert!(
        metadata.starting_time_ns >= arm(START),
        "{}",
        metadata.starting_time_ns
    );
}
