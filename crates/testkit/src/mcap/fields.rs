//! Numbers, strings and records out of bytes.

use std::collections::BTreeSet;

pub(super) const MAGIC: [u8; 8] = [0x89, b'M', b'C', b'A', b'P', b'0', b'\r', b'\n'];
/// Opcode and length of a record.
pub(super) const HEAD: usize = 9;

pub(super) mod op {
    pub(crate) const HEADER: u8 = 0x01;
    pub(crate) const FOOTER: u8 = 0x02;
    pub(crate) const SCHEMA: u8 = 0x03;
    pub(crate) const CHANNEL: u8 = 0x04;
    pub(crate) const MESSAGE: u8 = 0x05;
    pub(crate) const CHUNK: u8 = 0x06;
    pub(crate) const MESSAGE_INDEX: u8 = 0x07;
    pub(crate) const CHUNK_INDEX: u8 = 0x08;
    pub(crate) const ATTACHMENT: u8 = 0x09;
    pub(crate) const ATTACHMENT_INDEX: u8 = 0x0A;
    pub(crate) const STATISTICS: u8 = 0x0B;
    pub(crate) const METADATA: u8 = 0x0C;
    pub(crate) const METADATA_INDEX: u8 = 0x0D;
    pub(crate) const SUMMARY_OFFSET: u8 = 0x0E;
    pub(crate) const DATA_END: u8 = 0x0F;
}

/// A record and its place in the bytes that it was taken from.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) opcode: u8,
    pub(super) at: usize,
    pub(super) body: &'a [u8],
}

impl Record<'_> {
    /// Length with opcode and length field.
    pub(super) fn length(&self) -> u64 {
        wide(HEAD + self.body.len())
    }
}

/// Splits bytes into records; `Err` holds where the rest begins that is not one.
pub(super) fn records(bytes: &[u8]) -> (Vec<Record<'_>>, Option<usize>) {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let mut fields = Fields(&bytes[at..]);
        let (Some(opcode), Some(length)) = (fields.u8(), fields.u64()) else {
            return (found, Some(at));
        };
        let Some(body) = fields.take(length) else {
            return (found, Some(at));
        };
        found.push(Record { opcode, at, body });
        at += HEAD + body.len();
    }
    (found, None)
}

pub(super) fn wide(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// The rest of a record.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(wide(N))?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Bytes behind a length of 32 bits.
    pub(super) fn block(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.take(u64::from(length))
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.block()?).ok()
    }

    /// A map of strings; `None` also when a key comes twice.
    pub(super) fn string_map(&mut self) -> Option<()> {
        let mut entries = Fields(self.block()?);
        let mut keys = BTreeSet::new();
        while !entries.0.is_empty() {
            let key = entries.text()?;
            entries.text()?;
            if !keys.insert(key) {
                return None;
            }
        }
        Some(())
    }

    /// A map from ids to numbers; `None` also when an id comes twice.
    pub(super) fn id_map(&mut self) -> Option<Vec<(u16, u64)>> {
        let mut entries = Fields(self.block()?);
        let (mut map, mut keys) = (Vec::new(), BTreeSet::new());
        while !entries.0.is_empty() {
            let (id, number) = (entries.u16()?, entries.u64()?);
            if !keys.insert(id) {
                return None;
            }
            map.push((id, number));
        }
        Some(map)
    }
}
