//! Little-endian fields: a bounded view to read them, plain functions to write them.

use crate::message::size_u64;

/// The rest of a record's bytes; every take checks the length first.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.rest.split_at_checked(count)?;
        self.rest = tail;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.rest.split_first_chunk::<N>()?;
        self.rest = tail;
        Some(*head)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A time: the format has 64 unsigned bits, we keep the same bits signed.
    pub(crate) fn time(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    /// Bytes behind a 32-bit length.
    pub(crate) fn block(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.u32()?).ok()?;
        self.bytes(count)
    }

    pub(crate) fn str(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.block()?).ok()
    }

    /// A map of strings behind its length in bytes.
    pub(crate) fn string_map(&mut self) -> Option<Vec<(&'a str, &'a str)>> {
        let mut block = Self::new(self.block()?);
        let mut map = Vec::new();
        while !block.rest.is_empty() {
            map.push((block.str()?, block.str()?));
        }
        Some(map)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

pub(crate) fn put_str(out: &mut Vec<u8>, text: &str) {
    put_block(out, text.as_bytes());
}

pub(crate) fn put_block(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// A map of strings behind its length in bytes.
pub(crate) fn put_string_map(out: &mut Vec<u8>, map: &[(&str, &str)]) {
    let length: usize = map
        .iter()
        .map(|(key, value)| 8 + key.len() + value.len())
        .sum();
    out.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    for (key, value) in map {
        put_str(out, key);
        put_str(out, value);
    }
}

/// A record: opcode, length, and what `body` writes.
pub(crate) fn put_record(out: &mut Vec<u8>, opcode: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(opcode);
    let at = out.len();
    out.extend_from_slice(&[0; 8]);
    body(out);
    let length = size_u64(out.len() - at - 8).to_le_bytes();
    if let Some(slot) = out.get_mut(at..at + 8) {
        slot.copy_from_slice(&length);
    }
}
