use bytes::Bytes;

use super::budget::Pool;

/// A message between the receiver and the writer: in the queue, in the ring of the snapshot mode, or held for its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QueuedMessage {
    /// The index of its topic in the recording.
    pub(super) topic: u32,
    pub(super) log_time_ns: i64,
    pub(super) publish_time_ns: i64,
    pub(super) sequence: u32,
    pub(super) payload: Bytes,
    /// Whether it is repeated at the start of a snapshot. The original is accounted for already.
    pub(super) is_copy: bool,
    /// The number of its window with triggers, else 0; a window begins in a new file.
    pub(super) window: u32,
    /// Where its bytes are counted; set by the queue.
    pub(super) pool: Pool,
    /// Whether a newer message of its topic may take its place; set by the queue.
    pub(super) replaceable: bool,
}

/// The cost of a message besides its payload: this struct and the allocator's overhead.
const OVERHEAD: usize = 96;

impl QueuedMessage {
    pub(super) fn new(topic: u32, log_time_ns: i64, publish_time_ns: i64, payload: Bytes) -> Self {
        Self {
            topic,
            log_time_ns,
            publish_time_ns,
            sequence: 0,
            payload,
            is_copy: false,
            window: 0,
            pool: Pool::Common,
            replaceable: false,
        }
    }

    /// The bytes that it counts for while it waits.
    pub(super) fn cost(&self) -> usize {
        self.payload.len() + OVERHEAD
    }

    /// Its topic as an index.
    pub(super) fn index(&self) -> usize {
        usize::try_from(self.topic).unwrap_or(usize::MAX)
    }
}
