use bytes::Bytes;

/// A message on its way from the receiver to the writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The place of its topic in the recording.
    pub(super) topic: u32,
    pub(super) log_time_ns: i64,
    pub(super) publish_time_ns: i64,
    pub(super) sequence: u32,
    pub(super) payload: Bytes,
}

/// What a message costs besides its payload: the entry itself and the allocator's share.
const OVERHEAD: usize = 96;

impl Entry {
    /// The bytes that it holds while it waits.
    pub(super) fn cost(&self) -> usize {
        self.payload.len() + OVERHEAD
    }

    /// Its topic as an index.
    pub(super) fn index(&self) -> usize {
        usize::try_from(self.topic).unwrap_or(usize::MAX)
    }
}
