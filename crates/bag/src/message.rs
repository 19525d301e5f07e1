//! One recorded message, borrowed from the buffer that holds it.

use crate::TopicId;

/// A message with its times; the payload is borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// The topic within the writer or reader.
    pub topic: TopicId,
    /// Time of reception, in nanoseconds since the epoch.
    pub log_time_ns: i64,
    /// Time of publication, in nanoseconds since the epoch; equal to `log_time_ns` if the storage does not keep it.
    pub publish_time_ns: i64,
    /// Sequence number of the publisher, 0 if it is not known.
    pub sequence: u32,
    /// The serialized message.
    pub data: &'a [u8],
}

impl Message<'_> {
    /// The payload's length.
    pub fn size(&self) -> u64 {
        size_u64(self.data.len())
    }
}

/// A length as the 64 bits that files use; lossless on every platform that Rust runs on.
pub(crate) fn size_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
