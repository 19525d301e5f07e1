//! Attachments of an MCAP file, and metadata records of other programs.

use super::fields::{Fields, put_record, put_str};
use super::record::{RECORD_HEAD, op, record_head};
use super::sink::METADATA_NAME;
use crate::message::size_u64;
use crate::source::Source;
use crate::storage::ExtraCounts;
use crate::{Error, Result, StatePart};

/// Attachments are copied in pieces of this size, however large they are.
const PIECE: usize = 256 << 10;
/// Names and media types of attachments end within this many bytes, or the record is refused.
pub(super) const MAX_HEAD: u64 = 64 << 10;

/// A record that is neither a message nor the bag's own metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extra {
    pub(crate) kind: ExtraKind,
    /// Offset of the record.
    pub(crate) offset: u64,
    /// Its size with opcode and length.
    pub(crate) length: u64,
    pub(crate) name: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExtraKind {
    Attachment(AttachmentHead),
    Metadata,
}

/// The fields of an attachment that its index repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AttachmentHead {
    log_time: i64,
    create_time: i64,
    media_type: String,
    data_size: u64,
}

impl AttachmentHead {
    /// Name and head at the start of a record's body of `length` bytes; `None` when the sizes contradict each other.
    pub(super) fn parse(body: &[u8], length: u64) -> Option<(String, Self)> {
        let mut fields = Fields::new(body);
        let (log_time, create_time) = (fields.time()?, fields.time()?);
        let (name, media_type) = (fields.str()?.to_owned(), fields.str()?.to_owned());
        let data_size = fields.u64()?;
        let head_size = size_u64(body.len() - fields.rest().len());
        let head = Self {
            log_time,
            create_time,
            media_type,
            data_size,
        };
        (head_size.checked_add(data_size)?.checked_add(4)? == length).then_some((name, head))
    }
}

impl Extra {
    pub(super) fn metadata(offset: u64, length: u64, name: &str) -> Self {
        Self {
            kind: ExtraKind::Metadata,
            offset,
            length,
            name: name.to_owned(),
        }
    }

    /// From an attachment index or metadata index record.
    pub(super) fn from_index(opcode: u8, body: &[u8], data_end: u64) -> Option<Self> {
        let mut fields = Fields::new(body);
        let (offset, length) = (fields.u64()?, fields.u64()?);
        if offset.checked_add(length).is_none_or(|end| end > data_end) {
            return None;
        }
        if opcode == op::METADATA_INDEX {
            return Some(Self::metadata(offset, length, fields.str()?));
        }
        let (log_time, create_time, data_size) = (fields.time()?, fields.time()?, fields.u64()?);
        let name = fields.str()?.to_owned();
        Some(Self {
            kind: ExtraKind::Attachment(AttachmentHead {
                log_time,
                create_time,
                media_type: fields.str()?.to_owned(),
                data_size,
            }),
            offset,
            length,
            name,
        })
    }

    /// Whether it is the bag's own metadata.
    pub(super) fn is_own(&self) -> bool {
        self.kind == ExtraKind::Metadata && self.name == METADATA_NAME
    }

    /// The part of the robot's state that it holds; `None` for other records.
    pub(super) fn state_part(&self) -> Option<StatePart> {
        (self.kind == ExtraKind::Metadata)
            .then(|| StatePart::of_record(&self.name))
            .flatten()
    }

    pub(super) fn opcode(&self) -> u8 {
        match self.kind {
            ExtraKind::Attachment(_) => op::ATTACHMENT,
            ExtraKind::Metadata => op::METADATA,
        }
    }

    /// The index record of the summary.
    pub(super) fn put_index(&self, out: &mut Vec<u8>) {
        let opcode = match self.kind {
            ExtraKind::Attachment(_) => op::ATTACHMENT_INDEX,
            ExtraKind::Metadata => op::METADATA_INDEX,
        };
        put_record(out, opcode, |out| {
            out.extend_from_slice(&self.offset.to_le_bytes());
            out.extend_from_slice(&self.length.to_le_bytes());
            if let ExtraKind::Attachment(head) = &self.kind {
                out.extend_from_slice(&head.log_time.to_le_bytes());
                out.extend_from_slice(&head.create_time.to_le_bytes());
                out.extend_from_slice(&head.data_size.to_le_bytes());
            }
            put_str(out, &self.name);
            if let ExtraKind::Attachment(head) = &self.kind {
                put_str(out, &head.media_type);
            }
        });
    }

    /// Passes the bytes of the record to `put`, piece by piece; an error if there is another record at its offset.
    ///
    /// Returns the checksum error of an attachment whose bytes have changed; they were passed on nevertheless.
    pub(super) fn read(
        &self,
        source: &mut dyn Source,
        put: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Option<Error>> {
        let mut head = [0; RECORD_HEAD];
        source.read_at(self.offset, &mut head)?;
        let body = self.length.saturating_sub(size_u64(RECORD_HEAD));
        if record_head(&head) != Some((self.opcode(), body)) {
            return Err(Error::Record {
                path: source.path().to_path_buf(),
                offset: self.offset,
                opcode: self.opcode(),
                reason: "the index of the file points at something else",
            });
        }
        put(&head)?;
        let mut crc = Checksum::default();
        let (mut at, end) = (
            self.offset + size_u64(RECORD_HEAD),
            self.offset + self.length,
        );
        let mut piece = vec![0; PIECE];
        while at < end {
            let count = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
            let bytes = piece.get_mut(..count).unwrap_or_default();
            source.read_at(at, bytes)?;
            crc.update(bytes);
            put(bytes)?;
            at += size_u64(count);
        }
        let (expected, actual) = crc.finish();
        let damaged = self.opcode() == op::ATTACHMENT && expected != 0 && expected != actual;
        Ok(damaged.then(|| Error::Crc {
            path: source.path().to_path_buf(),
            what: "attachment",
            offset: self.offset,
            expected,
            actual,
        }))
    }
}

/// The checksum over all bytes except the last four, which hold it.
#[derive(Default)]
struct Checksum {
    hasher: crc32fast::Hasher,
    tail: Vec<u8>,
}

impl Checksum {
    fn update(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        let settled = self.tail.len().saturating_sub(4);
        self.hasher
            .update(self.tail.get(..settled).unwrap_or_default());
        self.tail.drain(..settled);
    }

    /// The stated and the real checksum.
    fn finish(self) -> (u32, u32) {
        let stated = Fields::new(&self.tail).u32().unwrap_or(0);
        (stated, self.hasher.finalize())
    }
}

/// Counts by kind.
pub(super) fn count(extras: &[Extra]) -> ExtraCounts {
    let attachments = extras
        .iter()
        .filter(|extra| extra.opcode() == op::ATTACHMENT)
        .count();
    ExtraCounts {
        attachments: size_u64(attachments),
        metadata_records: size_u64(extras.len() - attachments),
    }
}
