//! A position in a payload.

use super::encapsulation::HEADER;
use super::{Encapsulation, Endian, WideChars};
use crate::value::{Text, WideText};
use crate::{Error, Result, TypeName};

/// Most nested messages of one payload: one of a single byte takes about 80 bytes of memory.
const MAX_MESSAGES: u64 = 8 << 20;

/// Reads aligned values; every length is checked against the remaining bytes before anything is allocated.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    payload: &'a [u8],
    at: usize,
    endian: Endian,
    max_align: usize,
    wide: WideChars,
    messages_left: u64,
}

/// Declares the readers of one number type.
macro_rules! numbers {
    ($($one:ident, $many:ident, $type:ty;)+) => {
        $(
            pub(super) fn $one(&mut self) -> Result<$type> {
                let bytes = self.take_array(stringify!($type))?;
                Ok(match self.endian {
                    Endian::Little => <$type>::from_le_bytes(bytes),
                    Endian::Big => <$type>::from_be_bytes(bytes),
                })
            }

            pub(super) fn $many(&mut self, count: usize) -> Result<Vec<$type>> {
                const SIZE: usize = size_of::<$type>();
                let (chunks, _) = self.take_many(stringify!($type), count, SIZE)?.as_chunks::<SIZE>();
                Ok(match self.endian {
                    Endian::Little => chunks.iter().map(|chunk| <$type>::from_le_bytes(*chunk)).collect(),
                    Endian::Big => chunks.iter().map(|chunk| <$type>::from_be_bytes(*chunk)).collect(),
                })
            }
        )+
    };
}

impl<'a> Reader<'a> {
    pub(crate) fn new(payload: &'a [u8], wide: WideChars) -> Result<Self> {
        let Encapsulation { endian, max_align } = Encapsulation::parse(payload)?;
        Ok(Self {
            payload,
            at: HEADER,
            endian,
            max_align,
            wide,
            messages_left: MAX_MESSAGES,
        })
    }

    /// Number of bytes left.
    pub(crate) fn remaining(&self) -> usize {
        self.payload.len().saturating_sub(self.at)
    }

    /// Goes to an offset after the header.
    pub(crate) fn skip_to(&mut self, body_offset: u64) -> Result<()> {
        self.at = HEADER;
        self.check("field", body_offset)?;
        self.at += usize::try_from(body_offset).unwrap_or(usize::MAX - HEADER);
        Ok(())
    }

    /// The position in the payload.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    numbers! {
        int8, int8s, i8;
        uint8, uint8s, u8;
        int16, int16s, i16;
        uint16, uint16s, u16;
        int32, int32s, i32;
        uint32, uint32s, u32;
        int64, int64s, i64;
        uint64, uint64s, u64;
        float32, float32s, f32;
        float64, float64s, f64;
    }

    pub(super) fn boolean(&mut self) -> Result<bool> {
        let offset = self.at;
        match self.uint8()? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(Error::Payload {
                offset,
                what: "bool",
                value: value.into(),
            }),
        }
    }

    pub(super) fn booleans(&mut self, count: usize) -> Result<Vec<bool>> {
        let offset = self.at;
        let bytes = self.take_many("bool", count, 1)?;
        match bytes.iter().position(|byte| *byte > 1) {
            None => Ok(bytes.iter().map(|byte| *byte == 1).collect()),
            Some(index) => {
                let value = bytes.get(index).copied().unwrap_or_default().into();
                Err(Error::Payload {
                    offset: offset + index,
                    what: "bool",
                    value,
                })
            }
        }
    }

    /// The number of elements of a sequence, with at least `min_size` bytes each.
    pub(super) fn count(&mut self, min_size: u64) -> Result<usize> {
        let count = self.uint32()?;
        self.check("sequence", u64::from(count).saturating_mul(min_size))?;
        Ok(count as usize)
    }

    /// Fails when less than `needed` bytes are left.
    pub(super) fn check(&self, what: &'static str, needed: u64) -> Result<()> {
        let available = self.remaining();
        if needed <= available as u64 {
            return Ok(());
        }
        Err(Error::ShortPayload {
            offset: self.at,
            what,
            needed,
            available,
        })
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

    pub(super) fn text(&mut self, bound: Option<u32>) -> Result<Text> {
        let offset = self.at;
        let length = self.uint32()? as usize;
        let bytes = self.take("string", length)?;
        // The length counts the final zero; some writers omit both for an empty string.
        let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        check_bound(offset, "string length", bytes.len(), bound)?;
        Ok(Text::from_bytes(bytes.to_vec()))
    }

    pub(super) fn wide_text(&mut self, bound: Option<u32>) -> Result<WideText> {
        let offset = self.at;
        let count = self.uint32()? as usize;
        let units = match self.wide {
            WideChars::TwoBytes => self.uint16s(count)?,
            WideChars::FourBytes => self
                .uint32s(count)?
                .into_iter()
                .map(|c| {
                    u16::try_from(c).ok().ok_or_else(|| Error::Payload {
                        offset,
                        what: "wide character",
                        value: c.into(),
                    })
                })
                .collect::<Result<_>>()?,
        };
        check_bound(offset, "wide string length", units.len(), bound)?;
        Ok(WideText::from_units(units))
    }

    fn align(&mut self, size: usize) {
        let size = size.min(self.max_align);
        let body = self.at - HEADER;
        self.at = HEADER + body.next_multiple_of(size);
    }

    fn take(&mut self, what: &'static str, length: usize) -> Result<&'a [u8]> {
        self.check(what, length as u64)?;
        let bytes = self
            .payload
            .get(self.at..self.at + length)
            .unwrap_or_default();
        self.at += length;
        Ok(bytes)
    }

    fn take_array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        self.align(N);
        let available = self.remaining();
        let short = Error::ShortPayload {
            offset: self.at,
            what,
            needed: N as u64,
            available,
        };
        let bytes = self
            .payload
            .get(self.at..)
            .and_then(|rest| rest.first_chunk())
            .ok_or(short)?;
        self.at += N;
        Ok(*bytes)
    }

    /// Aligned elements; no element means no alignment either.
    fn take_many(&mut self, what: &'static str, count: usize, size: usize) -> Result<&'a [u8]> {
        if count == 0 {
            return Ok(&[]);
        }
        self.align(size);
        self.check(what, (count as u64).saturating_mul(size as u64))?;
        self.take(what, count * size)
    }
}

fn check_bound(offset: usize, what: &'static str, length: usize, bound: Option<u32>) -> Result<()> {
    match bound {
        Some(bound) if length > bound as usize => Err(Error::Payload {
            offset,
            what,
            value: length as u64,
        }),
        _ => Ok(()),
    }
}
