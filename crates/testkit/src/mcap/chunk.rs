//! A chunk, its content and the message indexes behind it.

use std::collections::BTreeMap;
use std::io::Read;

use super::check::Findings;
use super::data_section::{DataSection, malformed, not_here};
use super::fields::{Fields, Record, op, records, wide};
use super::rule::Rule;

/// A chunk of the file.
pub(super) struct SeenChunk {
    pub(super) offset: u64,
    pub(super) length: u64,
    /// As the chunk states them.
    pub(super) times: (u64, u64),
    pub(super) compression: String,
    /// Compressed and uncompressed.
    pub(super) sizes: (u64, u64),
    /// Log time and place of each message, by channel.
    messages: BTreeMap<u16, Vec<(u64, u64)>>,
    /// Place of each message index, by channel.
    pub(super) index_offsets: BTreeMap<u16, u64>,
    /// Bytes of all message indexes.
    pub(super) index_length: u64,
}

/// Reads a chunk and all that it holds.
pub(super) fn read_chunk(
    record: &Record<'_>,
    data: &mut DataSection,
    findings: &mut Findings,
) -> Option<SeenChunk> {
    let Some((mut chunk, crc, stored)) = head(record) else {
        malformed(record, findings);
        return None;
    };
    let at = record.at;
    let content = match unpack(&chunk.compression, stored, chunk.sizes.1) {
        Ok(content) => content,
        Err(reason) => {
            findings.add(Rule::ChunkUnpacks, format!("chunk at byte {at}: {reason}"));
            return Some(chunk);
        }
    };
    let actual = crc32fast::hash(&content);
    findings.expect(crc == 0 || crc == actual, Rule::ChunkCrc, || {
        format!("chunk at byte {at}: {crc:08x}, its records have {actual:08x}")
    });
    let (content, broken) = records(&content);
    if let Some(place) = broken {
        let text = format!("record at byte {place} of the chunk at byte {at}");
        findings.add(Rule::RecordBounds, text);
    }
    for inner in content {
        match inner.opcode {
            op::SCHEMA | op::CHANNEL => data.definition(&inner, findings),
            op::MESSAGE => {
                if let Some(message) = data.message(&inner, findings) {
                    let entries = chunk.messages.entry(message.channel).or_default();
                    entries.push((message.log_time, wide(inner.at)));
                }
            }
            opcode => not_here("chunk", opcode, inner.at, findings),
        }
    }
    Some(chunk)
}

fn head<'a>(record: &Record<'a>) -> Option<(SeenChunk, u32, &'a [u8])> {
    let mut fields = Fields(record.body);
    let times = (fields.u64()?, fields.u64()?);
    let (uncompressed, crc) = (fields.u64()?, fields.u32()?);
    let compression = fields.text()?.to_owned();
    let compressed = fields.u64()?;
    let stored = fields.take(compressed)?;
    fields.0.is_empty().then_some(())?;
    let chunk = SeenChunk {
        offset: wide(record.at),
        length: record.length(),
        times,
        compression,
        sizes: (compressed, uncompressed),
        messages: BTreeMap::new(),
        index_offsets: BTreeMap::new(),
        index_length: 0,
    };
    Some((chunk, crc, stored))
}

fn unpack(compression: &str, stored: &[u8], size: u64) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    match compression {
        "" => content.extend_from_slice(stored),
        "zstd" => {
            let unpacked = zstd::bulk::decompress(stored, usize::try_from(size).unwrap_or(0));
            content = unpacked.map_err(|error| error.to_string())?;
        }
        "lz4" => {
            let mut decoder = lz4_flex::frame::FrameDecoder::new(stored);
            let read = decoder.read_to_end(&mut content);
            read.map_err(|error| error.to_string())?;
            // libmcap asks for one frame that takes all the bytes.
            let rest = decoder.get_ref().len();
            if rest > 0 {
                return Err(format!("{rest} bytes behind the lz4 frame"));
            }
        }
        other => return Err(format!("unknown compression {other:?}")),
    }
    if wide(content.len()) == size {
        Ok(content)
    } else {
        Err(format!("{} bytes, it states {size}", content.len()))
    }
}

impl SeenChunk {
    pub(super) fn is_indexed(&self) -> bool {
        !self.index_offsets.is_empty()
    }

    /// Takes a message index that stands behind the chunk.
    pub(super) fn take_index(&mut self, record: &Record<'_>, findings: &mut Findings) {
        self.index_length += record.length();
        let mut fields = Fields(record.body);
        let (Some(channel), Some(entries)) = (fields.u16(), fields.block()) else {
            return malformed(record, findings);
        };
        let second = self.index_offsets.insert(channel, wide(record.at));
        findings.expect(second.is_none(), Rule::MessageIndexComplete, || {
            format!("channel {channel} has two behind one chunk")
        });
        let mut entries = Fields(entries);
        let mut named = Vec::new();
        while let (Some(time), Some(place)) = (entries.u64(), entries.u64()) {
            named.push((time, place));
        }
        if !entries.0.is_empty() {
            malformed(record, findings);
        }
        let mut held = self.messages.get(&channel).cloned().unwrap_or_default();
        findings.expect(!held.is_empty(), Rule::MessageIndexComplete, || {
            format!("channel {channel} has an index but no message in the chunk")
        });
        held.sort_unstable();
        named.sort_unstable();
        findings.expect(held == named, Rule::MessageIndexEntries, || {
            format!("channel {channel}: {named:?}, the chunk holds {held:?}")
        });
    }

    pub(super) fn check(&self, number: usize, indexed: bool, findings: &mut Findings) {
        let name = || format!("chunk {number} at byte {}", self.offset);
        let times = || self.messages.values().flatten().map(|(time, _)| *time);
        match (times().min(), times().max()) {
            (Some(first), Some(last)) => {
                findings.expect(self.times == (first, last), Rule::ChunkTimes, || {
                    format!("{}: {:?}, its messages {first}, {last}", name(), self.times)
                });
            }
            _ => findings.add(Rule::ChunkEmpty, name()),
        }
        let missing = self
            .messages
            .keys()
            .filter(|channel| indexed && !self.index_offsets.contains_key(channel));
        for channel in missing {
            let text = format!("{}: none for channel {channel}", name());
            findings.add(Rule::MessageIndexComplete, text);
        }
    }
}
