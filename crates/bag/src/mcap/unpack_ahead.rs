//! Unpacks the next chunks of a query on other threads, in its order and within bounds.

mod pool;
mod task;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

pub(crate) use self::pool::UnpackPool;
use self::task::Task;
use super::chunk_table::{Block, BlockKind};
use super::decode::Unpacker;
use super::options::McapLimits;
use super::read_chunk::ReadChunk;
use crate::source::Source;
use crate::{Error, Result};

/// Queries with less to unpack than this start no threads: it takes a few milliseconds.
const MIN_BYTES: u64 = 4 << 20;

/// A chunk with its stored bytes.
pub(crate) struct FetchedChunk {
    chunk: ReadChunk,
    kind: BlockKind,
    limits: McapLimits,
    path: Arc<Path>,
}

impl FetchedChunk {
    fn unpack(mut self, unpacker: &mut Unpacker) -> (ReadChunk, Result<()>) {
        let done = self
            .chunk
            .unpack(&self.path, unpacker, &self.limits, self.kind);
        (self.chunk, done)
    }
}

type ChunkTask = Task<FetchedChunk, (ReadChunk, Result<()>)>;

/// A chunk on its way.
struct Upcoming {
    /// Its number in the table of blocks.
    block: usize,
    /// Memory that it needs, by its index.
    bytes: u64,
    /// Its task, or the error of reading it, which is reported at its turn.
    task: Result<Arc<ChunkTask>>,
    /// Whether it may be unpacked before its turn.
    is_ahead: bool,
}

/// The chunks of a query that are unpacked before their turn. Dropping it gives them up.
///
/// The reader fetches their bytes, so that the source is used by one thread. While it waits for a chunk, it unpacks one of
/// the next itself.
#[derive(Default)]
pub(crate) struct UnpackAhead {
    /// Only for a query that is long enough.
    pool: Option<Arc<UnpackPool>>,
    upcoming: VecDeque<Upcoming>,
    bytes: u64,
    /// Number of chunks that the query has opened.
    opened: usize,
}

impl UnpackAhead {
    /// Begins with the second chunk of a query, if its further blocks are worth it; `kept` is the pool of the reader.
    ///
    /// A query that ends after its first messages, as that of a seek, costs nothing more.
    pub(crate) fn begin<'b>(
        &mut self,
        limits: &McapLimits,
        kept: &mut Option<Arc<UnpackPool>>,
        further: impl Iterator<Item = &'b Block>,
    ) {
        self.opened += 1;
        if self.opened == 2 && limits.max_ahead_bytes > 0 && is_worthwhile(further) {
            let pool = kept.get_or_insert_with(UnpackPool::shared);
            self.pool = Some(Arc::clone(pool));
        }
    }

    /// Whether there is room for another chunk: for one more with each that is opened, up to two for every thread.
    pub(crate) fn has_room(&self) -> bool {
        let threads = self.pool.as_ref().map_or(0, |pool| pool.threads() + 1);
        self.upcoming.len() < (2 * threads).min(self.opened)
            && self.upcoming.back().is_none_or(|last| last.is_ahead)
    }

    /// Whether a block is compressed and the memory suffices for it.
    pub(crate) fn takes(&self, block: &Block, limits: &McapLimits) -> bool {
        needed(block).is_some_and(|bytes| {
            self.bytes.saturating_add(bytes) <= limits.max_ahead_bytes
                && block.kind == BlockKind::Chunk
        })
    }

    /// Fetches a block and queues it to be unpacked.
    pub(crate) fn push(
        &mut self,
        (index, block): (usize, &Block),
        mut chunk: ReadChunk,
        source: &mut dyn Source,
        limits: &McapLimits,
    ) {
        let fetched = chunk.fetch(source, limits, block);
        // A chunk that contradicts its index may need any amount of memory: it is unpacked at its turn.
        let agrees = chunk.head().map(|head| head.uncompressed_size) == block.unpacked;
        let is_ahead = fetched.is_ok() && agrees;
        let task = fetched.map(|()| {
            Arc::new(Task::new(FetchedChunk {
                chunk,
                kind: block.kind,
                limits: *limits,
                path: source.path().into(),
            }))
        });
        if let (true, Some(pool), Ok(task)) = (is_ahead, &self.pool, &task) {
            pool.submit(task);
        }
        let bytes = needed(block).unwrap_or(0);
        self.bytes = self.bytes.saturating_add(bytes);
        self.upcoming.push_back(Upcoming {
            block: index,
            bytes,
            task,
            is_ahead,
        });
    }

    /// The chunk of a block if it was pushed: waits until it is unpacked.
    pub(crate) fn take(
        &mut self,
        block: usize,
        unpacker: &mut Unpacker,
    ) -> Option<(ReadChunk, Result<()>)> {
        let is_first = self.upcoming.front()?.block == block;
        let first = is_first.then(|| self.upcoming.pop_front()).flatten()?;
        self.bytes = self.bytes.saturating_sub(first.bytes);
        let task = match first.task {
            Ok(task) => task,
            Err(error) => return Some((ReadChunk::default(), Err(error))),
        };
        if !task.run(|chunk| chunk.unpack(unpacker)) && task.is_running() {
            // Another thread has it: meanwhile, one of the next is unpacked here.
            let next = self.upcoming.iter().filter(|next| next.is_ahead);
            let mut next = next.filter_map(|next| next.task.as_ref().ok());
            next.find(|task| task.run(|chunk| chunk.unpack(unpacker)));
        }
        Some(task.take().unwrap_or_else(|| {
            let error = Error::ThreadGone { thread: "unpack" };
            (ReadChunk::default(), Err(error))
        }))
    }
}

/// Memory for a compressed block, stored and unpacked; `None` if it is not compressed.
fn needed(block: &Block) -> Option<u64> {
    Some(block.length.saturating_add(block.unpacked?))
}

fn is_worthwhile<'b>(blocks: impl Iterator<Item = &'b Block>) -> bool {
    let mut bytes = 0u64;
    blocks.filter_map(|block| block.unpacked).any(|unpacked| {
        bytes = bytes.saturating_add(unpacked);
        bytes >= MIN_BYTES
    })
}

impl Drop for UnpackAhead {
    fn drop(&mut self) {
        let tasks = self
            .upcoming
            .iter()
            .filter_map(|next| next.task.as_ref().ok());
        tasks.for_each(|task| task.cancel());
    }
}
