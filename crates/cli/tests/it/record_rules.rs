//! Which flags of `record` make sense together: refused before anything is created or joined.

use crate::support::Sandbox;

/// A line that is refused with that text.
const REFUSED: [(&str, &str); 26] = [
    ("", "nothing is selected"),
    (
        "--topics /a --exclude-topics /a",
        "--exclude-topics leaves out of nothing",
    ),
    (
        "--topics /a --exclude-topic-types x/msg/Y",
        "--exclude-topic-types leaves out of nothing",
    ),
    (
        "--topics /a --exclude-regex a",
        "--exclude-regex leaves out of nothing",
    ),
    (
        "--all-topics --exclude-services /a",
        "--exclude-services leaves out of nothing",
    ),
    (
        "--all-topics --exclude-actions /a",
        "--exclude-actions leaves out of nothing",
    ),
    ("/a --topics /b", "cannot be used with"),
    ("-a --no-discovery --use-sim-time", "contradict each other"),
    ("-a --snapshot-mode --max-cache-size 0", "leaves it none"),
    (
        "-a --drop-policy oldest --max-cache-size 0",
        "a drop policy needs a cache",
    ),
    (
        "-a --drop-policy oldest --snapshot-mode",
        "nothing to decide in snapshot mode",
    ),
    ("-a --drop-policy fewest", "not newest, oldest or block"),
    ("-a --topic-drop-policy /a", "has no value: write /a=POLICY"),
    (
        "-a --topic-throttle-frequency /a=often",
        "`often` is not a number of Hz",
    ),
    (
        "-a --repeat-transient-local /a=0",
        "a depth is a number from 1",
    ),
    ("-a --stats_max_publishing_rate -1", "-1"),
    ("-a --statistics-update-rate 1001", "is not from 0 to 1000"),
    ("-a --low-free-space-action stop", "but not when"),
    ("-a --max-bag-files 3", "there is only one"),
    ("-a -f json", "known: cdr"),
    ("-a -s rosbag1", "known: mcap, sqlite3"),
    ("-a --storage-preset-profile quick", "zstd_fast"),
    ("-a --compression-mode all", "none, file, message"),
    ("-a --compression-format zstd", "needs a compression mode"),
    (
        "-a --custom-data operator",
        "--custom-data operator has no value",
    ),
    ("-a -e ^[", "invalid value '^['"),
];

#[test]
fn what_contradicts_itself_is_refused_in_words() {
    let sandbox = Sandbox::new();
    for (line, said) in REFUSED {
        let run = sandbox.run(&format!("record {line}"));
        assert!(run.stderr.contains(said), "{line}\n{run}");
        // Names that the storage refuses are failures, not wrong usage.
        let is_failure = [
            "-a -s rosbag1",
            "-a --storage-preset-profile quick",
            "-a --compression-mode all",
        ];
        let code = if is_failure.contains(&line) { 1 } else { 2 };
        assert_eq!(run.code, code, "{line}\n{run}");
    }
    let left = std::fs::read_dir(sandbox.path("")).unwrap().count();
    assert_eq!(left, 0, "nothing was created");
}

#[test]
fn a_bag_is_never_overwritten() {
    let sandbox = Sandbox::new();
    sandbox.write("bag/precious", "data");
    let run = sandbox.run("record -a -o bag");
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("bag exists already"), "{run}");
}

#[test]
fn files_with_settings_are_read_before_anything_is_made() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.yaml", "static_topics_and_types_list:\n  - [/a]\n");
    sandbox.write("qos.yaml", "/a:\n  reliabilty: reliable\n");
    let cases = [
        (
            "-a --static-topics-path missing.yaml",
            "cannot read missing.yaml",
        ),
        (
            "-a --static-topics-path bad.yaml",
            "not a pair of topic and type",
        ),
        ("-a --qos-profile-overrides-path qos.yaml", "reliabilty"),
        ("-a --storage-config-file missing.yaml", "missing.yaml"),
        ("-a --params-file missing.yaml", "missing.yaml"),
    ];
    for (line, said) in cases {
        let run = sandbox.run(&format!("record {line} -o bag"));
        let code = if line.contains("--params-file") { 2 } else { 1 };
        assert_eq!(run.code, code, "{line}\n{run}");
        assert!(run.stderr.contains(said), "{line}\n{run}");
        assert!(!sandbox.path("bag").exists(), "{line}");
    }
}

#[test]
fn parameters_of_rosbag2_are_checked() {
    let sandbox = Sandbox::new();
    let cases = [
        (
            "record: {topicz: [/a]}",
            "unknown parameter record.topicz",
            "did you mean record.topics?",
        ),
        (
            "record: {topics: 7}",
            "parameter record.topics: a list of texts is expected, not 7 (integer)",
            "",
        ),
        (
            "storage: {max_bagfile_size: -1}",
            "a whole number in range is expected",
            "",
        ),
        (
            "storage: {low_free_space_action: cry}",
            "stop or delete_oldest_files is expected",
            "",
        ),
        (
            "storage: {start_time_ns: 5}",
            "a recording begins now",
            "timeloom convert",
        ),
        ("record: {regex: \"^[\"}", "parameter record.regex", ""),
        (
            "record: {all: true, is_discovery_disabled: true}\n    use_sim_time: true",
            "contradict each other",
            "",
        ),
        ("other: 1", "nothing is selected", ""),
    ];
    for (parameters, said, hint) in cases {
        sandbox.write(
            "p.yaml",
            format!("/**:\n  ros__parameters:\n    {parameters}\n"),
        );
        let run = sandbox.run("record --params-file p.yaml");
        assert_eq!(run.code, 2, "{parameters}\n{run}");
        assert!(run.stderr.contains(said), "{parameters}\n{run}");
        assert!(run.stderr.contains(hint), "{parameters}\n{run}");
    }
}
