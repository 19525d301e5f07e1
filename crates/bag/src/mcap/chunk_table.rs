//! The blocks with the messages of a file: its chunks, and the runs of messages outside of chunks.

/// A range of the file that is read at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// Log time of its first message.
    pub(crate) start: i64,
    /// Log time of its last message.
    pub(crate) end: i64,
    /// Its offset in the file.
    pub(crate) offset: u64,
    /// Its length in the file.
    pub(crate) length: u64,
    /// Its range in the list of channels of the summary; empty if it is not known.
    pub(crate) channels: std::ops::Range<usize>,
    /// The size of its records if they are compressed, as the file states it.
    pub(crate) unpacked: Option<u64>,
    pub(crate) kind: BlockKind,
}

/// The form of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// A chunk record.
    Chunk,
    /// A truncated chunk record; its existing part is read.
    TruncatedChunk,
    /// Bare records.
    Records,
}

/// All blocks with the orders in which they are read.
#[derive(Default)]
pub(crate) struct ChunkTable {
    blocks: Vec<Block>,
    /// By start; with the latest end of all blocks up to there.
    forward: Vec<(usize, i64)>,
    /// By end, latest first; with the earliest start of all blocks up to there.
    backward: Vec<(usize, i64)>,
}

impl ChunkTable {
    /// Sorts the blocks of a file.
    pub(crate) fn new(mut blocks: Vec<Block>) -> Self {
        blocks.sort_by_key(|block| block.offset);
        let mut forward: Vec<_> = (0..blocks.len()).map(|at| (at, 0)).collect();
        let mut backward = forward.clone();
        let block = |at: usize| &blocks[at];
        forward.sort_by_key(|(at, _)| (block(*at).start, *at));
        backward.sort_by_key(|(at, _)| std::cmp::Reverse((block(*at).end, *at)));
        let mut latest = i64::MIN;
        for (at, end) in &mut forward {
            latest = latest.max(block(*at).end);
            *end = latest;
        }
        let mut earliest = i64::MAX;
        for (at, start) in &mut backward {
            earliest = earliest.min(block(*at).start);
            *start = earliest;
        }
        Self {
            blocks,
            forward,
            backward,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(crate) fn get(&self, block: usize) -> Option<&Block> {
        self.blocks.get(block)
    }

    /// The block at a position of the forward order.
    pub(crate) fn forward(&self, place: usize) -> Option<usize> {
        self.forward.get(place).map(|(block, _)| *block)
    }

    /// The block at a position of the backward order.
    pub(crate) fn backward(&self, place: usize) -> Option<usize> {
        self.backward.get(place).map(|(block, _)| *block)
    }

    /// First position of the forward order that can hold a message at or after a time.
    pub(crate) fn forward_from(&self, time: i64) -> usize {
        self.forward.partition_point(|(_, latest)| *latest < time)
    }

    /// First position of the backward order that can hold a message at or before a time.
    pub(crate) fn backward_from(&self, time: i64) -> usize {
        self.backward
            .partition_point(|(_, earliest)| *earliest > time)
    }
}
