//! Reading CDR without copies.

use timeloom_msg::cdr::{Encapsulation, Endian};

use crate::error::{Error, Result};

/// A position in a payload; offsets count from after the encapsulation header, as alignment does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    body: &'a [u8],
    at: usize,
    encapsulation: Encapsulation,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(payload: &'a [u8]) -> Result<Self> {
        Ok(Self {
            encapsulation: Encapsulation::parse(payload)?,
            body: payload.get(4..).unwrap_or_default(),
            at: 0,
        })
    }

    pub(crate) fn remaining(&self) -> usize {
        self.body.len().saturating_sub(self.at)
    }

    fn align(&mut self, to: usize) {
        self.at = self
            .at
            .next_multiple_of(to.min(self.encapsulation.max_align));
    }

    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let bytes = self
            .body
            .get(self.at..)
            .and_then(|rest| rest.first_chunk::<N>());
        let mut bytes = *bytes.ok_or_else(|| self.short(what, N))?;
        self.at += N;
        if self.encapsulation.endian == Endian::Big {
            bytes.reverse();
        }
        Ok(bytes)
    }

    fn short(&self, what: &'static str, needed: usize) -> Error {
        Error::Short {
            what,
            offset: self.at,
            needed,
            available: self.remaining(),
        }
    }

    pub(crate) fn boolean(&mut self, what: &'static str) -> Result<bool> {
        Ok(self.take::<1>(what)? != [0])
    }

    pub(crate) fn unsigned(&mut self, what: &'static str) -> Result<u32> {
        self.align(4);
        Ok(u32::from_le_bytes(self.take(what)?))
    }

    pub(crate) fn long(&mut self, what: &'static str) -> Result<i64> {
        self.align(8);
        Ok(i64::from_le_bytes(self.take(what)?))
    }

    /// A time or a duration: seconds and nanoseconds, in nanoseconds.
    pub(crate) fn nanos(&mut self, what: &'static str) -> Result<i64> {
        let seconds = i64::from(self.unsigned(what)?.cast_signed());
        let nanos = i64::from(self.unsigned(what)?);
        Ok(seconds * 1_000_000_000 + nanos)
    }

    pub(crate) fn text(&mut self, what: &'static str) -> Result<&'a str> {
        let length = usize::try_from(self.unsigned(what)?).unwrap_or(usize::MAX);
        let start = self.at;
        let end = start
            .checked_add(length)
            .ok_or_else(|| self.short(what, length))?;
        let bytes = self
            .body
            .get(start..end)
            .ok_or_else(|| self.short(what, length))?;
        self.at = end;
        // Some writers omit the terminator of an empty string.
        let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        std::str::from_utf8(bytes).map_err(|_invalid| Error::Text {
            what,
            offset: start,
        })
    }

    /// The length of a sequence, after a check whether that many elements can follow.
    pub(crate) fn length(&mut self, what: &'static str, least_size: usize) -> Result<usize> {
        let count = usize::try_from(self.unsigned(what)?).unwrap_or(usize::MAX);
        let needed = count.saturating_mul(least_size);
        if needed > self.remaining() {
            return Err(self.short(what, needed));
        }
        Ok(count)
    }
}
