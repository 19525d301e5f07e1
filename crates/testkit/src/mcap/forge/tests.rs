//! Each rule is seen failing on a file with one mistake.

use std::collections::BTreeSet;

use super::super::{Layout, Rule, violations};
use super::*;

/// Two chunks, two channels, an attachment and a metadata record; `change` sees the forge before the second chunk.
fn file(change: impl FnOnce(&mut ForgedMcap)) -> ForgedMcap {
    let mut file = ForgedMcap::default();
    let schema = file.know_schema(1, "std_msgs/msg/String");
    let first = file.know_channel(1, 1, "/a");
    let second = file.know_channel(2, 1, "/b");
    file.append(&[schema, first].concat());
    file.metadata("rosbag2", &[("k", "v")]);
    let chunk = ForgedChunk::default().message(1, 20).message(1, 10);
    file.chunk(&chunk.with(&second).message(2, 15));
    file.attachment("a.txt", b"hello");
    change(&mut file);
    file.chunk(&ForgedChunk::default().message(2, 30));
    file
}

fn rules(bytes: &[u8]) -> BTreeSet<Rule> {
    let found = violations(bytes, Layout::Indexed);
    found.into_iter().map(|violation| violation.rule).collect()
}

/// A file with a mistake in the data section.
fn data(change: impl FnOnce(&mut ForgedMcap)) -> Vec<u8> {
    file(change).finish()
}

/// A file with a mistake in the summary.
fn summary(change: impl FnOnce(&mut ForgedMcap)) -> Vec<u8> {
    let mut file = file(|_| {});
    change(&mut file);
    file.finish()
}

/// A file with a mistake in a chunk.
fn chunk(change: impl FnOnce(&mut ForgedChunk)) -> Vec<u8> {
    let mut chunk = ForgedChunk::default().message(1, 40);
    change(&mut chunk);
    data(|file| file.chunk(&chunk))
}

fn patched(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = summary(|_| {});
    change(&mut bytes);
    bytes
}

/// For each rule a file that breaks it.
fn broken(rule: Rule) -> Vec<u8> {
    match rule {
        Rule::Magic => patched(|bytes| bytes[3] = b'X'),
        Rule::Header => patched(|bytes| bytes[8] = op::METADATA),
        Rule::Footer => patched(|bytes| {
            let at = bytes.len() - 37;
            bytes[at] = op::METADATA;
        }),
        Rule::RecordBounds => data(|file| file.append(&[op::METADATA, 1, 0, 0, 0, 0, 0, 0, 1])),
        Rule::RecordShape => data(|file| file.metadata("twice", &[("k", "1"), ("k", "2")])),
        Rule::RecordPlace => data(|file| file.append(&record(op::STATISTICS, &[]))),
        Rule::DataEnd => summary(|file| file.data_end.clear()),
        Rule::DataCrc => summary(|file| file.data_end = record(op::DATA_END, &[1; 4])),
        Rule::SchemaId => data(|file| file.append(&ForgedMcap::schema_record(1, "other"))),
        Rule::ChannelId => data(|file| file.append(&ForgedMcap::channel_record(1, 1, "/other"))),
        Rule::ChannelSchema => data(|file| {
            let channel = file.know_channel(3, 0, "/no_schema");
            file.append(&channel);
        }),
        Rule::MessageChannel => chunk(|chunk| *chunk = ForgedChunk::default().message(9, 40)),
        Rule::MessageTime => chunk(|chunk| *chunk = ForgedChunk::default().message(1, u64::MAX)),
        Rule::MessageOutsideChunk => data(|file| file.bare_message(1, 40)),
        Rule::ChunkEmpty => data(|file| {
            let channel = file.know_channel(3, 1, "/late");
            file.chunk(&ForgedChunk::default().with(&channel));
        }),
        Rule::ChunkTimes => chunk(|chunk| chunk.start_shift = 1),
        Rule::ChunkUnpacks => chunk(|chunk| chunk.compression = "zstd".into()),
        Rule::ChunkCrc => chunk(|chunk| chunk.crc = 7),
        Rule::MessageIndexComplete => chunk(|chunk| {
            *chunk = chunk.clone().with(&ForgedMcap::message_record(2, 40));
        }),
        Rule::MessageIndexEntries => chunk(|chunk| chunk.messages[0].2 += 1),
        Rule::MessageIndexPlace => data(|file| {
            file.metadata("between", &[]);
            file.append(&record(op::MESSAGE_INDEX, &[1, 0, 0, 0, 0, 0]));
        }),
        _ => broken_summary(rule),
    }
}

fn broken_summary(rule: Rule) -> Vec<u8> {
    match rule {
        Rule::SummaryPlace => summary(|file| file.start_shift = 1),
        Rule::SummaryGroups => summary(|file| file.groups.swap(1, 2)),
        Rule::SummaryCrc => patched(|bytes| {
            let at = bytes.len() - 9;
            bytes[at] ^= 1;
        }),
        Rule::SummaryOffsets => summary(|file| file.group_shift = 1),
        Rule::SummarySchemas => summary(|file| file.schemas.clear()),
        Rule::SummaryChannels => summary(|file| file.channels.truncate(1)),
        Rule::ChunkIndexPlace => summary(|file| file.chunk_indexes.truncate(1)),
        Rule::ChunkIndexTimes => summary(|file| file.chunk_indexes[0].end -= 1),
        Rule::ChunkIndexOffsets => summary(|file| file.chunk_indexes[1].index_offsets.clear()),
        Rule::ChunkIndexLength => summary(|file| file.chunk_indexes[1].index_length = 0),
        Rule::ChunkIndexSizes => summary(|file| file.chunk_indexes[0].uncompressed += 1),
        Rule::StatisticsPresent => summary(|file| file.groups.retain(|op| *op != op::STATISTICS)),
        Rule::StatisticsCounts => summary(|file| file.statistics.chunks += 1),
        Rule::StatisticsTimes => summary(|file| file.statistics.end -= 1),
        Rule::StatisticsChannels => summary(|file| file.statistics.by_channel[0].1 += 1),
        Rule::AttachmentCrc => {
            let mut file = file(|_| {});
            let at = file.bytes.windows(5).position(|bytes| bytes == b"hello");
            file.bytes[at.unwrap()] = b'j';
            file.finish()
        }
        Rule::AttachmentIndex => summary(|file| file.attachment_indexes.clear()),
        Rule::MetadataIndex => summary(|file| file.metadata_indexes.clear()),
        rule => panic!("no file breaks {rule:?}"),
    }
}

#[test]
fn a_good_file_breaks_no_rule() {
    let bytes = summary(|_| {});
    assert_eq!(violations(&bytes, Layout::Indexed), []);
    assert_eq!(violations(&bytes, Layout::Scannable), []);
}

#[test]
fn every_rule_can_fail_alone() {
    for rule in Rule::ALL {
        let found = rules(&broken(rule));
        assert!(found.contains(&rule), "{rule:?} was not noticed: {found:?}");
        // Some mistakes break a second rule by necessity.
        let others: &[Rule] = match rule {
            Rule::RecordBounds => &[Rule::DataEnd],
            Rule::RecordShape => &[Rule::MetadataIndex, Rule::StatisticsCounts],
            Rule::DataEnd => &[
                Rule::RecordPlace,
                Rule::MessageOutsideChunk,
                Rule::SchemaId,
                Rule::ChannelId,
            ],
            Rule::MessageChannel => &[Rule::StatisticsChannels],
            Rule::MessageIndexComplete => &[Rule::StatisticsCounts, Rule::StatisticsChannels],
            Rule::ChunkUnpacks => &[
                Rule::ChunkEmpty,
                Rule::MessageIndexComplete,
                Rule::MessageIndexEntries,
                Rule::StatisticsCounts,
                Rule::StatisticsTimes,
                Rule::StatisticsChannels,
            ],
            _ => &[],
        };
        for extra in found.iter().filter(|found| **found != rule) {
            assert!(others.contains(extra), "{rule:?} also breaks {extra:?}");
        }
    }
}

#[test]
fn a_file_without_summary_or_message_indexes_is_scannable_only() {
    let mut file = file(|_| {});
    file.groups.clear();
    let bytes = file.finish();
    assert!(rules(&bytes).contains(&Rule::SummaryPlace));
    assert_eq!(violations(&bytes, Layout::Scannable), []);
}

#[test]
fn noise_is_never_a_panic() {
    let good = summary(|_| {});
    let mut mutator = crate::mutation::Mutator::new(7);
    for _ in 0..3000 {
        violations(&mutator.mutate(&good), Layout::Indexed);
    }
}
