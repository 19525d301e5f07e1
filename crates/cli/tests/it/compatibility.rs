//! A bag that `ros2 bag` reads as empty: what the verbs say of it, and how it is mended.

use timeloom_testkit::mcap::{ForgedChunk, ForgedMcap, assert_valid_bag};

use crate::support::Sandbox;

/// A file whose first chunk holds definitions and no message.
fn forged() -> Vec<u8> {
    let mut file = ForgedMcap::default();
    let schema = file.know_schema(1, "std_msgs/msg/String");
    let channel = file.know_channel(1, 1, "/chatter");
    file.chunk(&ForgedChunk::default().with(&[schema, channel].concat()));
    file.chunk(&ForgedChunk::default().message(1, 10).message(1, 20));
    file.finish()
}

#[test]
fn a_bag_that_ros2_bag_reads_as_empty_is_named_and_mended() {
    let sandbox = Sandbox::new();
    sandbox.write("run/run_0.mcap", forged());
    let problem = "run_0.mcap: chunk 0 holds no message: ros2 bag reads this file as empty";
    let remedy = "run `timeloom recover run` to rewrite it for `ros2 bag`";

    let reindex = sandbox.run("reindex run");
    assert_eq!(reindex.code, 0, "nothing is lost\n{reindex}");
    assert!(
        reindex.stderr.contains(&format!("warning: {problem}")),
        "{reindex}"
    );
    assert!(
        reindex.stderr.contains(&format!("hint: {remedy}")),
        "{reindex}"
    );

    for bag in ["run", "run/run_0.mcap"] {
        let info = sandbox.run(&format!("info {bag}"));
        assert_eq!(info.code, 0, "{info}");
        assert!(
            info.stdout
                .contains(&format!("Compatibility:     {problem}")),
            "{info}"
        );
        assert!(
            info.stderr.contains("to rewrite it for `ros2 bag`"),
            "{info}"
        );
    }
    let doctor = sandbox.run("doctor bag run");
    assert_eq!(doctor.code, 1, "{doctor}");
    assert!(
        doctor.stdout.contains(&format!("Problem: {problem}")),
        "{doctor}"
    );
    assert!(
        doctor.stdout.contains(&format!("Remedy: {remedy}")),
        "{doctor}"
    );

    let recover = sandbox.run("recover run");
    assert_eq!(recover.code, 0, "{recover}");
    assert!(
        recover
            .stdout
            .contains("recovered, 2 messages; the original is run_0.mcap.damaged"),
        "{recover}"
    );
    assert!(
        recover.stderr.contains("2 messages readable, none lost"),
        "{recover}"
    );
    assert_valid_bag(&sandbox.path("run/run_0.mcap"));
    assert!(!sandbox.ok("info run").contains("Compatibility"));
    sandbox.ok("doctor bag run");
}

#[test]
fn a_key_of_the_custom_data_is_written_once() {
    let sandbox = Sandbox::new();
    let options = "output_bags:\n- uri: out\n  all: true\n  custom_data: {a: 3}\n";
    sandbox.write("options.yaml", options);
    sandbox.ok("convert -i BAGS/mcap_plain -o options.yaml");
    let metadata = std::fs::read_to_string(sandbox.path("out/metadata.yaml")).unwrap();
    assert!(
        metadata.contains("  custom_data:\n    a: 3\n"),
        "{metadata}"
    );
}
