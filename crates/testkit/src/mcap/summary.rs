//! The summary: repeated definitions, indexes, statistics, offsets.

use std::collections::{BTreeMap, BTreeSet};

use super::check::{Findings, Footer, Layout};
use super::chunk::SeenChunk;
use super::data_section::{DataSection, channel, malformed, not_here, schema};
use super::fields::{Fields, Record, op, wide};
use super::rule::Rule;

/// Bytes of the footer that its checksum covers.
const FOOTER_IN_CRC: usize = 9 + 16;

/// The surroundings of the summary.
pub(super) struct Frame<'a> {
    pub(super) bytes: &'a [u8],
    /// All records behind the data end.
    pub(super) records: &'a [Record<'a>],
    /// Where the data section ends.
    pub(super) data_end: u64,
    /// Where the footer begins.
    pub(super) tail_at: usize,
    pub(super) footer: Footer,
}

pub(super) fn check(frame: &Frame<'_>, data: &DataSection, layout: Layout, out: &mut Findings) {
    let (start, offsets_start, crc) = frame.footer;
    if start == 0 && frame.records.is_empty() && layout == Layout::Scannable {
        return;
    }
    out.expect(start == frame.data_end, Rule::SummaryPlace, || {
        format!(
            "at byte {start}, the data section ends at {}",
            frame.data_end
        )
    });
    let covered = &frame.bytes[usize::try_from(frame.data_end).unwrap_or(0)..];
    let actual = crc32fast::hash(&covered[..covered.len() - (37 - FOOTER_IN_CRC)]);
    out.expect(crc == 0 || crc == actual, Rule::SummaryCrc, || {
        format!("{crc:08x}, the bytes have {actual:08x}")
    });
    let split = frame
        .records
        .iter()
        .position(|record| record.opcode == op::SUMMARY_OFFSET);
    let (summary, offsets) = frame.records.split_at(split.unwrap_or(frame.records.len()));
    let groups = groups(summary, out);
    check_offsets(offsets, offsets_start, &groups, frame.tail_at, out);
    let bodies = |opcode: u8| {
        let of_kind = summary.iter().filter(move |record| record.opcode == opcode);
        of_kind.copied()
    };
    definitions(bodies(op::SCHEMA), &data.schemas, Rule::SummarySchemas, out);
    definitions(
        bodies(op::CHANNEL),
        &data.channels,
        Rule::SummaryChannels,
        out,
    );
    chunk_indexes(bodies(op::CHUNK_INDEX), &data.chunks, out);
    for (opcode, wanted, rule) in [
        (
            op::ATTACHMENT_INDEX,
            &data.attachment_indexes,
            Rule::AttachmentIndex,
        ),
        (
            op::METADATA_INDEX,
            &data.metadata_indexes,
            Rule::MetadataIndex,
        ),
    ] {
        let mut found: Vec<_> = bodies(opcode).map(|record| record.body.to_vec()).collect();
        found.sort();
        out.expect(found == *wanted, rule, || {
            format!("{} records, {} are due", found.len(), wanted.len())
        });
    }
    let statistics: Vec<_> = bodies(op::STATISTICS).collect();
    match statistics.as_slice() {
        [record] => check_statistics(record, data, out),
        others => out.add(Rule::StatisticsPresent, format!("{} of them", others.len())),
    }
}

/// Opcode, start and length of each group.
fn groups(summary: &[Record<'_>], out: &mut Findings) -> Vec<(u8, u64, u64)> {
    let mut groups: Vec<(u8, u64, u64)> = Vec::new();
    for record in summary {
        match record.opcode {
            op::SCHEMA
            | op::CHANNEL
            | op::CHUNK_INDEX
            | op::ATTACHMENT_INDEX
            | op::METADATA_INDEX
            | op::STATISTICS => {}
            opcode => not_here("summary", opcode, record.at, out),
        }
        match groups.last_mut() {
            Some((opcode, _, length)) if *opcode == record.opcode => *length += record.length(),
            _ => groups.push((record.opcode, wide(record.at), record.length())),
        }
    }
    let opcodes: BTreeSet<u8> = groups.iter().map(|group| group.0).collect();
    out.expect(opcodes.len() == groups.len(), Rule::SummaryGroups, || {
        "an opcode has two groups".into()
    });
    let place = |opcode| groups.iter().position(|group| group.0 == opcode);
    if let (Some(statistics), Some(channels)) = (place(op::STATISTICS), place(op::CHANNEL)) {
        out.expect(channels < statistics, Rule::SummaryGroups, || {
            "the statistics come before the channels".into()
        });
    }
    groups
}

fn check_offsets(
    records: &[Record<'_>],
    start: u64,
    groups: &[(u8, u64, u64)],
    tail_at: usize,
    out: &mut Findings,
) {
    let actual = records.first().map_or(0, |record| wide(record.at));
    out.expect(start == actual, Rule::SummaryOffsets, || {
        format!("the footer places them at byte {start}, they begin at {actual} of {tail_at}")
    });
    let mut named = Vec::new();
    for record in records {
        if record.opcode != op::SUMMARY_OFFSET {
            not_here("summary offsets", record.opcode, record.at, out);
            continue;
        }
        let mut fields = Fields(record.body);
        match (fields.u8(), fields.u64(), fields.u64()) {
            (Some(opcode), Some(start), Some(length)) => named.push((opcode, start, length)),
            _ => malformed(record, out),
        }
    }
    out.expect(named == groups, Rule::SummaryOffsets, || {
        format!("{named:?}, the groups are {groups:?}")
    });
}

/// Schemas or channels: all of the data section, and equal to them.
fn definitions<'a>(
    records: impl Iterator<Item = Record<'a>>,
    wanted: &BTreeMap<u16, Vec<u8>>,
    rule: Rule,
    out: &mut Findings,
) {
    let mut found: BTreeMap<u16, Vec<u8>> = BTreeMap::new();
    for record in records {
        let id = match record.opcode {
            op::SCHEMA => schema(record.body),
            _ => channel(record.body).map(|(id, _)| id),
        };
        let Some(id) = id else {
            malformed(&record, out);
            continue;
        };
        let second = found.insert(id, record.body.to_vec());
        out.expect(second.is_none(), rule, || format!("id {id} comes twice"));
    }
    let differing: Vec<_> = wanted
        .keys()
        .chain(found.keys())
        .filter(|id| wanted.get(id) != found.get(id))
        .collect();
    out.expect(differing.is_empty(), rule, || {
        format!("ids {differing:?} are missing or differ from the data section")
    });
}

fn chunk_indexes<'a>(
    records: impl Iterator<Item = Record<'a>>,
    chunks: &[SeenChunk],
    out: &mut Findings,
) {
    let mut indexed = BTreeSet::new();
    for record in records {
        let Some(index) = ChunkIndex::parse(record.body) else {
            malformed(&record, out);
            continue;
        };
        let place = (index.offset, index.length);
        let chunk = chunks
            .iter()
            .find(|chunk| (chunk.offset, chunk.length) == place);
        let Some(chunk) = chunk else {
            out.add(Rule::ChunkIndexPlace, format!("no chunk at {place:?}"));
            continue;
        };
        out.expect(indexed.insert(place), Rule::ChunkIndexPlace, || {
            format!("two for the chunk at byte {}", index.offset)
        });
        index.compare(chunk, out);
    }
    out.expect(indexed.len() == chunks.len(), Rule::ChunkIndexPlace, || {
        format!("{} of {} chunks have one", indexed.len(), chunks.len())
    });
}

struct ChunkIndex {
    times: (u64, u64),
    offset: u64,
    length: u64,
    offsets: BTreeMap<u16, u64>,
    index_length: u64,
    compression: String,
    sizes: (u64, u64),
}

impl ChunkIndex {
    fn parse(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let index = Self {
            times: (fields.u64()?, fields.u64()?),
            offset: fields.u64()?,
            length: fields.u64()?,
            offsets: fields.id_map()?.into_iter().collect(),
            index_length: fields.u64()?,
            compression: fields.text()?.to_owned(),
            sizes: (fields.u64()?, fields.u64()?),
        };
        fields.0.is_empty().then_some(index)
    }

    fn compare(&self, chunk: &SeenChunk, out: &mut Findings) {
        let name = format!("chunk at byte {}", self.offset);
        out.expect(self.times == chunk.times, Rule::ChunkIndexTimes, || {
            format!("{name}: {:?}, the chunk has {:?}", self.times, chunk.times)
        });
        let offsets = &chunk.index_offsets;
        out.expect(self.offsets == *offsets, Rule::ChunkIndexOffsets, || {
            format!("{name}: {:?}, the indexes are at {offsets:?}", self.offsets)
        });
        let length = chunk.index_length;
        out.expect(self.index_length == length, Rule::ChunkIndexLength, || {
            format!("{name}: {}, the indexes have {length}", self.index_length)
        });
        let same = self.sizes == chunk.sizes && self.compression == chunk.compression;
        out.expect(same, Rule::ChunkIndexSizes, || {
            let (ours, theirs) = (&self.compression, &chunk.compression);
            let (sizes, held) = (self.sizes, chunk.sizes);
            format!("{name}: {ours:?} {sizes:?}, the chunk has {theirs:?} {held:?}")
        });
    }
}

fn check_statistics(record: &Record<'_>, data: &DataSection, out: &mut Findings) {
    let parse = || {
        let mut fields = Fields(record.body);
        let counts = [
            fields.u64()?,
            u64::from(fields.u16()?),
            u64::from(fields.u32()?),
            u64::from(fields.u32()?),
            u64::from(fields.u32()?),
            u64::from(fields.u32()?),
        ];
        let times = (fields.u64()?, fields.u64()?);
        let channels = fields.id_map()?;
        fields.0.is_empty().then_some((counts, times, channels))
    };
    let Some((counts, times, channels)) = parse() else {
        return malformed(record, out);
    };
    let held = [
        data.counts.values().sum(),
        wide(data.schemas.len()),
        wide(data.channels.len()),
        wide(data.attachment_indexes.len()),
        wide(data.metadata_indexes.len()),
        wide(data.chunks.len()),
    ];
    out.expect(counts == held, Rule::StatisticsCounts, || {
        format!("{counts:?}, the file holds {held:?}")
    });
    let span = data.times.unwrap_or((0, 0));
    out.expect(times == span, Rule::StatisticsTimes, || {
        format!("{times:?}, the messages have {span:?}")
    });
    let stated: BTreeMap<u16, u64> = channels.into_iter().filter(|entry| entry.1 > 0).collect();
    out.expect(stated == data.counts, Rule::StatisticsChannels, || {
        format!("{stated:?}, the file holds {:?}", data.counts)
    });
}
