//! A position in a payload.

use super::encapsulation::HEADER;
use super::{Encapsulation, Endian, WideChars};
use crate::definition::ArrayShape;
use crate::skip::SkipProgram;
use crate::value::WideText;
use crate::{Error, Result};

/// Reads the aligned values of a CDR payload in place; every length is checked before memory is allocated.
///
/// ```
/// use timeloom_msg::cdr::Cursor;
///
/// // uint8 7, then float32 1.5 at the next multiple of four.
/// let payload = [0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 192, 63];
/// let mut cursor = Cursor::new(&payload)?;
/// assert_eq!(cursor.number::<u8>()?, 7);
/// assert_eq!(cursor.number::<f32>()?, 1.5);
/// assert!(cursor.number::<u8>().is_err());
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    body: &'a [u8],
    at: usize,
    max_align: usize,
    endian: Endian,
}

/// A number that payloads contain: the integers and floats of Rust up to 64 bits.
pub trait Number: Sized + sealed::Decode {}

mod sealed {
    use super::Endian;

    pub trait Decode: Sized {
        /// Decodes a slice of exactly the size of the number.
        fn decode(bytes: &[u8], endian: Endian) -> Self;

        /// Appends the numbers of a slice whose length is a multiple of their size.
        fn extend(values: &mut Vec<Self>, bytes: &[u8], endian: Endian);
    }
}

macro_rules! numbers {
    ($($type:ty),+) => {
        $(impl Number for $type {}

        impl sealed::Decode for $type {
            #[inline]
            fn decode(bytes: &[u8], endian: Endian) -> Self {
                let bytes = *bytes.first_chunk().unwrap_or(&[0; size_of::<$type>()]);
                match endian {
                    Endian::Little => Self::from_le_bytes(bytes),
                    Endian::Big => Self::from_be_bytes(bytes),
                }
            }

            #[inline]
            fn extend(values: &mut Vec<Self>, bytes: &[u8], endian: Endian) {
                let (chunks, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                match endian {
                    Endian::Little => values.extend(chunks.iter().map(|chunk| <$type>::from_le_bytes(*chunk))),
                    Endian::Big => values.extend(chunks.iter().map(|chunk| <$type>::from_be_bytes(*chunk))),
                }
            }
        })+
    };
}

numbers!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

impl<'a> Cursor<'a> {
    /// Starts after the encapsulation header of a payload.
    ///
    /// # Errors
    /// When the payload is not plain CDR.
    pub fn new(payload: &'a [u8]) -> Result<Self> {
        let Encapsulation { endian, max_align } = Encapsulation::parse(payload)?;
        Ok(Self {
            body: payload.get(HEADER..).unwrap_or_default(),
            at: 0,
            max_align,
            endian,
        })
    }

    /// Moves to a position that [`Self::offset`] returned.
    #[must_use]
    pub fn at(mut self, offset: usize) -> Self {
        self.at = offset.saturating_sub(HEADER);
        self
    }

    /// The order of bytes.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// The position in the payload, header included.
    pub fn offset(&self) -> usize {
        HEADER + self.at
    }

    /// Number of bytes left.
    pub fn remaining(&self) -> usize {
        self.body.len().saturating_sub(self.at)
    }

    /// Fails when less than `needed` bytes are left.
    pub(crate) fn check(&self, what: &'static str, needed: u64) -> Result<()> {
        let available = self.remaining();
        if needed <= available as u64 {
            return Ok(());
        }
        Err(Error::ShortPayload {
            offset: self.offset(),
            what,
            needed,
            available,
        })
    }

    /// The bytes of aligned elements. Without elements there is no alignment either.
    ///
    /// # Errors
    /// When the payload is too short.
    #[inline]
    pub fn slice(&mut self, what: &'static str, count: usize, size: usize) -> Result<&'a [u8]> {
        if count == 0 {
            return Ok(&[]);
        }
        let start = self.at.next_multiple_of(size.min(self.max_align));
        let end = count
            .checked_mul(size)
            .and_then(|length| length.checked_add(start));
        let found = end.and_then(|end| Some((end, self.body.get(start..end)?)));
        let Some((end, bytes)) = found else {
            return Err(Error::ShortPayload {
                offset: HEADER + start,
                what,
                needed: (count as u64).saturating_mul(size as u64),
                available: self.body.len().saturating_sub(start),
            });
        };
        self.at = end;
        Ok(bytes)
    }

    /// Reads one number.
    ///
    /// # Errors
    /// When the payload is too short.
    #[inline]
    pub fn number<T: Number>(&mut self) -> Result<T> {
        let bytes = self.slice(std::any::type_name::<T>(), 1, size_of::<T>())?;
        Ok(T::decode(bytes, self.endian))
    }

    /// Appends numbers to a vector.
    ///
    /// # Errors
    /// When the payload is too short; the vector is unchanged then.
    #[inline]
    pub fn extend<T: Number>(&mut self, values: &mut Vec<T>, count: usize) -> Result<()> {
        let bytes = self.slice(std::any::type_name::<T>(), count, size_of::<T>())?;
        T::extend(values, bytes, self.endian);
        Ok(())
    }

    /// The bytes of booleans, each 0 or 1.
    ///
    /// # Errors
    /// When the payload is too short or a byte is neither.
    #[inline]
    pub fn booleans(&mut self, count: usize) -> Result<&'a [u8]> {
        let offset = self.offset();
        let bytes = self.slice("bool", count, 1)?;
        match bytes.iter().enumerate().find(|(_, byte)| **byte > 1) {
            None => Ok(bytes),
            Some((index, value)) => Err(Error::Payload {
                offset: offset + index,
                what: "bool",
                value: (*value).into(),
            }),
        }
    }

    /// The number of elements of an array: the length of a sequence is read, that of a fixed array is not stored.
    ///
    /// # Errors
    /// When the payload has fewer bytes than elements, or the sequence exceeds its bound.
    pub fn count(&mut self, shape: ArrayShape) -> Result<usize> {
        self.count_of(shape, 1)
    }

    /// The same for elements of at least `min_size` bytes.
    pub(crate) fn count_of(&mut self, shape: ArrayShape, min_size: u64) -> Result<usize> {
        let offset = self.offset();
        let (count, what) = match shape {
            ArrayShape::Single => return Ok(1),
            ArrayShape::Fixed(count) => (count, "array"),
            ArrayShape::Unbounded | ArrayShape::Bounded(_) => (self.number()?, "sequence"),
        };
        self.check(what, u64::from(count).saturating_mul(min_size))?;
        match shape {
            ArrayShape::Bounded(bound) if count > bound => Err(Error::Payload {
                offset,
                what: "sequence length",
                value: count.into(),
            }),
            _ => Ok(count as usize),
        }
    }

    /// The bytes of a string without the final zero.
    ///
    /// # Errors
    /// When the payload is too short, or the string exceeds its bound.
    pub fn text(&mut self, bound: Option<u32>) -> Result<&'a [u8]> {
        let offset = self.offset();
        let length = self.number::<u32>()? as usize;
        let bytes = self.slice("string", length, 1)?;
        // The length counts the final zero; some writers omit both for an empty string.
        let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        check_bound(offset, "string length", bytes.len(), bound)?;
        Ok(bytes)
    }

    /// A wide string whose characters have a known layout.
    ///
    /// # Errors
    /// When the payload is too short, a character does not fit UTF-16, or the string exceeds its bound.
    pub fn wide_text(&mut self, bound: Option<u32>, wide: WideChars) -> Result<WideText> {
        let offset = self.offset();
        let count = self.number::<u32>()? as usize;
        let mut units: Vec<u16> = Vec::new();
        match wide {
            WideChars::TwoBytes => self.extend(&mut units, count)?,
            WideChars::FourBytes => {
                let mut characters: Vec<u32> = Vec::new();
                self.extend(&mut characters, count)?;
                for character in characters {
                    let unit = u16::try_from(character).map_err(|_error| Error::Payload {
                        offset,
                        what: "wide character",
                        value: character.into(),
                    });
                    units.push(unit?);
                }
            }
        }
        check_bound(offset, "wide string length", units.len(), bound)?;
        Ok(WideText::from_units(units))
    }

    /// Steps over fields.
    ///
    /// # Errors
    /// When the payload is too short.
    #[inline]
    pub fn skip(&mut self, fields: &SkipProgram) -> Result<()> {
        let end = fields.run(self.body, self.at, self.max_align, self.endian);
        let Some(end) = end else {
            return Err(Error::ShortPayload {
                offset: self.offset(),
                what: "field",
                needed: self.remaining() as u64 + 1,
                available: self.remaining(),
            });
        };
        self.at = end;
        Ok(())
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
