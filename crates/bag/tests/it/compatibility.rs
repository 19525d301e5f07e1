//! Intact files that `ros2 bag` does not read in full are named and repaired.

use std::fs;
use std::path::{Path, PathBuf};

use timeloom_bag::conformance::OwnedMessage;
use timeloom_bag::convert::{ConvertOutput, OnDamage, convert};
use timeloom_bag::metadata::METADATA_FILE;
use timeloom_bag::{BagInfo, BagOptions, recover, reindex};
use timeloom_testkit::mcap::assert_valid_bag;
use timeloom_testkit::mcap::{BagScratch, ForgedChunk, ForgedMcap, Layout, Rule, violations};

use crate::support::read_bag;

/// A file with 6 messages of two topics. `first` writes the records before the chunks with messages.
fn forged(first: impl FnOnce(&mut ForgedMcap, &[u8])) -> ForgedMcap {
    let mut file = ForgedMcap::default();
    let schema = file.know_schema(1, "std_msgs/msg/String");
    let a = file.know_channel(1, 1, "/a");
    let b = file.know_channel(2, 1, "/b");
    first(&mut file, &[schema, a, b].concat());
    for k in 0..3 {
        let time = 1_000 + k * 10;
        file.chunk(&ForgedChunk::default().message(1, time).message(2, time + 1));
    }
    file.attachment("a.txt", b"hello");
    file
}

/// As earlier writers left it: definitions in a chunk of their own.
fn definitions_in_a_chunk(file: &mut ForgedMcap, definitions: &[u8]) {
    file.chunk(&ForgedChunk::default().with(definitions));
}

/// The bags with a defect, the rule that they break, and its description.
fn defects() -> Vec<(&'static str, ForgedMcap, Rule, &'static str)> {
    let in_front = |file: &mut ForgedMcap, definitions: &[u8]| file.append(definitions);
    let mut of_libmcap = forged(definitions_in_a_chunk);
    of_libmcap.chunk_indexes[0].start = u64::MAX;
    let mut late = forged(in_front);
    let channel = late.know_channel(3, 1, "/late");
    late.chunk(&ForgedChunk::default().with(&channel));
    let mut unindexed = forged(in_front);
    unindexed.chunk_indexes[1].index_offsets.clear();
    unindexed.chunk_indexes[1].index_length = 0;
    let bare = forged(|file, definitions| {
        file.append(definitions);
        file.bare_message(1, 900);
    });
    let mut unknown = forged(in_front);
    unknown.channels.truncate(1);
    let mut times = forged(in_front);
    times.chunk_indexes[1].start = 0;
    let empty = "chunk 0 holds no message: ros2 bag reads this file as empty (libmcap up to 1.3.0)";
    vec![
        (
            "empty",
            forged(definitions_in_a_chunk),
            Rule::ChunkEmpty,
            empty,
        ),
        ("libmcap", of_libmcap, Rule::ChunkEmpty, empty),
        (
            "late",
            late,
            Rule::ChunkEmpty,
            "1 of 4 chunks hold no message: other readers may refuse the file",
        ),
        (
            "unindexed",
            unindexed,
            Rule::ChunkIndexOffsets,
            "2 of 6 messages are in no message index: ros2 bag skips them",
        ),
        (
            "bare",
            bare,
            Rule::MessageOutsideChunk,
            "1 of 7 messages are in no message index: ros2 bag skips them",
        ),
        (
            "unknown",
            unknown,
            Rule::SummaryChannels,
            "channel 2 is not in the summary: ros2 bag skips its 3 messages",
        ),
        (
            "times",
            times,
            Rule::ChunkIndexTimes,
            "the times of 1 of 3 chunks contradict those of the messages: ros2 bag may skip messages or play them in \
             another order",
        ),
    ]
}

/// Writes a bag of one file; returns its messages.
fn write(directory: &Path, name: &str, file: &ForgedMcap) -> (PathBuf, Vec<OwnedMessage>) {
    let bag = directory.join(name);
    fs::create_dir(&bag).unwrap();
    fs::write(bag.join(format!("{name}_0.mcap")), file.finish()).unwrap();
    let messages = read_bag(&bag);
    assert_eq!(
        messages.len() as u64,
        file.statistics.messages,
        "our own reader reads it"
    );
    (bag, messages)
}

#[test]
fn each_forged_file_has_its_defect() {
    for (name, file, rule, _) in defects() {
        let found = violations(&file.finish(), Layout::Indexed);
        assert!(
            found.iter().any(|one| one.rule == rule),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn recover_rewrites_them_and_keeps_everything() {
    let directory = BagScratch::new();
    for (name, file, _, words) in defects() {
        let (bag, messages) = write(&directory, name, &file);
        let words = vec![format!("{name}_0.mcap: {words}")];
        assert_eq!(BagInfo::open(&bag).unwrap().compatibility, words);
        let report = reindex(&bag, 10).unwrap();
        assert_eq!(
            (report.damage, report.compatibility),
            (Vec::new(), words.clone())
        );
        let info = BagInfo::open(&bag).unwrap();
        assert_eq!(
            (info.damage, info.compatibility),
            (Vec::new(), words),
            "with metadata.yaml"
        );

        let original = fs::read(bag.join(format!("{name}_0.mcap"))).unwrap();
        let report = recover(&bag, 10).unwrap();
        assert!(
            !report.is_lossy() && report.lost_messages() == 0,
            "{report:?}"
        );
        let recovered = &report.files[0];
        assert_eq!(recovered.messages, messages.len() as u64);
        assert_eq!(
            (recovered.extras.attachments, recovered.damage.len()),
            (1, 1)
        );
        assert_eq!(
            fs::read(recovered.original.as_ref().unwrap()).unwrap(),
            original
        );
        assert_valid_bag(&bag);
        assert!(read_bag(&bag) == messages, "{name}");
        let info = BagInfo::open(&bag).unwrap();
        assert_eq!(
            (info.damage.len(), info.compatibility.len()),
            (0, 0),
            "{name}"
        );
        assert!(
            recover(&bag, 10).unwrap().files[0].original.is_none(),
            "{name}: whole now"
        );
    }
}

#[test]
fn convert_repairs_them() {
    let directory = BagScratch::new();
    for (name, file, ..) in defects() {
        let (bag, messages) = write(&directory, name, &file);
        reindex(&bag, 10).unwrap();
        let out = directory.join(format!("{name}_converted"));
        let output = ConvertOutput::new(&out, BagOptions::default());
        convert(&[&bag], vec![output], OnDamage::Fail, &mut |_| {}).unwrap();
        assert_valid_bag(&out);
        assert!(read_bag(&out) == messages, "{name}");
        fs::remove_file(out.join(METADATA_FILE)).unwrap();
        assert_eq!(
            BagInfo::open(&out).unwrap().compatibility,
            Vec::<String>::new()
        );
    }
}
