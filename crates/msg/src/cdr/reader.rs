//! A position in a payload that is decoded to values.

use super::encapsulation::HEADER;
use super::{Cursor, WideChars};
use crate::{Error, Result, TypeName};

/// Most nested messages of one payload: one of a single byte takes about 80 bytes of memory.
const MAX_MESSAGES: u64 = 8 << 20;

/// A cursor with the limits that keep decoded values in proportion to their payload.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) wide: WideChars,
    messages_left: u64,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(payload: &'a [u8], wide: WideChars) -> Result<Self> {
        Ok(Self {
            cursor: Cursor::new(payload)?,
            wide,
            messages_left: MAX_MESSAGES,
        })
    }

    /// Goes to an offset after the header.
    pub(crate) fn skip_to(&mut self, body_offset: u64) -> Result<()> {
        let start = self.cursor.clone().at(HEADER);
        start.check("field", body_offset)?;
        let offset = usize::try_from(body_offset).unwrap_or(usize::MAX - HEADER);
        self.cursor = start.at(HEADER + offset);
        Ok(())
    }

    /// Counts nested messages, and fails when there are too many.
    pub(super) fn count_messages(&mut self, name: &TypeName, count: usize) -> Result<()> {
        let limit = MAX_MESSAGES;
        let too_many = || Error::Limit {
            name: name.to_string(),
            what: "number of nested messages",
            actual: limit - self.messages_left + count as u64,
            limit,
        };
        self.messages_left = self
            .messages_left
            .checked_sub(count as u64)
            .ok_or_else(too_many)?;
        Ok(())
    }
}
