//! A chunk that is read: unpacked, checked, and its messages in the order of the query.

use super::chunk_table::{Block, BlockKind};
use super::decode::{Unpacker, unpack_partial};
use super::options::McapLimits;
use super::record::{ChunkHead, MessageHead, RECORD_HEAD, Records, op};
use crate::message::size_u64;
use crate::source::Source;
use crate::{Error, Message, Order, Query, Result, TopicId};

/// Means "no topic of this file" or "not selected" in the table of channels.
pub(crate) const NO_TOPIC: u32 = u32::MAX;

/// A message within the block.
#[derive(Clone, Copy)]
pub(crate) struct MessagePlace {
    pub(crate) log_time: i64,
    at: u32,
}

/// A chunk or a run of records whose messages are being read.
#[derive(Default)]
pub(crate) struct ReadChunk {
    pub(crate) block: usize,
    /// Where `stored` begins in the file.
    offset: u64,
    /// The stored record; the records themselves when nothing is compressed.
    stored: Vec<u8>,
    unpacked: Vec<u8>,
    /// Offset of the records in `stored` if they are not in `unpacked`.
    start: Option<usize>,
    pub(crate) places: Vec<MessagePlace>,
    pub(crate) next: usize,
    /// The bytes were released to save memory and must be read again.
    pub(crate) evicted: bool,
}

impl ReadChunk {
    /// Memory of the bytes.
    pub(crate) fn memory(&self) -> usize {
        if self.evicted {
            0
        } else {
            self.stored.len() + self.unpacked.len()
        }
    }

    /// Releases the bytes but keeps the position of every message.
    pub(crate) fn evict(&mut self) {
        self.evicted = true;
        self.stored = Vec::new();
        self.unpacked = Vec::new();
    }

    /// Drops the messages that were not delivered yet.
    pub(crate) fn abandon(&mut self) {
        self.evict();
        self.places.clear();
        self.next = 0;
    }

    fn records(&self) -> &[u8] {
        match self.start {
            Some(start) => self.stored.get(start..).unwrap_or_default(),
            None => &self.unpacked,
        }
    }

    /// Reads and unpacks a block.
    pub(crate) fn load(
        &mut self,
        source: &mut dyn Source,
        unpacker: &mut Unpacker,
        limits: &McapLimits,
        block: &Block,
        check: bool,
    ) -> Result<()> {
        self.evicted = false;
        self.offset = block.offset;
        self.unpacked.clear();
        if block.length > limits.max_chunk_bytes.saturating_add(1 << 20) {
            let path = source.path().to_path_buf();
            return Err(Error::TooLarge {
                path,
                what: "chunk",
                size: block.length,
                limit: limits.max_chunk_bytes,
            });
        }
        source.check_range(block.offset, block.length)?;
        let length = usize::try_from(block.length).unwrap_or(usize::MAX);
        self.stored.resize(length, 0);
        source.read_at(block.offset, &mut self.stored)?;
        let limits = McapLimits {
            check_crc: limits.check_crc && check,
            ..*limits
        };
        match block.kind {
            BlockKind::Records => self.start = Some(0),
            BlockKind::Chunk => {
                let body = self.stored.get(RECORD_HEAD..).unwrap_or_default();
                self.start = unpack_chunk_in_place(
                    source,
                    unpacker,
                    &limits,
                    block.offset,
                    body,
                    &mut self.unpacked,
                )?
                .map(|start| start + RECORD_HEAD);
            }
            BlockKind::TruncatedChunk => {
                self.start = None;
                let body = self.stored.get(RECORD_HEAD..).unwrap_or_default();
                if let Some((head, size)) = ChunkHead::parse(body) {
                    let stored = body.get(size..).unwrap_or_default();
                    self.unpacked =
                        unpack_partial(&head.compression, stored, limits.max_chunk_bytes);
                }
            }
        }
        Ok(())
    }

    /// Lists the selected messages in the order of the query. `topics` maps channel ids.
    pub(crate) fn list(&mut self, query: &Query, topics: &[u32]) {
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        self.next = 0;
        let (mut sorted, mut last) = (true, i64::MIN);
        for (opcode, at, body) in Records::new(self.records()) {
            if opcode != op::MESSAGE {
                continue;
            }
            let Some((head, _)) = MessageHead::parse(body) else {
                continue;
            };
            let topic = topics
                .get(usize::from(head.channel))
                .copied()
                .unwrap_or(NO_TOPIC);
            let Ok(at) = u32::try_from(at) else { continue };
            if topic != NO_TOPIC && query.contains(head.log_time) {
                sorted &= head.log_time >= last;
                last = head.log_time;
                places.push(MessagePlace {
                    log_time: head.log_time,
                    at,
                });
            }
        }
        match query.order {
            Order::File => {}
            Order::LogTime | Order::ReverseLogTime => {
                if !sorted {
                    places.sort_by_key(|entry| entry.log_time);
                }
                if query.order == Order::ReverseLogTime {
                    places.reverse();
                }
            }
        }
        self.places = places;
    }

    /// Log time of the next message.
    #[inline]
    pub(crate) fn peek(&self) -> Option<i64> {
        self.places.get(self.next).map(|entry| entry.log_time)
    }

    /// A message of the list.
    #[inline]
    pub(crate) fn message(&self, place: usize, topics: &[u32]) -> Option<Message<'_>> {
        let at = self.places.get(place)?.at as usize;
        let (_, _, body) = Records::new(self.records().get(at..)?).next()?;
        let (head, data) = MessageHead::parse(body)?;
        Some(Message {
            topic: TopicId(*topics.get(usize::from(head.channel))?),
            log_time_ns: head.log_time,
            publish_time_ns: head.publish_time,
            sequence: head.sequence,
            data,
        })
    }

    /// Where the payload of a message begins in the file; `None` if it is compressed.
    pub(crate) fn stored_at(&self, place: usize) -> Option<u64> {
        let at = self.places.get(place)?.at as usize;
        let (_, _, body) = Records::new(self.records().get(at..)?).next()?;
        let (_, data) = MessageHead::parse(body)?;
        let head = RECORD_HEAD + body.len() - data.len();
        Some(self.offset + size_u64(self.start? + at + head))
    }
}

/// Checks and unpacks the body of a chunk record into `out`.
pub(crate) fn unpack_chunk(
    source: &dyn Source,
    unpacker: &mut Unpacker,
    limits: &McapLimits,
    offset: u64,
    body: &[u8],
    out: &mut Vec<u8>,
) -> Result<()> {
    if let Some(start) = unpack_chunk_in_place(source, unpacker, limits, offset, body, out)? {
        out.extend_from_slice(body.get(start..).unwrap_or_default());
    }
    Ok(())
}

/// Like [`unpack_chunk`], but records that are not compressed stay in `body`; returns their offset.
fn unpack_chunk_in_place(
    source: &dyn Source,
    unpacker: &mut Unpacker,
    limits: &McapLimits,
    offset: u64,
    body: &[u8],
    out: &mut Vec<u8>,
) -> Result<Option<usize>> {
    let malformed = |reason| Error::Record {
        path: source.path().to_path_buf(),
        offset,
        opcode: op::CHUNK,
        reason,
    };
    let (head, size) = ChunkHead::parse(body).ok_or_else(|| malformed("the head is cut off"))?;
    let stored = body.get(size..).unwrap_or_default();
    if size_u64(stored.len()) != head.compressed_size {
        return Err(malformed("its size does not match its content"));
    }
    if head.uncompressed_size > limits.max_chunk_bytes {
        return Err(Error::TooLarge {
            path: source.path().to_path_buf(),
            what: "chunk",
            size: head.uncompressed_size,
            limit: limits.max_chunk_bytes,
        });
    }
    let in_place = head.compression.is_empty();
    if in_place && head.uncompressed_size != head.compressed_size {
        return Err(malformed("it is not compressed but its two sizes differ"));
    }
    if !in_place {
        unpacker.unpack(
            source,
            &head.compression,
            stored,
            head.uncompressed_size,
            out,
        )?;
    }
    if limits.check_crc && head.crc != 0 {
        let actual = crc32fast::hash(if in_place { stored } else { out });
        if actual != head.crc {
            let path = source.path().to_path_buf();
            return Err(Error::Crc {
                path,
                what: "chunk",
                offset,
                expected: head.crc,
                actual,
            });
        }
    }
    Ok(in_place.then_some(size))
}
