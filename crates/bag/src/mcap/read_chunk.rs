//! A chunk that is read: unpacked, checked, and its messages in the order of the query.

use std::path::Path;

use super::chunk_buffer::ChunkBuffer;
use super::chunk_table::{Block, BlockKind};
use super::decode::{Unpacker, unpack_chunk_in_place, unpack_partial};
use super::options::McapLimits;
use super::record::{ChunkHead, MessageHead, RECORD_HEAD, Records, op};
use crate::source::Source;
use crate::{Error, Message, Order, Query, Result, SharedPayload, TopicId};

/// Means "no topic of this file" or "not selected" in the table of channels.
pub(crate) const NO_TOPIC: u32 = u32::MAX;

/// A message within the block: all but its payload, so that the block is not searched again for it.
#[derive(Clone, Copy)]
pub(crate) struct MessagePlace {
    pub(crate) log_time: i64,
    publish_time: i64,
    sequence: u32,
    topic: TopicId,
    /// The payload within the bytes that hold the records.
    at: u32,
    length: u32,
}

impl MessagePlace {
    #[inline]
    fn payload(&self) -> std::ops::Range<usize> {
        let at = self.at as usize;
        at..at + self.length as usize
    }
}

/// A chunk or a run of records whose messages are being read.
#[derive(Default)]
pub(crate) struct ReadChunk {
    pub(crate) block: usize,
    /// Where `stored` begins in the file.
    offset: u64,
    /// The stored record; the records themselves when nothing is compressed.
    stored: ChunkBuffer,
    unpacked: ChunkBuffer,
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
            self.stored.bytes().len() + self.unpacked.bytes().len()
        }
    }

    /// Releases the bytes but keeps the position of every message.
    pub(crate) fn evict(&mut self) {
        self.evicted = true;
        self.stored = ChunkBuffer::default();
        self.unpacked = ChunkBuffer::default();
    }

    /// Drops the messages that were not delivered yet.
    pub(crate) fn abandon(&mut self) {
        self.evict();
        self.places.clear();
        self.next = 0;
    }

    /// The bytes with the records.
    #[inline]
    fn content(&self) -> &ChunkBuffer {
        match self.start {
            Some(_) => &self.stored,
            None => &self.unpacked,
        }
    }

    /// Reads the bytes of a block.
    pub(crate) fn fetch(
        &mut self,
        source: &mut dyn Source,
        limits: &McapLimits,
        block: &Block,
    ) -> Result<()> {
        self.evicted = false;
        self.offset = block.offset;
        self.start = None;
        self.unpacked.unshared().clear();
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
        source.read_at(block.offset, self.stored.sized(length))
    }

    /// The head of a chunk record that was fetched.
    pub(crate) fn head(&self) -> Option<ChunkHead> {
        let body = self.stored.bytes().get(RECORD_HEAD..)?;
        ChunkHead::parse(body).map(|(head, _)| head)
    }

    /// Unpacks and checks the bytes that were fetched; `path` is for errors.
    pub(crate) fn unpack(
        &mut self,
        path: &Path,
        unpacker: &mut Unpacker,
        limits: &McapLimits,
        kind: BlockKind,
    ) -> Result<()> {
        let body = self.stored.bytes().get(RECORD_HEAD..).unwrap_or_default();
        match kind {
            BlockKind::Records => self.start = Some(0),
            BlockKind::Chunk => {
                let out = self.unpacked.unshared();
                self.start = unpack_chunk_in_place(path, unpacker, limits, self.offset, body, out)?
                    .map(|start| start + RECORD_HEAD);
            }
            BlockKind::TruncatedChunk => {
                if let Some((head, size)) = ChunkHead::parse(body) {
                    let stored = body.get(size..).unwrap_or_default();
                    *self.unpacked.unshared() =
                        unpack_partial(&head.compression, stored, limits.max_chunk_bytes);
                }
            }
        }
        Ok(())
    }

    /// Reads and unpacks a block.
    pub(crate) fn load(
        &mut self,
        source: &mut dyn Source,
        unpacker: &mut Unpacker,
        limits: &McapLimits,
        block: &Block,
    ) -> Result<()> {
        self.fetch(source, limits, block)?;
        self.unpack(source.path(), unpacker, limits, block.kind)
    }

    /// Lists the selected messages in the order of the query. `topics` maps channel ids.
    pub(crate) fn list(&mut self, query: &Query, topics: &[u32]) {
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        self.next = 0;
        let (mut sorted, mut last) = (true, i64::MIN);
        let first = self.start.unwrap_or(0);
        let records = self.content().bytes().get(first..).unwrap_or_default();
        for (opcode, at, body) in Records::new(records) {
            if opcode != op::MESSAGE {
                continue;
            }
            let Some((head, data)) = MessageHead::parse(body) else {
                continue;
            };
            let topic = topics
                .get(usize::from(head.channel))
                .copied()
                .unwrap_or(NO_TOPIC);
            let start = first + at + RECORD_HEAD + body.len() - data.len();
            let (Ok(at), Ok(length)) = (u32::try_from(start), u32::try_from(data.len())) else {
                continue;
            };
            if topic != NO_TOPIC && query.contains(head.log_time) {
                sorted &= head.log_time >= last;
                last = head.log_time;
                places.push(MessagePlace {
                    log_time: head.log_time,
                    publish_time: head.publish_time,
                    sequence: head.sequence,
                    topic: TopicId(topic),
                    at,
                    length,
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
    pub(crate) fn message(&self, place: usize) -> Option<Message<'_>> {
        let place = self.places.get(place)?;
        Some(Message {
            topic: place.topic,
            log_time_ns: place.log_time,
            publish_time_ns: place.publish_time,
            sequence: place.sequence,
            data: self.content().bytes().get(place.payload())?,
        })
    }

    /// The payload of a message, to be kept; `None` if the chunk has much besides it.
    pub(crate) fn shared_payload(&self, place: usize) -> Option<SharedPayload> {
        self.content().share(self.places.get(place)?.payload())
    }

    /// Where the payload of a message begins in the file; `None` if it is compressed.
    pub(crate) fn stored_at(&self, place: usize) -> Option<u64> {
        let place = self.places.get(place)?;
        let is_stored = self.start.is_some();
        is_stored.then(|| self.offset + u64::from(place.at))
    }
}
