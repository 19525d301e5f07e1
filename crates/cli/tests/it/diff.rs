//! `timeloom diff`: what it prints, and its exit codes.

use timeloom_bag::{BagOptions, BagWriter, Message, TopicInfo};

use crate::support::Sandbox;

/// Two bags: `after` has two other values and one message less than `before`.
pub(crate) fn write_bags(sandbox: &Sandbox) {
    write(sandbox, "before", |number| Some(number as f64 / 10.0));
    write(sandbox, "after", |number| match number {
        10 => Some(1.001),
        20 => Some(2.5),
        50 => None,
        _ => Some(number as f64 / 10.0),
    });
}

fn write(sandbox: &Sandbox, name: &str, x: impl Fn(i64) -> Option<f64>) {
    let mut writer = BagWriter::create(&sandbox.path(name), BagOptions::default()).unwrap();
    let topic = TopicInfo::new("/odom", "geometry_msgs/msg/PointStamped");
    let topic = writer.add_topic(&topic).unwrap();
    for number in 0..100 {
        let Some(x) = x(number) else { continue };
        let time_ns = number * 10_000_000;
        let mut data = vec![0, 1, 0, 0, 0, 0, 0, 0];
        data.extend(u32::try_from(time_ns).unwrap().to_le_bytes());
        data.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        for value in [x, 0.0, 0.0] {
            data.extend(value.to_le_bytes());
        }
        let message = Message {
            topic,
            log_time_ns: time_ns,
            publish_time_ns: time_ns,
            sequence: 0,
            data: &data,
        };
        assert!(writer.write(&[message], time_ns).is_ok());
    }
    let (_summary, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok());
}

#[test]
fn exit_codes_distinguish_equal_and_different() {
    let sandbox = Sandbox::new();
    write_bags(&sandbox);
    assert_eq!(sandbox.run("diff before before").code, 0);
    assert_eq!(sandbox.run("diff before after").code, 1);
    let rules = "--tolerance point.x=0.5 --allow messages";
    assert_eq!(sandbox.run(&format!("diff before after {rules}")).code, 0);
    assert_eq!(sandbox.run("diff before after --ignore /odom").code, 2);
    assert_eq!(sandbox.run("diff before nowhere").code, 1);
}

#[test]
fn bags_of_different_storages_are_compared() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("diff BAGS/mcap_plain BAGS/mcap_plain --verbose");
    assert_eq!(run.code, 0, "{run}");
    sandbox.ok("convert BAGS/mcap_plain -o db -s sqlite3");
    let run = sandbox.run("diff BAGS/mcap_plain db");
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn a_damaged_bag_is_not_equal() {
    let sandbox = Sandbox::new();
    sandbox.unchecked();
    let cut = sandbox.copy("mcap_plain", "cut").join("mcap_plain_0.mcap");
    let file = std::fs::File::options().write(true).open(cut).unwrap();
    file.set_len(200_000).unwrap();
    let run = sandbox.run("diff cut cut");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stdout.contains("damaged: "), "{run}");
    assert_eq!(sandbox.run("diff BAGS/mcap_plain cut").code, 1);
}

#[test]
fn wrong_rules_are_usage_errors_with_their_reason() {
    let sandbox = Sandbox::new();
    write_bags(&sandbox);
    let refused = |arguments: &str, reason: &str| {
        let run = sandbox.run(&format!("diff before after {arguments}"));
        assert_eq!(run.code, 2, "{run}");
        assert!(run.stderr.contains(reason), "{run}");
    };
    refused("--tolerance point.x", "expected [TOPIC:]FIELD=TOLERANCE");
    refused("--tolerance point.x=much", "\"much\" is not a tolerance");
    refused("--within 5ms", "--within has no effect with --align auto");
    refused("--rate-tolerance fast", "expected a percentage");
    refused("--topics /nothing", "no topic to compare");
    sandbox.write("rules.yaml", "tolerance: []\n");
    refused("--rules rules.yaml", "rules.yaml: invalid rules");
}

#[test]
fn reports_are_written_as_files() {
    let sandbox = Sandbox::new();
    write_bags(&sandbox);
    sandbox.write("rules.yaml", "tolerances: [point.x=0.5]\n");
    let run = sandbox.run(
        "diff before after --rules rules.yaml --junit diff.xml --html diff.html --format json",
    );
    assert_eq!(run.code, 1, "{run}");
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["topics"][0]["kinds"], serde_json::json!(["messages"]));
    let junit = std::fs::read_to_string(sandbox.path("diff.xml")).unwrap();
    assert!(junit.contains("failures=\"1\""), "{junit}");
    let page = std::fs::read_to_string(sandbox.path("diff.html")).unwrap();
    assert!(page.contains("<h1>before | after: different</h1>"));
}
