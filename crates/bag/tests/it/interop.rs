//! Other tools read our bags, and we read theirs: `PyPI`'s `rosbags`, `mcap`, `mcap-ros2-support`.

use std::path::Path;
use std::process::Command;

use timeloom_bag::conformance::OwnedMessage;
use timeloom_bag::mcap::{McapCompression, McapOptions};
use timeloom_bag::sqlite::SqliteOptions;
use timeloom_bag::{BagOptions, BagWriter, CompressionMode, Message, StorageOptions};
use timeloom_testkit::mcap::BagScratch;
use timeloom_testkit::python;

use crate::support::{files_below, message_time, payload, read_bag, test_topics, write_bag};

fn run(python: &Path, arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/interop.py");
    let output = Command::new(python)
        .arg(script)
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// A message as both sides print it: topic, log time, payload.
fn lines(messages: &[OwnedMessage]) -> Vec<String> {
    let line = |message: &OwnedMessage| {
        let digits = b"0123456789abcdef";
        let digit = |value: u8| char::from(digits[usize::from(value)]);
        let hex: String = message
            .data
            .iter()
            .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
            .collect();
        format!("{} {} {hex}", message.topic, message.log_time_ns)
    };
    let mut lines: Vec<_> = messages.iter().map(line).collect();
    lines.sort();
    lines
}

fn theirs(text: &str) -> Vec<String> {
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn written_storages() -> Vec<(&'static str, StorageOptions)> {
    let mcap = |compression| {
        StorageOptions::Mcap(McapOptions {
            compression,
            threads: 2,
            chunk_size: 8000,
            ..McapOptions::default()
        })
    };
    vec![
        ("mcap", mcap(McapCompression::None)),
        ("mcap_zstd", mcap(McapCompression::Zstd(1))),
        ("mcap_lz4", mcap(McapCompression::Lz4)),
        (
            "mcap_fastwrite",
            StorageOptions::Mcap(McapOptions::preset("fastwrite").unwrap()),
        ),
        ("sqlite3", StorageOptions::Sqlite3(SqliteOptions::default())),
        (
            "sqlite3_resilient",
            StorageOptions::Sqlite3(SqliteOptions::preset("resilient").unwrap()),
        ),
    ]
}

#[test]
fn other_tools_read_our_bags() {
    let Some(python) = python() else { return };
    let directory = BagScratch::new();
    for (name, storage) in written_storages() {
        for compression in [
            CompressionMode::None,
            CompressionMode::File,
            CompressionMode::Message,
        ] {
            for (version, split) in [(9, 0), (10, 60_000_000)] {
                let path = directory
                    .path()
                    .join(format!("{name}_{compression:?}_{version}"));
                let options = BagOptions {
                    storage: storage.clone(),
                    compression,
                    metadata_version: Some(version),
                    max_file_duration_ns: split,
                    ros_distro: "jazzy".into(),
                    ..BagOptions::default()
                };
                write_bag(&path, options, 200);
                let expected = lines(&read_bag(&path));
                assert_eq!(expected.len(), 200);
                // rosbags refuses versions that it does not know; version 9 is for readers like it.
                if version == 9 {
                    assert!(
                        theirs(&run(&python, &["rosbags", path.to_str().unwrap()])) == expected,
                        "rosbags: {}",
                        path.display()
                    );
                }
                if compression == CompressionMode::None && name.starts_with("mcap") {
                    let mut read = Vec::new();
                    for file in files_below(&path)
                        .iter()
                        .filter(|file| file.extension().unwrap() == "mcap")
                    {
                        read.extend(theirs(&run(&python, &["mcap", file.to_str().unwrap()])));
                    }
                    read.sort();
                    assert!(read == expected, "mcap: {}", path.display());
                }
            }
        }
    }
}

#[test]
fn other_tools_read_a_default_bag_with_a_saved_account() {
    let Some(python) = python() else { return };
    let directory = BagScratch::new();
    for (name, storage) in written_storages() {
        let path = directory.path().join(name);
        let options = BagOptions {
            storage,
            ..BagOptions::default()
        };
        let mut writer = BagWriter::create(&path, options).unwrap();
        let topics = test_topics();
        let ids: Vec<_> = topics
            .iter()
            .map(|it| writer.add_topic(it).unwrap())
            .collect();
        let topic = ids[0];
        for k in 0..50 {
            let (data, time) = (payload(k), message_time(k));
            let message = Message {
                topic,
                log_time_ns: time,
                publish_time_ns: time,
                sequence: k,
                data: &data,
            };
            writer.lost_in_transport(topic, 1, time);
            let now = i64::from(k) * 1_000_000_000;
            assert!(writer.write(&[message], now).is_ok());
        }
        writer.finish().unwrap().1.into_result().unwrap();
        let expected = lines(&read_bag(&path));
        assert_eq!(expected.len(), 50);
        let read = theirs(&run(&python, &["rosbags", path.to_str().unwrap()]));
        assert!(read == expected, "rosbags: {name}");
        if name.starts_with("mcap") {
            let file = path.join(format!("{name}_0.mcap"));
            let bytes = std::fs::read(&file).unwrap();
            let record = b"timeloom.account";
            assert!(bytes.windows(record.len()).any(|it| it == record));
            let read = theirs(&run(&python, &["mcap", file.to_str().unwrap()]));
            assert!(read == expected, "mcap: {name}");
        }
    }
}

/// Large messages go to the disk directly, behind a private record of padding.
#[test]
fn other_tools_read_large_messages() {
    let Some(python) = python() else { return };
    let directory = BagScratch::new();
    let path = directory.path().join("large");
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let topics = test_topics();
    let ids: Vec<_> = topics
        .iter()
        .map(|it| writer.add_topic(it).unwrap())
        .collect();
    for (k, size) in (0..).zip([700_001, 40, 262_144, 1_500_003, 9, 300_000]) {
        let text = format!("message {}", "x".repeat(size));
        let length = u32::try_from(text.len() + 1).unwrap().to_le_bytes();
        let data = [&[0, 1, 0, 0][..], &length, text.as_bytes(), &[0]].concat();
        let time = message_time(k);
        let message = Message {
            topic: ids[0],
            log_time_ns: time,
            publish_time_ns: time,
            sequence: k,
            data: &data,
        };
        assert!(writer.write(&[message], time).is_ok());
    }
    writer.finish().unwrap().1.into_result().unwrap();
    let expected = lines(&read_bag(&path));
    assert_eq!(expected.len(), 6);
    let read = theirs(&run(&python, &["rosbags", path.to_str().unwrap()]));
    assert!(read == expected, "rosbags");
    let file = path.join("large_0.mcap");
    let read = theirs(&run(&python, &["mcap", file.to_str().unwrap()]));
    assert!(read == expected, "mcap");
}

#[test]
fn we_read_bags_of_other_tools() {
    let Some(python) = python() else { return };
    let directory = BagScratch::new();
    let text = run(&python, &["write", directory.path().to_str().unwrap()]);
    let mut bags = 0;
    for line in text.lines() {
        let (path, expected) = line.split_once(' ').unwrap();
        let mut expected: Vec<_> = expected.split(';').map(str::to_owned).collect();
        expected.sort();
        assert!(lines(&read_bag(Path::new(path))) == expected, "{path}");
        bags += 1;
    }
    assert!(bags >= 8, "{bags} bags:\n{text}");
}
