//! A chunk that is written: it collects messages, and is packed into the bytes of the file.

use std::io::Write;

use super::options::{McapCompression, McapOptions};
use super::record::{MESSAGE_HEAD, RECORD_HEAD, op};
use crate::message::size_u64;
use crate::storage::Unwritten;
use crate::{LossCause, Message, TopicId, TopicStatistics, WriteOutcome};

/// Head of a message record, opcode and length included.
pub(crate) const MESSAGE_PREFIX: usize = RECORD_HEAD + MESSAGE_HEAD;

/// A message of the chunk. Its offset is the sum of the sizes before it.
#[derive(Clone, Copy)]
struct IndexEntry {
    log_time: i64,
    /// Of the payload.
    size: u32,
    topic: u16,
}

/// Log times of the first and the last message of a chunk.
///
/// Only messages make one, and a chunk record cannot be written without one: see [`WriteChunk::span`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// The messages of one topic in one chunk.
#[derive(Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) topic: u16,
    pub(crate) messages: u32,
    pub(crate) bytes: u64,
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl Tally {
    const EMPTY: Self = Self {
        topic: 0,
        messages: 0,
        bytes: 0,
        first: i64::MAX,
        last: i64::MIN,
    };

    pub(crate) fn statistics(&self) -> TopicStatistics {
        TopicStatistics {
            messages_recorded: u64::from(self.messages),
            bytes_written: self.bytes,
            first_time_ns: Some(self.first),
            last_time_ns: Some(self.last),
            ..TopicStatistics::default()
        }
    }

    pub(crate) fn unwritten(&self) -> Unwritten {
        Unwritten {
            topic: TopicId(u32::from(self.topic)),
            cause: LossCause::Storage,
            messages: u64::from(self.messages),
            bytes: self.bytes,
            first_time_ns: self.first,
            last_time_ns: self.last,
        }
    }
}

/// One chunk: records as they arrive, and after packing also checksum, index and compressed form.
///
/// A chunk record holds only messages. Schemas and channels are in front of it, outside of chunks: libmcap 1.3, hence
/// `ros2 bag`, reads nothing from a file whose first chunk holds no message.
#[derive(Default)]
pub(crate) struct WriteChunk {
    /// Records of schemas and channels that go into the file before the chunk.
    pub(crate) definitions: Vec<u8>,
    /// Message records, uncompressed.
    pub(crate) records: Vec<u8>,
    entries: Vec<IndexEntry>,
    /// Compressed records, if the file gets those.
    pub(crate) packed: Vec<u8>,
    pub(crate) compression: &'static str,
    pub(crate) crc: u32,
    /// Message index records.
    pub(crate) index: Vec<u8>,
    /// Messages and bytes of the chunk by topic, ascending.
    pub(crate) tallies: Vec<Tally>,
    /// Set by packing; `None` without messages, and then only the definitions are written.
    pub(crate) span: Option<Span>,
    /// Size of the uncompressed records, also when a large payload is outside of `records`.
    pub(crate) uncompressed_size: u64,
}

impl WriteChunk {
    /// Whether there is nothing to write, neither definitions nor messages.
    pub(crate) fn is_empty(&self) -> bool {
        self.definitions.is_empty() && self.entries.is_empty()
    }

    pub(crate) fn has_messages(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Size that it adds to the file, before compression.
    pub(crate) fn size(&self) -> usize {
        self.definitions.len() + self.records.len()
    }

    pub(crate) fn clear(&mut self) {
        self.definitions.clear();
        self.records.clear();
        self.entries.clear();
        self.span = None;
        self.packed.clear();
        self.index.clear();
        self.tallies.clear();
        self.compression = "";
    }

    /// Appends a message record. The caller checked the topic and that the offset fits.
    #[inline]
    pub(crate) fn push(&mut self, topic: u16, message: &Message<'_>) {
        self.push_head(topic, message);
        self.records.extend_from_slice(message.data);
    }

    /// Appends the head of a message whose payload is not copied.
    #[inline]
    pub(crate) fn push_head(&mut self, topic: u16, message: &Message<'_>) {
        let size = u32::try_from(message.data.len()).unwrap_or(u32::MAX);
        self.entries.push(IndexEntry {
            log_time: message.log_time_ns,
            size,
            topic,
        });
        let mut head = [0u8; MESSAGE_PREFIX];
        head[0] = op::MESSAGE;
        head[1..9].copy_from_slice(&(size_u64(MESSAGE_HEAD) + message.size()).to_le_bytes());
        head[9..11].copy_from_slice(&(topic + 1).to_le_bytes());
        head[11..15].copy_from_slice(&message.sequence.to_le_bytes());
        head[15..23].copy_from_slice(&message.log_time_ns.to_le_bytes());
        head[23..31].copy_from_slice(&message.publish_time_ns.to_le_bytes());
        self.records
            .reserve(MESSAGE_PREFIX + message.data.len().min(1 << 20));
        self.records.extend_from_slice(&head);
    }

    /// Adds all messages of a chunk that will not be written to an outcome.
    pub(crate) fn lose(&self, outcome: &mut WriteOutcome) {
        for tally in &self.tallies {
            outcome.add(tally.unwritten());
        }
    }
}

/// Packs chunks; each thread that packs has its own.
pub(crate) struct Packer {
    compression: McapCompression,
    force: bool,
    crc: bool,
    index: bool,
    zstd: Option<zstd::bulk::Compressor<'static>>,
    /// Dense by topic, all empty between two chunks.
    slots: Vec<Tally>,
    cursors: Vec<usize>,
}

impl Packer {
    pub(crate) fn new(options: &McapOptions) -> Self {
        Self {
            compression: if options.chunking {
                options.compression
            } else {
                McapCompression::None
            },
            force: options.force_compression,
            crc: options.chunk_crc && options.chunking,
            index: options.message_index && options.chunking,
            zstd: None,
            slots: Vec::new(),
            cursors: Vec::new(),
        }
    }

    /// Counts, indexes, checks and compresses a chunk; `payload` is a large one that follows the records.
    pub(crate) fn pack(&mut self, chunk: &mut WriteChunk, payload: &[u8]) {
        self.tally(chunk);
        if self.index {
            self.build_index(chunk);
        }
        chunk.uncompressed_size = size_u64(chunk.records.len() + payload.len());
        chunk.crc = 0;
        if self.crc {
            let mut hasher = crc32fast::Hasher::new();
            hasher.update(&chunk.records);
            hasher.update(payload);
            chunk.crc = hasher.finalize();
        }
        chunk.compression = "";
        let compresses = self.compression != McapCompression::None;
        if compresses && payload.is_empty() && chunk.has_messages() {
            self.compress(chunk);
        }
    }

    fn tally(&mut self, chunk: &mut WriteChunk) {
        for entry in &chunk.entries {
            let at = usize::from(entry.topic);
            if at >= self.slots.len() {
                self.slots.resize(at + 1, Tally::EMPTY);
                self.cursors.resize(at + 1, 0);
            }
            if let Some(slot) = self.slots.get_mut(at) {
                slot.messages += 1;
                slot.bytes += u64::from(entry.size);
                slot.first = slot.first.min(entry.log_time);
                slot.last = slot.last.max(entry.log_time);
            }
        }
        chunk.tallies.clear();
        chunk.span = None;
        for (topic, slot) in self.slots.iter_mut().enumerate() {
            if slot.messages > 0 {
                slot.topic = u16::try_from(topic).unwrap_or(u16::MAX);
                let span = chunk.span.get_or_insert(Span {
                    start: slot.first,
                    end: slot.last,
                });
                span.start = span.start.min(slot.first);
                span.end = span.end.max(slot.last);
                chunk.tallies.push(*slot);
                *slot = Tally::EMPTY;
            }
        }
    }

    /// One message index record per topic, written by counting sort.
    fn build_index(&mut self, chunk: &mut WriteChunk) {
        let out = &mut chunk.index;
        out.clear();
        for tally in &chunk.tallies {
            let bytes = tally.messages * 16;
            out.push(op::MESSAGE_INDEX);
            out.extend_from_slice(&(u64::from(bytes) + 6).to_le_bytes());
            out.extend_from_slice(&(tally.topic + 1).to_le_bytes());
            out.extend_from_slice(&bytes.to_le_bytes());
            if let Some(cursor) = self.cursors.get_mut(usize::from(tally.topic)) {
                *cursor = out.len();
            }
            out.resize(out.len() + bytes as usize, 0);
        }
        let mut offset = 0u64;
        for entry in &chunk.entries {
            let at = offset;
            offset += size_u64(MESSAGE_PREFIX) + u64::from(entry.size);
            let Some(cursor) = self.cursors.get_mut(usize::from(entry.topic)) else {
                continue;
            };
            if let Some(slot) = out.get_mut(*cursor..*cursor + 16) {
                slot[..8].copy_from_slice(&entry.log_time.to_le_bytes());
                slot[8..].copy_from_slice(&at.to_le_bytes());
            }
            *cursor += 16;
        }
    }

    /// Compresses the records; a chunk that does not get 2 % smaller, or that the codec refuses, stays uncompressed.
    fn compress(&mut self, chunk: &mut WriteChunk) {
        chunk.packed.clear();
        let name = match self.compression {
            McapCompression::None => return,
            McapCompression::Zstd(level) => {
                if self.zstd.is_none() {
                    self.zstd = zstd::bulk::Compressor::new(level).ok();
                }
                chunk
                    .packed
                    .reserve(zstd::zstd_safe::compress_bound(chunk.records.len()));
                let packed = self
                    .zstd
                    .as_mut()
                    .map(|zstd| zstd.compress_to_buffer(&chunk.records, &mut chunk.packed));
                if !matches!(packed, Some(Ok(_))) {
                    return;
                }
                "zstd"
            }
            McapCompression::Lz4 => {
                let mut frame = lz4_flex::frame::FrameInfo::new();
                frame.block_size = lz4_flex::frame::BlockSize::Max1MB;
                let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(
                    frame,
                    std::mem::take(&mut chunk.packed),
                );
                let written = encoder.write_all(&chunk.records);
                match (written, encoder.finish()) {
                    (Ok(()), Ok(packed)) => chunk.packed = packed,
                    _ => return,
                }
                "lz4"
            }
        };
        if self.force || chunk.packed.len() + chunk.packed.len() / 50 < chunk.records.len() {
            chunk.compression = name;
        }
    }
}
