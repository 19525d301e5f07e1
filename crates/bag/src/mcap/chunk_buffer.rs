//! The memory of a chunk, which payloads may share.

use std::sync::Arc;

use crate::SharedPayload;

/// Memory that payloads share and that is kept to be used again. A consumer that holds more gets fresh memory.
const MAX_LENT: usize = 256;

/// The bytes of a chunk.
///
/// A payload that shares them keeps them; then the next chunk is read into other memory, which is memory that payloads no
/// longer share, if there is any: fresh memory costs a page fault for every 4 KiB, as much as reading the chunk.
#[derive(Default)]
pub(crate) struct ChunkBuffer {
    bytes: Arc<Vec<u8>>,
    lent: Vec<Arc<Vec<u8>>>,
}

impl ChunkBuffer {
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Memory that no payload shares, with arbitrary content.
    pub(crate) fn unshared(&mut self) -> &mut Vec<u8> {
        if Arc::strong_count(&self.bytes) > 1 {
            // The one that was lent last is still in the processor's cache.
            let mut lent = self.lent.iter();
            let free = lent.rposition(|bytes| Arc::strong_count(bytes) == 1);
            let next = free.map(|at| self.lent.remove(at));
            let shared = std::mem::replace(&mut self.bytes, next.unwrap_or_default());
            if self.lent.len() < MAX_LENT {
                self.lent.push(shared);
            }
        }
        // Does not copy: nothing else refers to it.
        Arc::make_mut(&mut self.bytes)
    }

    /// Memory of this length that no payload shares, with arbitrary content.
    pub(crate) fn sized(&mut self, length: usize) -> &mut Vec<u8> {
        let bytes = self.unshared();
        if bytes.capacity() < length {
            // Zeroed by the operating system, page by page; a bit more, because the next chunk is seldom of the same size.
            *bytes = vec![0; length + length / 8];
        }
        bytes.resize(length, 0);
        bytes
    }

    /// A range of the bytes, to be kept; `None` if it is less than half of them: it would keep much that is not needed.
    pub(crate) fn share(&self, range: std::ops::Range<usize>) -> Option<SharedPayload> {
        (range.len() >= self.bytes.capacity() / 2)
            .then(|| SharedPayload::new(Arc::clone(&self.bytes), range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_as_soon_as_no_payload_shares_it() {
        let mut buffer = ChunkBuffer::default();
        let address = |buffer: &ChunkBuffer| buffer.bytes().as_ptr();
        buffer.sized(1000).fill(1);
        let first = address(&buffer);
        buffer.sized(900).fill(2);
        assert_eq!(address(&buffer), first, "nothing shares it");
        let payload = buffer.share(100..900).unwrap();
        buffer.sized(1000).fill(3);
        assert_ne!(address(&buffer), first, "a payload shares it");
        assert_eq!(payload.as_ref(), [2; 800]);
        let second = buffer.share(0..1000).unwrap();
        drop(payload);
        buffer.sized(1000).fill(4);
        assert_eq!(address(&buffer), first);
        assert_eq!(second.as_ref(), [3; 1000]);
    }

    #[test]
    fn of_memory_that_is_free_the_one_that_was_lent_last_is_used() {
        let mut buffer = ChunkBuffer::default();
        let mut lend = || {
            buffer.sized(1000);
            buffer.share(0..1000).unwrap()
        };
        let lent = [lend(), lend(), lend()];
        let _current = lend();
        let addresses = lent.each_ref().map(|payload| payload.as_ptr());
        drop(lent);
        let again = [lend(), lend(), lend()].map(|payload| payload.as_ptr());
        assert_eq!(again.map(|address| addresses.contains(&address)), [true; 3]);
        assert_eq!(again[0], addresses[2]);
    }

    #[test]
    fn a_small_part_is_not_shared() {
        let mut buffer = ChunkBuffer::default();
        buffer.sized(1000);
        assert!(buffer.share(0..300).is_none());
    }
}
