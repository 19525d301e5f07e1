use super::MAGIC;
use super::parse::{COMMON, Frame};
use crate::error::{Error, Result};

/// Cuts a stream of bytes (TCP) into packets; after damage it goes on at the next magic number.
///
/// It holds at most one packet and what came with it; nothing is skipped without being counted.
#[derive(Debug, Clone, Default)]
pub struct PacketStream {
    buffer: Vec<u8>,
    /// Bytes of the buffer that were given out already.
    used: usize,
    skipped: u64,
}

impl PacketStream {
    /// A stream without bytes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes as they come.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.used);
        self.used = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The bytes of the next packet; none until more come. Call it until there is none.
    ///
    /// # Errors
    ///
    /// Those of [`Packet::parse`](crate::Packet::parse) for an invalid start; the next call continues after it.
    pub fn next_packet(&mut self) -> Result<Option<&[u8]>> {
        self.skip_to_magic();
        let bytes = self.buffer.get(self.used..).unwrap_or(&[]);
        if bytes.len() < COMMON {
            return Ok(None);
        }
        let frame = match Frame::read(bytes) {
            Ok(frame) => frame,
            Err(error) => {
                self.skip(1);
                return Err(error);
            }
        };
        if bytes.len() < frame.size() {
            return Ok(None);
        }
        let start = self.used;
        self.used += frame.size();
        Ok(self.buffer.get(start..self.used))
    }

    /// Bytes that belonged to no packet.
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The error for bytes that were left when the stream ended in the middle of a packet, if any were.
    pub fn end(&self) -> Option<Error> {
        let left = self.buffer.len() - self.used;
        (left > 0).then_some(Error::StreamCut { left })
    }

    fn skip_to_magic(&mut self) {
        let magic = MAGIC.to_le_bytes();
        let bytes = self.buffer.get(self.used..).unwrap_or(&[]);
        let found = bytes.windows(2).position(|pair| pair == magic);
        // The last byte may be the first half.
        let half = usize::from(bytes.last() == magic.first());
        self.skip(found.unwrap_or(bytes.len() - half));
    }

    fn skip(&mut self, count: usize) {
        self.used += count;
        self.skipped += count as u64;
    }
}
