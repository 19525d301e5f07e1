//! The index of all chunks of a file, kept in a few bytes per chunk and topic.

use super::fields::{put_record, put_str};
use super::record::op;
use super::write_chunk::{Span, WriteChunk};
use crate::message::size_u64;

/// Future chunk index records, packed as variable-length numbers: about 2 bytes per chunk and topic instead of 10.
#[derive(Default)]
pub(crate) struct IndexLog {
    bytes: Vec<u8>,
    chunks: u32,
    last_start: i64,
    last_offset: u64,
}

/// Size of a message index record with this many entries.
fn index_record_size(messages: u64) -> u64 {
    15 + 16 * messages
}

impl IndexLog {
    /// Adds a chunk at `offset` of the file.
    pub(crate) fn push(
        &mut self,
        chunk: &WriteChunk,
        span: Span,
        offset: u64,
        length: u64,
        compressed: u64,
    ) {
        let out = &mut self.bytes;
        put_number(out, zigzag(span.start.wrapping_sub(self.last_start)));
        put_number(out, zigzag(span.end.wrapping_sub(span.start)));
        put_number(out, offset - self.last_offset);
        put_number(out, length);
        put_number(out, compressed);
        put_number(out, chunk.uncompressed_size);
        put_number(
            out,
            match chunk.compression {
                "zstd" => 1,
                "lz4" => 2,
                _ => 0,
            },
        );
        let indexed = !chunk.index.is_empty();
        put_number(
            out,
            if indexed {
                size_u64(chunk.tallies.len())
            } else {
                0
            },
        );
        let mut previous = 0;
        for tally in chunk.tallies.iter().filter(|_| indexed) {
            put_number(out, u64::from(tally.topic - previous));
            put_number(out, u64::from(tally.messages));
            previous = tally.topic;
        }
        self.chunks += 1;
        self.last_start = span.start;
        self.last_offset = offset;
    }

    pub(crate) fn chunks(&self) -> u32 {
        self.chunks
    }

    /// Memory in use.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.len()
    }

    /// Writes all chunk index records, handing `flush` the buffer after each.
    pub(crate) fn write<E>(
        &self,
        out: &mut Vec<u8>,
        mut flush: impl FnMut(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut numbers = Numbers { rest: &self.bytes };
        let (mut start, mut offset) = (0i64, 0u64);
        for _ in 0..self.chunks {
            start = start.wrapping_add(unzigzag(numbers.take()));
            let end = start.wrapping_add(unzigzag(numbers.take()));
            offset += numbers.take();
            put_chunk_index(out, &mut numbers, start, end, offset);
            flush(out)?;
        }
        Ok(())
    }
}

fn put_chunk_index(
    out: &mut Vec<u8>,
    numbers: &mut Numbers<'_>,
    start: i64,
    end: i64,
    offset: u64,
) {
    let [length, compressed, uncompressed, compression, topics] =
        std::array::from_fn(|_| numbers.take());
    put_record(out, op::CHUNK_INDEX, |out| {
        out.extend_from_slice(&start.to_le_bytes());
        out.extend_from_slice(&end.to_le_bytes());
        out.extend_from_slice(&offset.to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&u32::try_from(topics * 10).unwrap_or(u32::MAX).to_le_bytes());
        let first = offset + length;
        let (mut channel, mut at) = (1u64, first);
        for _ in 0..topics {
            channel += numbers.take();
            out.extend_from_slice(&u16::try_from(channel).unwrap_or(u16::MAX).to_le_bytes());
            out.extend_from_slice(&at.to_le_bytes());
            at += index_record_size(numbers.take());
        }
        out.extend_from_slice(&(at - first).to_le_bytes());
        put_str(
            out,
            match compression {
                1 => "zstd",
                2 => "lz4",
                _ => "",
            },
        );
        out.extend_from_slice(&compressed.to_le_bytes());
        out.extend_from_slice(&uncompressed.to_le_bytes());
    });
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

fn put_number(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            out.push(low & 0x7F);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Reads back what [`put_number`] wrote.
struct Numbers<'a> {
    rest: &'a [u8],
}

impl Numbers<'_> {
    fn take(&mut self) -> u64 {
        let (mut value, mut shift) = (0u64, 0);
        while let Some((byte, rest)) = self.rest.split_first() {
            self.rest = rest;
            value |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_read_back(values in proptest::collection::vec(any::<u64>(), 0..50), signed in any::<i64>()) {
            let mut bytes = Vec::new();
            for value in &values {
                put_number(&mut bytes, *value);
            }
            let mut numbers = Numbers { rest: &bytes };
            for value in &values {
                prop_assert_eq!(numbers.take(), *value);
            }
            prop_assert_eq!(unzigzag(zigzag(signed)), signed);
        }
    }
}
