//! Conversions keep every selected message.

use timeloom_bag::convert::{ConvertOutput, OnDamage, convert};
use timeloom_bag::metadata::read_metadata_file;
use timeloom_bag::{BagOptions, BagReader, CompressionMode, StorageReader, UnknownMessages};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{assert_holds, bags, message_time, read_bag, storages, write_bag};

fn run(inputs: &[std::path::PathBuf], output: ConvertOutput) -> u64 {
    let report = convert(inputs, vec![output], OnDamage::Fail, &mut |_| {}).unwrap();
    assert_eq!(report.damage, Vec::<String>::new());
    report.messages_written[0]
}

#[test]
fn every_storage_converts_to_every_other() {
    let directory = BagScratch::new();
    let source = directory.path().join("source");
    write_bag(&source, BagOptions::default(), 200);
    let mut previous = source;
    for (number, (_, storage)) in storages().into_iter().enumerate() {
        for compression in [
            CompressionMode::Message,
            CompressionMode::None,
            CompressionMode::File,
        ] {
            let path = directory.path().join(format!("{number}_{compression:?}"));
            let options = BagOptions {
                storage: storage.clone(),
                compression,
                max_file_duration_ns: 50_000_000,
                ..BagOptions::default()
            };
            assert_eq!(run(&[previous], ConvertOutput::new(&path, options)), 200);
            assert_holds(&path, 0..200);
            previous = path;
        }
    }
    let topics = BagReader::open(&previous).unwrap().info().topics.clone();
    assert_eq!(
        topics,
        crate::support::test_topics(),
        "definitions, hashes and QoS survive the whole chain"
    );
}

#[test]
fn slice_filter_and_rename() {
    let directory = BagScratch::new();
    let source = directory.path().join("source");
    write_bag(&source, BagOptions::default(), 200);
    let slice = directory.path().join("slice");
    let mut output = ConvertOutput::new(&slice, BagOptions::default());
    output.start_ns = Some(message_time(50));
    output.end_ns = Some(message_time(99));
    assert_eq!(run(std::slice::from_ref(&source), output), 50);
    assert_holds(&slice, 50..100);
    let renamed = directory.path().join("renamed");
    let mut output = ConvertOutput::new(&renamed, BagOptions::default());
    output.topics = Box::new(|topic, _| topic.name == "/a");
    output.remap = vec![("/a".into(), "/robot/a".into())];
    assert_eq!(run(&[source], output), 100);
    assert!(
        read_bag(&renamed)
            .iter()
            .all(|message| message.topic == "/robot/a")
    );
    assert_eq!(BagReader::open(&renamed).unwrap().info().topics.len(), 1);
}

#[test]
fn merge_of_real_bags_of_both_storages() {
    let directory = BagScratch::new();
    let inputs = [
        "mcap_plain",
        "sqlite3_plain",
        "mcap_file_zstd",
        "mcap_msg_zstd",
        "mcap_fastwrite",
    ]
    .map(|name| bags().join(name));
    let expected: u64 = inputs
        .iter()
        .map(|path| read_metadata_file(path).unwrap().message_count)
        .sum();
    let path = directory.path().join("merged");
    assert_eq!(
        run(&inputs, ConvertOutput::new(&path, BagOptions::default())),
        expected
    );
    let messages = read_bag(&path);
    assert!(messages.is_sorted_by_key(|message| message.log_time_ns));
    let mut payloads: Vec<_> = inputs
        .iter()
        .flat_map(|path| read_bag(path))
        .map(|m| (m.log_time_ns, m.topic, m.data))
        .collect();
    payloads.sort();
    let mut merged: Vec<_> = messages
        .into_iter()
        .map(|m| (m.log_time_ns, m.topic, m.data))
        .collect();
    merged.sort();
    assert!(payloads == merged, "byte-equal payloads");
}

#[test]
fn two_outputs_in_one_pass_and_losses_carried_over() {
    let directory = BagScratch::new();
    let source = directory.path().join("source");
    let mut writer = timeloom_bag::BagWriter::create(&source, BagOptions::default()).unwrap();
    let id = writer.add_topic(&crate::support::test_topics()[0]).unwrap();
    writer.lost_in_transport(id, 5, 0);
    let unknown = UnknownMessages {
        before_first: 2,
        open_publishers: 3,
        ..UnknownMessages::default()
    };
    writer.leave_open(id, unknown);
    assert!(writer.finish().unwrap().1.is_ok());
    let outputs = ["x", "y"]
        .map(|name| ConvertOutput::new(directory.path().join(name), BagOptions::default()));
    let report = convert(&[source], outputs.into(), OnDamage::Fail, &mut |_| {}).unwrap();
    assert_eq!(report.messages_written, [0, 0]);
    let metadata = read_metadata_file(&directory.path().join("y")).unwrap();
    let account = metadata.topics[0].statistics.unwrap();
    assert_eq!(account.messages_lost_in_transport, 5);
    assert_eq!(account.unknown, unknown);
}
