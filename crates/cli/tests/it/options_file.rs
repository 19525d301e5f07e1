//! `convert -i … -o out.yaml`, as in rosbag2.

use std::collections::BTreeSet;

use timeloom_bag::metadata::read_metadata_file;

use crate::support::{Sandbox, Stored, bags, stored};

fn topics(messages: &[Stored]) -> BTreeSet<&str> {
    messages
        .iter()
        .map(|message| message.topic.as_str())
        .collect()
}

#[test]
fn one_file_describes_several_outputs() {
    let sandbox = Sandbox::new();
    let all = stored(&bags().join("mcap_plain"));
    let (from, to) = (all[50].log_time_ns, all[400].log_time_ns);
    sandbox.write(
        "out.yaml",
        format!(
            "output_bags:
- uri: everything
  storage_id: sqlite3
  all_topics: true
  all_services: true
  include_hidden_topics: true
  compression_queue_size: 1
- uri: part
  storage_id: \"\"
  topics: [/imu/data, /chatter]
  topic_types: [sensor_msgs/msg/NavSatFix]
  services: [/add_two_ints]
  exclude_topics: [/chatter]
  start_time_ns: {from}
  end_time_ns: {to}
  max_bagfile_duration: 1
  storage_preset_profile: zstd_fast
  rmw_serialization_format: cdr
  custom_data: {{operator: ana}}
- uri: packed
  regex: ^/(tf|clock)$
  exclude_regex: clock
  compression_mode: file
  compression_format: zstd
  compression_threads: 2
"
        ),
    );
    insta::assert_snapshot!(sandbox.run("convert -i BAGS/mcap_plain mcap -o out.yaml"), @"
    exit code: 0
    ----- stderr
    wrote everything: 474 messages of 16 topics in 1 file
    wrote part: 170 messages of 3 topics in 4 files
    wrote packed: 42 messages of 1 topic in 1 file
    ");
    assert_eq!(stored(&sandbox.path("everything")).len(), 474);
    let part = stored(&sandbox.path("part"));
    let wanted = ["/imu/data", "/fix", "/add_two_ints/_service_event"];
    let expected: Vec<Stored> = all
        .iter()
        .filter(|m| (from..=to).contains(&m.log_time_ns) && wanted.contains(&m.topic.as_str()))
        .cloned()
        .collect();
    assert_eq!(part, expected);
    let metadata = read_metadata_file(&sandbox.path("part")).unwrap();
    assert!(metadata.files.len() > 1);
    assert_eq!(
        metadata.custom_data,
        [("operator".to_owned(), "ana".to_owned())]
    );
    let packed = stored(&sandbox.path("packed"));
    assert_eq!(
        (topics(&packed), packed.len()),
        (BTreeSet::from(["/tf"]), 42)
    );
    assert!(sandbox.path("packed/packed_0.mcap.zstd").is_file());
}

#[test]
fn several_inputs_become_one_output() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "out.yaml",
        "output_bags: [{uri: all, all: true, include_hidden_topics: true}]\n",
    );
    sandbox.ok("convert -i BAGS/mcap_plain -i BAGS/sqlite3_plain sqlite3 -o out.yaml");
    assert_eq!(stored(&sandbox.path("all")).len(), 474 + 374);
}

#[test]
fn nothing_selected_is_nothing_written() {
    let sandbox = Sandbox::new();
    sandbox.write("out.yaml", "output_bags: [{uri: none}]\n");
    insta::assert_snapshot!(sandbox.run("convert -i BAGS/mcap_plain -o out.yaml"), @"
    exit code: 0
    ----- stderr
    warning: none gets no topics: set all_topics, topics, topic_types or regex
    wrote none: 0 messages of 0 topics in 1 file
    warning: nothing was selected: the bag runs from 1794733131.923572955 to 1794733136.040299199
    ");
}

#[test]
fn mistakes_are_named() {
    let sandbox = Sandbox::new();
    for (code, text, message) in [
        (
            1,
            "output_bags: [{uri: new, topicz: [/a]}]",
            "out.yaml: output_bags[0]: unknown key topicz\n\nhint: did you mean topics?",
        ),
        (
            1,
            "output_bags: [{all_topics: true}]",
            "output_bags[0]: uri is missing",
        ),
        (
            1,
            "output_bags: [{uri: new, all_topics: maybe}]",
            "all_topics: expected true or false",
        ),
        (
            1,
            "output_bags: [{uri: new, topics: /a}]",
            "topics: expected a list",
        ),
        (
            1,
            "output_bags: [{uri: new, max_bagfile_size: -1}]",
            "max_bagfile_size: -1 is negative",
        ),
        (
            1,
            "output_bags: [{uri: new, max_bagfile_size: big}]",
            "max_bagfile_size: expected an integer",
        ),
        (
            2,
            "output_bags: [{uri: new, start_time_ns: 20, end_time_ns: 10}]",
            "is before the start",
        ),
        (
            1,
            "output_bags: [{uri: new, regex: '('}]",
            "regex: Parsing error at position 1",
        ),
        (
            2,
            "output_bags: [{uri: new, storage_id: rosbag1}]",
            "unknown storage \"rosbag1\"",
        ),
        (
            1,
            "output_bags: [{uri: new, rmw_serialization_format: proto}]",
            "proto is not known, only cdr",
        ),
        (
            1,
            "output_bags: []",
            "expected one key `output_bags` with a list of bags",
        ),
        (1, "outputs: []", "unknown key outputs"),
        (1, "output_bags: [", "yaml line"),
    ] {
        sandbox.write("out.yaml", text);
        let run = sandbox.run("convert -i BAGS/mcap_plain -o out.yaml");
        assert_eq!(run.code, code, "{text}\n{run}");
        assert!(run.stderr.contains(message), "{text}\n{run}");
        assert!(!sandbox.path("new").exists(), "{text}");
    }
    insta::assert_snapshot!(sandbox.run("convert -i BAGS/mcap_plain -o missing.yaml"), @"
    exit code: 1
    ----- stderr
    error: cannot read missing.yaml: No such file or directory (os error 2)
    ");
    insta::assert_snapshot!(sandbox.run("convert BAGS/mcap_plain -o out.yaml --start +1s -s mcap"), @"
    exit code: 2
    ----- stderr
    error: --start, --storage cannot be used with an options file

    hint: put it into out.yaml, or give -o a directory
    ");
}
