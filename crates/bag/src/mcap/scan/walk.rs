//! Steps from record to record, also over bytes that are not records.

use crate::mcap::extra::{AttachmentHead, MAX_HEAD};
use crate::mcap::record::{ChunkHead, RECORD_HEAD, op, record_head};
use crate::message::size_u64;
use crate::source::Source;
use crate::{Error, Result};

/// Bytes that are read at once.
const WINDOW: u64 = 1 << 20;

/// The item at the current offset.
pub(crate) enum Step {
    /// A complete record; `length` is that of its body.
    Record {
        opcode: u8,
        offset: u64,
        length: u64,
    },
    /// A record that the file ends in; `available` bytes of its body exist.
    Open {
        opcode: u8,
        offset: u64,
        available: u64,
    },
    /// Bytes that are not records.
    Garbage { offset: u64, skipped: u64 },
}

/// Steps through a source with one window of memory.
pub(crate) struct Walk<'s> {
    source: &'s mut dyn Source,
    at: u64,
    max_record: u64,
    window: Vec<u8>,
    window_start: u64,
}

impl<'s> Walk<'s> {
    pub(crate) fn new(source: &'s mut dyn Source, at: u64, max_chunk: u64) -> Self {
        Self {
            source,
            at,
            max_record: max_chunk.saturating_add(WINDOW),
            window: Vec::new(),
            window_start: 0,
        }
    }

    pub(crate) fn source(&self) -> &dyn Source {
        &*self.source
    }

    /// The body of a record whose head is at `offset`.
    pub(crate) fn body(&mut self, offset: u64, length: u64) -> Result<&[u8]> {
        if length > self.max_record {
            let path = self.source.path().to_path_buf();
            return Err(Error::TooLarge {
                path,
                what: "record",
                size: length,
                limit: self.max_record,
            });
        }
        self.bytes(offset + size_u64(RECORD_HEAD), length)
    }

    fn bytes(&mut self, offset: u64, length: u64) -> Result<&[u8]> {
        self.source.check_range(offset, length)?;
        let end = offset + length;
        if offset < self.window_start || end > self.window_start + size_u64(self.window.len()) {
            let fill = length
                .max(WINDOW)
                .min(self.source.size().saturating_sub(offset))
                .max(length);
            self.window
                .resize(usize::try_from(fill).unwrap_or(usize::MAX), 0);
            self.window_start = offset;
            self.source.read_at(offset, &mut self.window)?;
        }
        let from = usize::try_from(offset - self.window_start).unwrap_or(usize::MAX);
        let count = usize::try_from(length).unwrap_or(usize::MAX);
        Ok(self
            .window
            .get(from..)
            .and_then(|rest| rest.get(..count))
            .unwrap_or_default())
    }

    /// The next step, `None` at the end of the file.
    pub(crate) fn next_record(&mut self) -> Result<Option<Step>> {
        let (offset, size) = (self.at, self.source.size());
        let rest = size.saturating_sub(offset);
        if rest == 0 {
            return Ok(None);
        }
        if rest < size_u64(RECORD_HEAD) {
            self.at = size;
            return Ok(Some(Step::Garbage {
                offset,
                skipped: rest,
            }));
        }
        let head = self.bytes(offset, size_u64(RECORD_HEAD))?;
        let Some((opcode, length)) = record_head(head) else {
            return Ok(None);
        };
        let available = rest - size_u64(RECORD_HEAD);
        if self.plausible(opcode, length, offset, available)? {
            if length > available {
                self.at = size;
                return Ok(Some(Step::Open {
                    opcode,
                    offset,
                    available,
                }));
            }
            self.at = offset + size_u64(RECORD_HEAD) + length;
            return Ok(Some(Step::Record {
                opcode,
                offset,
                length,
            }));
        }
        self.at = self.resynchronise(offset + 1)?;
        Ok(Some(Step::Garbage {
            offset,
            skipped: self.at - offset,
        }))
    }

    /// Whether these bytes can be a record. A record beyond the end of the file can only be the last one of a truncated
    /// file.
    fn plausible(&mut self, opcode: u8, length: u64, offset: u64, available: u64) -> Result<bool> {
        if !(op::HEADER..=op::DATA_END).contains(&opcode) {
            return Ok(opcode >= op::PRIVATE && length <= available);
        }
        if opcode == op::CHUNK {
            let look = size_u64(ChunkHead::MAX_SIZE).min(available).min(length);
            let head = ChunkHead::parse(self.bytes(offset + size_u64(RECORD_HEAD), look)?);
            return Ok(match head {
                // A writer that was killed leaves a placeholder in the length.
                Some((head, size)) => {
                    head.compression.len() <= 16
                        && (length > available
                            || head.compressed_size.saturating_add(size_u64(size)) == length)
                }
                None => length > available,
            });
        }
        if opcode == op::ATTACHMENT && length > available {
            let look = MAX_HEAD.min(available);
            let head = self.bytes(offset + size_u64(RECORD_HEAD), look)?;
            return Ok(AttachmentHead::parse(head, length).is_some());
        }
        Ok(length <= available || (opcode == op::MESSAGE && length <= self.max_record))
    }

    /// The next offset that looks like a chunk, or the end of the file.
    fn resynchronise(&mut self, from: u64) -> Result<u64> {
        let size = self.source.size();
        let mut at = from;
        while at + size_u64(RECORD_HEAD + 40) <= size {
            let count = WINDOW.min(size - at);
            let bytes = self.bytes(at, count)?;
            let found = bytes.windows(RECORD_HEAD + 44).position(looks_like_chunk);
            if let Some(found) = found {
                return Ok(at + size_u64(found));
            }
            if count < WINDOW {
                break;
            }
            at += count - size_u64(RECORD_HEAD + 44);
        }
        Ok(size)
    }
}

/// A chunk whose length agrees with the sizes in its head and whose compression is known.
fn looks_like_chunk(bytes: &[u8]) -> bool {
    if bytes.first() != Some(&op::CHUNK) {
        return false;
    }
    let Some((_, length)) = record_head(bytes) else {
        return false;
    };
    let Some(body) = bytes.get(RECORD_HEAD..) else {
        return false;
    };
    match ChunkHead::parse(body) {
        Some((head, size)) => {
            matches!(head.compression.as_str(), "" | "zstd" | "lz4")
                && head.compressed_size.checked_add(size_u64(size)) == Some(length)
                && head.start <= head.end
        }
        None => false,
    }
}
