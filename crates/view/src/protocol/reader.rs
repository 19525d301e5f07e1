use bytes::{Buf as _, Bytes};

use crate::error::{Error, Result};

/// Reads little-endian fields of a message; keeps the message's name for errors.
pub(super) struct Reader {
    what: &'static str,
    length: usize,
    rest: Bytes,
}

impl Reader {
    pub(super) fn new(what: &'static str, data: Bytes) -> Self {
        Self {
            what,
            length: data.len(),
            rest: data,
        }
    }

    fn need(&self, bytes: usize, field: &str) -> Result<()> {
        if self.rest.len() < bytes {
            return Err(self.wrong(format!("{field} is truncated")));
        }
        Ok(())
    }

    pub(super) fn wrong(&self, reason: impl std::fmt::Display) -> Error {
        Error::malformed(self.what, self.length, reason)
    }

    pub(super) fn u8(&mut self, field: &str) -> Result<u8> {
        self.need(1, field)?;
        Ok(self.rest.get_u8())
    }

    pub(super) fn u32(&mut self, field: &str) -> Result<u32> {
        self.need(4, field)?;
        Ok(self.rest.get_u32_le())
    }

    pub(super) fn u64(&mut self, field: &str) -> Result<u64> {
        self.need(8, field)?;
        Ok(self.rest.get_u64_le())
    }

    pub(super) fn f32(&mut self, field: &str) -> Result<f32> {
        self.need(4, field)?;
        Ok(self.rest.get_f32_le())
    }

    /// A text with a length of four bytes.
    pub(super) fn text(&mut self, field: &str) -> Result<String> {
        let length = usize::try_from(self.u32(field)?).unwrap_or(usize::MAX);
        self.need(length, field)?;
        let bytes = self.rest.split_to(length);
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(self.wrong(format!("{field} is not UTF-8: {error}"))),
        }
    }

    pub(super) fn rest(self) -> Bytes {
        self.rest
    }
}
