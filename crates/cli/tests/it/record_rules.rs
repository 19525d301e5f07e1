//! Which flags of `record` make sense together: refused before anything is created or joined.

use crate::support::Sandbox;

/// A line that is refused with that text.
const REFUSED: [(i32, &str, &str); 26] = [
    (2, "", "nothing is selected"),
    (
        2,
        "--topics /a --exclude-topics /a",
        "--exclude-topics has no effect",
    ),
    (
        2,
        "--topics /a --exclude-topic-types x/msg/Y",
        "--exclude-topic-types has no effect",
    ),
    (
        2,
        "--topics /a --exclude-regex a",
        "--exclude-regex has no effect",
    ),
    (
        2,
        "--all-topics --exclude-services /a",
        "--exclude-services has no effect",
    ),
    (
        2,
        "--all-topics --exclude-actions /a",
        "--exclude-actions has no effect",
    ),
    (2, "/a --topics /b", "cannot be used with"),
    (
        2,
        "-a --no-discovery --use-sim-time",
        "contradict each other",
    ),
    (2, "-a --snapshot-mode --max-cache-size 0", "leaves no room"),
    (
        2,
        "-a --drop-policy oldest --max-cache-size 0",
        "a drop policy needs a cache",
    ),
    (
        2,
        "-a --drop-policy oldest --snapshot-mode",
        "has no effect in snapshot mode",
    ),
    (2, "-a --drop-policy fewest", "not newest, oldest or block"),
    (
        2,
        "-a --topic-drop-policy /a",
        "has no value: write /a=POLICY",
    ),
    (
        2,
        "-a --topic-throttle-frequency /a=often",
        "`often` is not a number of Hz",
    ),
    (
        2,
        "-a --repeat-transient-local /a=0",
        "expected a depth of 1 or more",
    ),
    (2, "-a --stats_max_publishing_rate -1", "-1"),
    (
        2,
        "-a --statistics-update-rate 1001",
        "is out of range: expected 0 to 1000",
    ),
    (
        2,
        "-a --low-free-space-action stop",
        "has no effect without a limit",
    ),
    (2, "-a --max-bag-files 3", "the bag is not split"),
    (2, "-a -f json", "known: cdr"),
    (2, "-a -s rosbag1", "known: mcap, sqlite3"),
    (2, "-a --storage-preset-profile quick", "zstd_fast"),
    (2, "-a --compression-mode all", "none, file, message"),
    (
        2,
        "-a --compression-format zstd",
        "needs a compression mode",
    ),
    (
        2,
        "-a --custom-data operator",
        "--custom-data operator has no value",
    ),
    (2, "-a -e ^[", "invalid value '^['"),
];

#[test]
fn contradicting_options_are_refused_with_the_reason() {
    let sandbox = Sandbox::new();
    for (code, line, said) in REFUSED {
        let run = sandbox.run(&format!("record {line}"));
        assert!(run.stderr.contains(said), "{line}\n{run}");
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
            1,
            "-a --static-topics-path missing.yaml",
            "cannot read missing.yaml",
        ),
        (
            1,
            "-a --static-topics-path bad.yaml",
            "not a pair of topic and type",
        ),
        (1, "-a --qos-profile-overrides-path qos.yaml", "reliabilty"),
        (1, "-a --storage-config-file missing.yaml", "missing.yaml"),
        (2, "-a --params-file missing.yaml", "missing.yaml"),
    ];
    for (code, line, said) in cases {
        let run = sandbox.run(&format!("record {line} -o bag"));
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
            "parameter record.topics: expected a list of texts, not 7 (integer)",
            "",
        ),
        (
            "storage: {max_bagfile_size: -1}",
            "expected a whole number in range",
            "",
        ),
        (
            "storage: {low_free_space_action: cry}",
            "expected stop or delete_oldest_files",
            "",
        ),
        (
            "storage: {start_time_ns: 5}",
            "a recording starts now",
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
