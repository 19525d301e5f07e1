//! Attachments and metadata records of other programs: carried over, or counted.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use timeloom_bag::convert::{ConvertOutput, ConvertReport, OnDamage, convert};
use timeloom_bag::mcap::McapReader;
use timeloom_bag::storage::ExtraCounts;
use timeloom_bag::{
    BagOptions, CompressionMode, Error, StorageId, StorageOptions, StorageReader, recover,
};
use timeloom_testkit::mcap::BagScratch;

const BOTH: ExtraCounts = ExtraCounts {
    attachments: 2,
    metadata_records: 1,
};

/// More than one piece of the copy.
fn large() -> Vec<u8> {
    (0..700_001_u32)
        .map(|k| (k * 7 % 251).to_le_bytes()[0])
        .collect()
}

/// A file of the `mcap` crate with 40 messages, two attachments between them and a metadata record.
fn write_file(path: &Path, options: mcap::WriteOptions) {
    let mut writer = options.create(fs::File::create(path).unwrap()).unwrap();
    let schema = writer
        .add_schema("std_msgs/msg/String", "ros2msg", b"string data\n")
        .unwrap();
    let channel = writer
        .add_channel(schema, "/chatter", "cdr", &BTreeMap::new())
        .unwrap();
    for k in 0..40_u32 {
        if k == 20 {
            for (name, data) in [("small.txt", b"hello".to_vec()), ("large.bin", large())] {
                let attachment = mcap::Attachment {
                    log_time: 5,
                    create_time: 6,
                    name: name.into(),
                    media_type: "application/octet-stream".into(),
                    data: data.into(),
                };
                writer.attach(&attachment).unwrap();
            }
            let metadata = mcap::records::Metadata {
                name: "operator".into(),
                metadata: [("who".to_owned(), "ana".to_owned())].into(),
            };
            writer.write_metadata(&metadata).unwrap();
        }
        let time = u64::from(k) * 1_000_000_000;
        let header = mcap::records::MessageHeader {
            channel_id: channel,
            sequence: k,
            log_time: time,
            publish_time: time,
        };
        let data = [b"\0\x01\0\0", &k.to_le_bytes()[..]].concat();
        writer.write_to_known_channel(&header, &data).unwrap();
    }
    writer.finish().unwrap();
}

fn plain() -> mcap::WriteOptions {
    mcap::WriteOptions::new()
        .compression(None)
        .chunk_size(Some(100))
}

/// Names and bytes of the attachments, then names and maps of the foreign metadata, as the `mcap` crate sees them.
fn seen_by_the_crate(path: &Path) -> (Vec<(String, Vec<u8>)>, Vec<String>) {
    let bytes = fs::read(path).unwrap();
    let summary = mcap::read::Summary::read(&bytes).unwrap().unwrap();
    let statistics = summary.stats.as_ref().unwrap();
    assert_eq!(
        statistics.attachment_count as usize,
        summary.attachment_indexes.len()
    );
    assert_eq!(
        statistics.metadata_count as usize,
        summary.metadata_indexes.len()
    );
    let attachments = summary.attachment_indexes.iter().map(|index| {
        let attachment = mcap::read::attachment(&bytes, index).unwrap();
        assert_eq!((attachment.log_time, attachment.create_time), (5, 6));
        assert_eq!(attachment.media_type, "application/octet-stream");
        (attachment.name, attachment.data.into_owned())
    });
    let metadata = summary
        .metadata_indexes
        .iter()
        .filter(|index| index.name != "rosbag2")
        .map(|index| {
            let record = mcap::read::metadata(&bytes, index).unwrap();
            format!("{} {:?}", record.name, record.metadata)
        });
    (attachments.collect(), metadata.collect())
}

fn expected() -> (Vec<(String, Vec<u8>)>, Vec<String>) {
    (
        vec![
            ("small.txt".into(), b"hello".to_vec()),
            ("large.bin".into(), large()),
        ],
        vec!["operator {\"who\": \"ana\"}".into()],
    )
}

fn run(
    inputs: &[PathBuf],
    output: ConvertOutput,
    on_damage: OnDamage,
) -> Result<ConvertReport, Error> {
    convert(inputs, vec![output], on_damage, &mut |_| {})
}

#[test]
fn the_first_mcap_file_of_an_output_gets_them() {
    let directory = BagScratch::new();
    let at = |name: &str| directory.path().join(name);
    write_file(&at("in.mcap"), plain());
    assert_eq!(
        McapReader::open(&at("in.mcap")).unwrap().info().extras,
        BOTH
    );
    let options = BagOptions {
        max_file_duration_ns: 9_000_000_000,
        ..BagOptions::default()
    };
    let mut output = ConvertOutput::new(at("out"), options);
    // A slice keeps them, too: they belong to the recording.
    output.start_ns = Some(30_000_000_000);
    let report = run(&[at("in.mcap")], output, OnDamage::Fail).unwrap();
    assert_eq!(report.not_carried_over, [ExtraCounts::default()]);
    assert_eq!(report.messages_written, [10]);
    assert_eq!(seen_by_the_crate(&at("out/out_0.mcap")), expected());
    let again = ConvertOutput::new(
        at("packed"),
        BagOptions {
            compression: CompressionMode::File,
            storage: StorageOptions::preset(StorageId::Mcap, "zstd_fast").unwrap(),
            ..BagOptions::default()
        },
    );
    let report = run(&[at("out"), at("in.mcap")], again, OnDamage::Fail).unwrap();
    assert_eq!(report.not_carried_over, [ExtraCounts::default()]);
    let packed = McapReader::verify(&at("packed/packed_0.mcap.zstd")).unwrap();
    let twice = ExtraCounts {
        attachments: 4,
        metadata_records: 2,
    };
    assert_eq!(
        (packed.info().extras, packed.info().damage.len()),
        (twice, 0)
    );
}

#[test]
fn only_the_first_file_of_a_split_gets_them() {
    let directory = BagScratch::new();
    let at = |name: &str| directory.path().join(name);
    write_file(&at("in.mcap"), plain());
    let options = BagOptions {
        max_file_duration_ns: 19_000_000_000,
        ..BagOptions::default()
    };
    run(
        &[at("in.mcap")],
        ConvertOutput::new(at("out"), options),
        OnDamage::Fail,
    )
    .unwrap();
    assert_eq!(seen_by_the_crate(&at("out/out_0.mcap")), expected());
    assert_eq!(seen_by_the_crate(&at("out/out_1.mcap")), (vec![], vec![]));
}

#[test]
fn a_storage_that_cannot_hold_them_leaves_a_count() {
    let directory = BagScratch::new();
    let at = |name: &str| directory.path().join(name);
    write_file(&at("in.mcap"), plain());
    let options = BagOptions {
        storage: StorageOptions::preset(StorageId::Sqlite3, "").unwrap(),
        ..BagOptions::default()
    };
    let outputs = vec![
        ConvertOutput::new(at("db"), options),
        ConvertOutput::new(at("mcap"), BagOptions::default()),
    ];
    let report = convert(&[at("in.mcap")], outputs, OnDamage::Fail, &mut |_| {}).unwrap();
    assert_eq!(report.not_carried_over, [BOTH, ExtraCounts::default()]);
    assert_eq!(report.messages_written, [40, 40]);
}

#[test]
fn records_without_an_index_are_found() {
    let directory = BagScratch::new();
    let path = directory.path().join("in.mcap");
    for options in [
        plain().emit_attachment_indexes(false),
        plain().emit_metadata_indexes(false),
        plain()
            .emit_summary_records(false)
            .emit_summary_offsets(false),
    ] {
        write_file(&path, options);
        let reader = McapReader::open(&path).unwrap();
        assert_eq!(reader.info().extras, BOTH);
        assert_eq!(reader.info().damage, Vec::<String>::new());
        assert_eq!(reader.info().message_count(), 40);
    }
}

#[test]
fn recover_carries_them_over() {
    let directory = BagScratch::new();
    let path = directory.path().join("in.mcap");
    write_file(&path, plain());
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 20]).unwrap();
    let report = recover(&path, 10).unwrap();
    assert_eq!(
        (report.files[0].messages, report.files[0].extras),
        (40, BOTH)
    );
    assert!(
        report.lost_extras().is_empty() && !report.is_lossy(),
        "{report:?}"
    );
    assert_eq!(seen_by_the_crate(&path), expected());
}

#[test]
fn a_truncated_attachment_is_counted() {
    let directory = BagScratch::new();
    let path = directory.path().join("in.mcap");
    write_file(&path, plain());
    let bytes = fs::read(&path).unwrap();
    let large = large();
    let within = bytes
        .windows(64)
        .position(|window| *window == large[..64])
        .unwrap()
        + 1000;
    fs::write(&path, &bytes[..within]).unwrap();
    let report = recover(&path, 10).unwrap();
    let file = &report.files[0];
    let one = ExtraCounts {
        attachments: 1,
        metadata_records: 0,
    };
    assert_eq!(
        (file.messages, file.extras, file.lost_extras),
        (20, one, one)
    );
    assert!(report.is_lossy());
    assert_eq!(
        seen_by_the_crate(&path).0,
        [("small.txt".into(), b"hello".to_vec())]
    );
}

#[test]
fn a_changed_attachment_is_damage() {
    let directory = BagScratch::new();
    directory.unchecked();
    let at = |name: &str| directory.path().join(name);
    write_file(&at("in.mcap"), plain());
    let mut bytes = fs::read(at("in.mcap")).unwrap();
    let place = bytes
        .windows(5)
        .position(|window| window == b"hello")
        .unwrap();
    bytes[place] = b'j';
    fs::write(at("in.mcap"), &bytes).unwrap();
    let output = |name: &str| ConvertOutput::new(at(name), BagOptions::default());
    let error = run(&[at("in.mcap")], output("a"), OnDamage::Fail).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Crc {
                what: "attachment",
                ..
            }
        ),
        "{error}"
    );
    let report = run(&[at("in.mcap")], output("b"), OnDamage::Skip).unwrap();
    assert!(
        report.damage[0].contains("attachment crc mismatch"),
        "{:?}",
        report.damage
    );
    // Its bytes are kept unchanged: they may still be useful.
    assert_eq!(report.not_carried_over, [ExtraCounts::default()]);
    assert_eq!(
        McapReader::open(&at("b/b_0.mcap")).unwrap().info().extras,
        BOTH
    );
}

#[test]
fn an_index_with_a_wrong_offset_is_an_error_or_a_count() {
    let directory = BagScratch::new();
    directory.unchecked();
    let at = |name: &str| directory.path().join(name);
    write_file(&at("in.mcap"), plain().calculate_summary_section_crc(false));
    let mut bytes = fs::read(at("in.mcap")).unwrap();
    let name = bytes
        .windows(9)
        .rposition(|window| window == b"small.txt")
        .unwrap();
    // Offset, length, log time, create time, size and length of the name lie before the name.
    bytes[name - 44] ^= 1;
    fs::write(at("in.mcap"), &bytes).unwrap();
    let output = |name: &str| ConvertOutput::new(at(name), BagOptions::default());
    assert!(run(&[at("in.mcap")], output("a"), OnDamage::Fail).is_err());
    let report = run(&[at("in.mcap")], output("b"), OnDamage::Skip).unwrap();
    let one = ExtraCounts {
        attachments: 1,
        metadata_records: 0,
    };
    assert_eq!(
        (report.not_carried_over, report.damage.len()),
        (vec![one], 1)
    );
    assert_eq!(seen_by_the_crate(&at("b/b_0.mcap")).0.len(), 1);
}
