//! Delivers the messages of many blocks in one order with little memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use super::chunk_table::{Block, ChunkTable};
use super::decode::Unpacker;
use super::options::McapLimits;
use super::read_chunk::ReadChunk;
use super::unpack_ahead::{UnpackAhead, UnpackPool};
use crate::source::Source;
use crate::{Message, Order, Query, Result, SharedPayload};

/// The next message of an open block: directed time, directed position of the block, slot.
type Head = Reverse<(i64, i64, usize)>;

/// The state of one query.
#[derive(Default)]
pub(crate) struct Cursor {
    query: Query,
    /// Topic by channel id, without those that are not selected.
    topics: Vec<u32>,
    /// Next position in the order of blocks.
    place: usize,
    open: Vec<ReadChunk>,
    spare: Vec<usize>,
    heap: BinaryHeap<Head>,
    /// The block that is being delivered and the last directed time up to which no other one matters.
    current: Option<(usize, i64)>,
    memory: usize,
    ahead: UnpackAhead,
    /// Position in the order of blocks up to which they are unpacked ahead.
    ahead_place: usize,
}

/// The input of a cursor.
pub(crate) struct Blocks<'r> {
    pub(crate) source: &'r mut dyn Source,
    pub(crate) unpacker: &'r mut Unpacker,
    /// The threads that unpack ahead; set when a query needs them.
    pub(crate) pool: &'r mut Option<Arc<UnpackPool>>,
    pub(crate) table: &'r ChunkTable,
    pub(crate) limits: &'r McapLimits,
    /// Bytes that the channel lists of the blocks point into.
    pub(crate) summary: &'r [u8],
}

impl Cursor {
    pub(crate) fn new(query: Query, topics: Vec<u32>, table: &ChunkTable) -> Self {
        let place = match query.order {
            Order::LogTime => query.start_ns.map_or(0, |time| table.forward_from(time)),
            Order::ReverseLogTime => query.end_ns.map_or(0, |time| table.backward_from(time)),
            Order::File => 0,
        };
        Self {
            query,
            topics,
            place,
            ..Self::default()
        }
    }

    /// Times as numbers that ascend in the direction of the query.
    #[inline]
    fn directed(&self, value: i64) -> i64 {
        if self.query.order == Order::ReverseLogTime {
            !value
        } else {
            value
        }
    }

    fn block_at(&self, table: &ChunkTable, place: usize) -> Option<usize> {
        match self.query.order {
            Order::LogTime => table.forward(place),
            Order::ReverseLogTime => table.backward(place),
            Order::File => (place < table.len()).then_some(place),
        }
    }

    /// Directed time of the earliest message that blocks not yet opened may hold.
    fn next_block_time(&self, blocks: &Blocks<'_>) -> Option<i64> {
        let block = blocks.table.get(self.block_at(blocks.table, self.place)?)?;
        Some(match self.query.order {
            Order::LogTime => block.start,
            Order::ReverseLogTime => !block.end,
            Order::File => i64::MAX,
        })
    }

    /// Time of the next message of the block that is being delivered, unless that of another block may be first.
    #[inline]
    fn next_in_block(&self) -> Option<(usize, i64)> {
        let (slot, limit) = self.current?;
        let time = self.open.get(slot)?.peek()?;
        (self.directed(time) <= limit).then_some((slot, time))
    }

    /// Moves to the next message, if it is in the block that is being delivered, and returns its log time.
    #[inline]
    pub(crate) fn step(&mut self) -> Option<i64> {
        let (slot, time) = self.next_in_block()?;
        let chunk = self.open.get_mut(slot).filter(|chunk| !chunk.evicted)?;
        chunk.next += 1;
        Some(time)
    }

    /// Moves to the next message of the query and returns its log time; `None` at the end.
    pub(crate) fn advance(&mut self, blocks: &mut Blocks<'_>) -> Result<Option<i64>> {
        loop {
            if let Some(time) = self.step() {
                return Ok(Some(time));
            }
            if let Some((slot, _)) = self.next_in_block() {
                self.reload(blocks, slot)?;
                continue;
            }
            if let Some((slot, _)) = self.current.take() {
                self.requeue(slot);
            }
            if !self.choose(blocks)? {
                return Ok(None);
            }
        }
    }

    /// The message that [`advance`](Self::advance) moved to.
    #[inline]
    pub(crate) fn message(&self) -> Option<Message<'_>> {
        let (slot, _) = self.current?;
        let chunk = self.open.get(slot)?;
        chunk.message(chunk.next.checked_sub(1)?)
    }

    /// Its payload, to be kept; see [`ReadChunk::shared_payload`].
    pub(crate) fn shared_payload(&self) -> Option<SharedPayload> {
        let (slot, _) = self.current?;
        let chunk = self.open.get(slot)?;
        chunk.shared_payload(chunk.next.checked_sub(1)?)
    }

    /// Where the payload of that message begins in the file.
    pub(crate) fn stored_at(&self) -> Option<u64> {
        let (slot, _) = self.current?;
        let chunk = self.open.get(slot)?;
        chunk.stored_at(chunk.next.checked_sub(1)?)
    }

    /// Chooses the block with the next message; `false` at the end.
    fn choose(&mut self, blocks: &mut Blocks<'_>) -> Result<bool> {
        loop {
            let next_block = self.next_block_time(blocks);
            let next_open = self.heap.peek().map(|Reverse((time, ..))| *time);
            match (next_open, next_block) {
                (None, None) => return Ok(false),
                (Some(open), Some(block)) if open < block => break,
                (Some(_), None) => break,
                // In file order one block is finished before the next is opened.
                (Some(_), Some(_)) if self.query.order == Order::File => break,
                _ => self.open_next(blocks)?,
            }
        }
        let Some(Reverse((time, _, slot))) = self.heap.pop() else {
            return Ok(false);
        };
        // Up to here no other block can be first; at equal times this block is, by its offset in the file.
        let others = self
            .heap
            .peek()
            .map(|Reverse((time, ..))| *time)
            .into_iter()
            .chain(self.next_block_time(blocks))
            .min();
        let limit = match others {
            Some(other) if self.query.order != Order::File => other.saturating_sub(1).max(time),
            _ => i64::MAX,
        };
        self.current = Some((slot, limit));
        Ok(true)
    }

    fn requeue(&mut self, slot: usize) {
        let chunk = &self.open[slot];
        if let Some(time) = chunk.peek() {
            let rank = i64::try_from(chunk.block).unwrap_or(i64::MAX);
            let key = if self.query.order == Order::File {
                0
            } else {
                self.directed(time)
            };
            self.heap.push(Reverse((key, self.directed(rank), slot)));
        } else {
            self.memory = self.memory.saturating_sub(self.open[slot].memory());
            self.spare.push(slot);
        }
    }

    /// Opens the next block of the order, unless it cannot hold any selected message.
    fn open_next(&mut self, blocks: &mut Blocks<'_>) -> Result<()> {
        let Some(index) = self.block_at(blocks.table, self.place) else {
            return Ok(());
        };
        self.place += 1;
        let Some(block) = blocks.table.get(index) else {
            return Ok(());
        };
        if !self.wants(block, blocks.summary) {
            return Ok(());
        }
        self.unpack_ahead(blocks);
        let slot = self.spare.pop().unwrap_or_else(|| {
            self.open.push(ReadChunk::default());
            self.open.len() - 1
        });
        let chunk = &mut self.open[slot];
        let loaded = match self.ahead.take(index, blocks.unpacker) {
            Some((unpacked, done)) => {
                *chunk = unpacked;
                done
            }
            None => chunk.load(blocks.source, blocks.unpacker, blocks.limits, block),
        };
        if let Err(error) = loaded {
            self.spare.push(slot);
            return Err(error);
        }
        chunk.block = index;
        chunk.list(&self.query, &self.topics);
        self.memory += chunk.memory();
        self.requeue(slot);
        self.limit_memory(blocks.limits.max_open_bytes, slot);
        Ok(())
    }

    /// Queues compressed blocks behind the one that is opened to be unpacked on other threads.
    fn unpack_ahead(&mut self, blocks: &mut Blocks<'_>) {
        let (table, summary) = (blocks.table, blocks.summary);
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.begin(blocks.limits, blocks.pool, self.further(table, summary));
        self.ahead_place = self.ahead_place.max(self.place);
        while ahead.has_room()
            && let Some(index) = self.block_at(table, self.ahead_place)
            && let Some(block) = table.get(index)
        {
            if self.wants(block, summary) {
                if !ahead.takes(block, blocks.limits) {
                    break;
                }
                // The memory of a block that was read already.
                let spare = self.spare.last().and_then(|slot| self.open.get_mut(*slot));
                let chunk = spare.map(std::mem::take).unwrap_or_default();
                ahead.push((index, block), chunk, blocks.source, blocks.limits);
            }
            self.ahead_place += 1;
        }
        self.ahead = ahead;
    }

    /// The blocks that this query has still to open, in its order.
    fn further<'a>(
        &'a self,
        table: &'a ChunkTable,
        summary: &'a [u8],
    ) -> impl Iterator<Item = &'a Block> + 'a {
        (self.place..table.len())
            .filter_map(move |place| table.get(self.block_at(table, place)?))
            .filter(move |block| self.wants(block, summary))
    }

    /// The ranges of the blocks that this query will read, in its order.
    pub(crate) fn upcoming<'a>(
        &'a self,
        table: &'a ChunkTable,
        summary: &'a [u8],
    ) -> impl Iterator<Item = Range<u64>> + 'a {
        self.further(table, summary)
            .map(|block| block.offset..block.offset.saturating_add(block.length))
    }

    /// Whether a block can hold a selected message.
    fn wants(&self, block: &Block, summary: &[u8]) -> bool {
        let outside = self.query.start_ns.is_some_and(|start| block.end < start)
            || self.query.end_ns.is_some_and(|end| block.start > end);
        !outside && self.wants_any(summary.get(block.channels.clone()).unwrap_or_default())
    }

    /// Whether a list of channels (id and offset, 10 bytes each) has a selected one; an empty list means unknown.
    fn wants_any(&self, channels: &[u8]) -> bool {
        channels.is_empty()
            || channels.chunks_exact(10).any(|entry| {
                let id = usize::from(u16::from_le_bytes([entry[0], entry[1]]));
                self.topics
                    .get(id)
                    .is_some_and(|topic| *topic != super::read_chunk::NO_TOPIC)
            })
    }

    /// Releases the bytes of the blocks that are needed last, until the limit holds.
    fn limit_memory(&mut self, limit: usize, keep: usize) {
        while self.memory > limit {
            let directed = |chunk: &ReadChunk| chunk.peek().map(|time| self.directed(time));
            let victim = (0..self.open.len())
                .filter(|slot| *slot != keep && self.open[*slot].memory() > 0)
                // The memory of a block without further messages is not counted any more.
                .filter(|slot| self.open[*slot].peek().is_some())
                .max_by_key(|slot| directed(&self.open[*slot]));
            let Some(victim) = victim else { return };
            self.memory -= self.open[victim].memory();
            self.open[victim].evict();
        }
    }

    fn reload(&mut self, blocks: &mut Blocks<'_>, slot: usize) -> Result<()> {
        let chunk = &mut self.open[slot];
        let Some(block) = blocks.table.get(chunk.block) else {
            chunk.abandon();
            return Ok(());
        };
        // Its checksum was checked when it was opened.
        let limits = McapLimits {
            check_crc: false,
            ..*blocks.limits
        };
        let loaded = chunk.load(blocks.source, blocks.unpacker, &limits, block);
        if let Err(error) = loaded {
            // Reported once; the rest of the block must not be read from a half-filled buffer.
            chunk.abandon();
            return Err(error);
        }
        self.memory += self.open[slot].memory();
        self.limit_memory(blocks.limits.max_open_bytes, slot);
        Ok(())
    }
}
