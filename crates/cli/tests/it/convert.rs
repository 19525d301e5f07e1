//! `convert` to bags, verified by reading them back.

use std::fs;

use timeloom_bag::metadata::read_metadata_file;

use crate::support::{Sandbox, Stored, bags, stored, without_publish_time};

fn golden(name: &str) -> Vec<Stored> {
    stored(&bags().join(name))
}

#[test]
fn storages_and_compressions_keep_every_message() {
    let sandbox = Sandbox::new();
    let original = golden("mcap_plain");
    assert_eq!(original.len(), 474);
    for (name, flags) in [
        ("plain", ""),
        ("fastwrite", "--storage-preset-profile fastwrite"),
        ("small", "--storage-preset-profile zstd_small"),
        ("fast", "--storage-preset-profile zstd_fast"),
        ("file", "--compression-mode file --compression-format zstd"),
        ("message", "--compression-mode message"),
        ("version9", ""),
        ("ten", "--metadata-version 10"),
    ] {
        let run = sandbox.run(&format!("convert BAGS/mcap_plain -o {name} {flags}"));
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run}");
        assert_eq!(
            run.stderr,
            format!("wrote {name}: 474 messages of 16 topics in 1 file\n")
        );
        assert_eq!(stored(&sandbox.path(name)), original, "{name}");
        sandbox.ok(&format!("convert {name} -o {name}.db -s sqlite3"));
        assert_eq!(
            stored(&sandbox.path(&format!("{name}.db"))),
            without_publish_time(original.clone()),
            "{name}"
        );
    }
    assert_eq!(
        read_metadata_file(&sandbox.path("version9"))
            .unwrap()
            .version,
        9
    );
    assert_eq!(
        read_metadata_file(&sandbox.path("ten")).unwrap().version,
        10
    );
    assert!(sandbox.path("file/file_0.mcap.zstd").is_file());
    assert!(sandbox.path("plain.db/plain.db_0.db3").is_file());
    let size = |name: &str| {
        fs::metadata(sandbox.path(&format!("{name}/{name}_0.mcap")))
            .unwrap()
            .len()
    };
    assert!(size("small") < size("plain") / 2);
}

#[test]
fn sqlite3_becomes_mcap() {
    let sandbox = Sandbox::new();
    sandbox.ok("convert BAGS/sqlite3_plain -o new -s mcap");
    assert_eq!(stored(&sandbox.path("new")), golden("sqlite3_plain"));
    let old = sandbox.ok("info BAGS/sqlite3_plain");
    let new = sandbox.ok("info new");
    let tail = |text: &str| {
        text.split_once("Duration:")
            .unwrap()
            .1
            .split_once("Topic information")
            .unwrap()
            .0
            .to_owned()
    };
    assert_eq!(tail(&new), tail(&old));
}

#[test]
fn a_slice_is_inclusive_at_both_ends() {
    let sandbox = Sandbox::new();
    let all = golden("mcap_plain");
    let (from, to) = (all[100].log_time_ns, all[200].log_time_ns);
    sandbox.ok(&format!(
        "convert BAGS/mcap_plain -o cut --start {from} --end {to}"
    ));
    let expected: Vec<Stored> = all
        .iter()
        .filter(|m| (from..=to).contains(&m.log_time_ns))
        .cloned()
        .collect();
    assert!(expected.len() >= 101);
    assert_eq!(stored(&sandbox.path("cut")), expected);
    insta::assert_snapshot!(sandbox.run("convert BAGS/mcap_plain -o none --start +1h"), @"
    exit code: 0
    ----- stderr
    wrote none: 0 messages of 16 topics in 1 file
    warning: nothing was selected: the bag runs from 1794733131.923572955 to 1794733136.040299199
    ");
}

#[test]
fn topics_are_selected_and_renamed() {
    let sandbox = Sandbox::new();
    sandbox.ok("convert BAGS/mcap_plain -o new --topics /imu/data /fix --services /add_two_ints --remap /fix:=/gps/fix /add_two_ints:=/sum");
    let expected: Vec<Stored> = golden("mcap_plain")
        .into_iter()
        .filter_map(|message| {
            let topic = match message.topic.as_str() {
                "/imu/data" => "/imu/data",
                "/fix" => "/gps/fix",
                "/add_two_ints/_service_event" => "/sum/_service_event",
                _ => return None,
            };
            Some(Stored {
                topic: topic.to_owned(),
                ..message
            })
        })
        .collect();
    assert_eq!(expected.len(), 207 + 4 + 16);
    assert_eq!(stored(&sandbox.path("new")), expected);
    let text = sandbox.ok("info new");
    assert!(
        text.contains("Service: /sum | Type: example_interfaces/srv/AddTwoInts | Event Count: 16"),
        "{text}"
    );
}

#[test]
fn bags_are_merged_in_order() {
    let sandbox = Sandbox::new();
    sandbox.ok("convert BAGS/mcap_plain BAGS/sqlite3_plain BAGS/mcap_split_dur -o all");
    let mut expected = [
        golden("mcap_plain"),
        golden("sqlite3_plain"),
        golden("mcap_split_dur"),
    ]
    .concat();
    expected.sort_by_key(|message| message.log_time_ns);
    assert_eq!(stored(&sandbox.path("all")), expected);
}

#[test]
fn files_are_split_by_size_and_by_duration() {
    let sandbox = Sandbox::new();
    sandbox.ok("convert BAGS/mcap_plain -o small -b 60KiB");
    sandbox.ok("convert BAGS/mcap_plain -o short -d 1s");
    for name in ["small", "short"] {
        let metadata = read_metadata_file(&sandbox.path(name)).unwrap();
        assert!(
            metadata.files.len() >= 4,
            "{name}: {}",
            metadata.files.len()
        );
        assert_eq!(stored(&sandbox.path(name)), golden("mcap_plain"), "{name}");
        for file in &metadata.files {
            assert!(
                name != "short" || file.duration_ns <= 1_000_000_000,
                "{file:?}"
            );
        }
    }
}

#[test]
fn a_storage_configuration_is_applied() {
    let sandbox = Sandbox::new();
    sandbox.write("mcap.yaml", "compression: Zstd\nchunkSize: 4096\n");
    sandbox.ok("convert BAGS/mcap_plain -o new --storage-config-file mcap.yaml");
    assert_eq!(stored(&sandbox.path("new")), golden("mcap_plain"));
    let size = |path| fs::metadata(path).unwrap().len();
    assert!(
        size(sandbox.path("new/new_0.mcap")) < size(bags().join("mcap_plain/mcap_plain_0.mcap"))
    );
}

#[test]
fn invalid_conversions_are_refused() {
    let sandbox = Sandbox::new();
    for (arguments, code, message) in [
        (
            "convert BAGS/mcap_plain -o new -s rosbag1",
            2,
            "unknown storage \"rosbag1\" (known: mcap, sqlite3)",
        ),
        (
            "convert BAGS/mcap_plain -o new --storage-preset-profile resilient",
            2,
            "unknown mcap preset \"resilient\"",
        ),
        (
            "convert BAGS/mcap_plain -o new --compression-mode all",
            2,
            "unknown compression mode \"all\"",
        ),
        (
            "convert BAGS/mcap_plain -o new --compression-format zstd",
            2,
            "a compression format needs a compression mode",
        ),
        (
            "convert BAGS/mcap_plain -o new --remap /imu/dta:=/imu",
            1,
            "hint: did you mean /imu/data?",
        ),
        (
            "convert BAGS/mcap_plain -o new --remap /imu",
            2,
            "expected OLD:=NEW",
        ),
        (
            "convert BAGS/mcap_plain -o new -b 10",
            1,
            "10 is below the minimum of 1024 bytes of mcap",
        ),
        ("convert BAGS/mcap_plain -o new -b ten", 2, "expected bytes"),
        (
            "convert BAGS/mcap_plain -o new --metadata-version 3",
            2,
            "3 is not in 4..=10",
        ),
        (
            "convert BAGS/mcap_plain -o -",
            2,
            "a bag cannot be written to stdout",
        ),
        ("convert BAGS/mcap_plain", 2, "--output <OUTPUT>"),
        ("convert -o new", 2, "<BAG>"),
        (
            "convert -i BAGS/mcap_plain sqlite3 -o new",
            1,
            "the bag is stored as mcap, not as sqlite3",
        ),
        (
            "convert BAGS/mcap_plain -o new --exclude-regex .",
            1,
            "the selection takes none of the 16 topics",
        ),
    ] {
        sandbox.refuses(arguments, code, message);
        assert!(!sandbox.path("new").exists(), "{arguments}");
    }
}
