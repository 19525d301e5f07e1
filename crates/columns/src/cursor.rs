//! A position in a payload that is read into columns.

use timeloom_msg::cdr::{Encapsulation, Endian};
use timeloom_msg::definition::ArrayShape;
use timeloom_msg::schema::{Element, SchemaType, StructType};
use timeloom_msg::{Error, Result};

/// Length of the encapsulation header.
const HEADER: usize = 4;

/// Reads aligned values of a CDR payload in place; nothing is allocated.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    body: &'a [u8],
    at: usize,
    max_align: usize,
    endian: Endian,
}

/// A number as payloads store it.
pub(crate) trait Number: Sized {
    /// Appends the numbers of a slice whose length is a multiple of their size.
    fn extend(values: &mut Vec<Self>, bytes: &[u8], endian: Endian);
}

macro_rules! numbers {
    ($($type:ty),+) => {
        $(impl Number for $type {
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
    /// The begin of a payload, behind its encapsulation header.
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

    /// Goes to a position that [`Self::offset`] gave.
    #[must_use]
    pub fn at(mut self, offset: usize) -> Self {
        self.at = offset.saturating_sub(HEADER);
        self
    }

    /// The order of bytes.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// The position in the payload, its header included.
    pub fn offset(&self) -> usize {
        HEADER + self.at
    }

    /// Aligned elements; no element means no alignment either.
    ///
    /// # Errors
    /// When the payload has less than that.
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

    pub(crate) fn uint32(&mut self, what: &'static str) -> Result<u32> {
        let bytes = self.slice(what, 1, 4)?;
        let bytes = *bytes.first_chunk().unwrap_or(&[0; 4]);
        Ok(match self.endian {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        })
    }

    /// The number of elements of an array; an element takes at least one byte.
    ///
    /// # Errors
    /// When the payload is too short for them, or the array has a lower bound.
    pub fn count(&mut self, shape: ArrayShape) -> Result<usize> {
        let (count, bound) = match shape {
            ArrayShape::Single => return Ok(1),
            ArrayShape::Fixed(count) => (count, None),
            ArrayShape::Unbounded => (self.uint32("sequence")?, None),
            ArrayShape::Bounded(bound) => (self.uint32("sequence")?, Some(bound)),
        };
        if bound.is_some_and(|bound| count > bound) {
            return Err(Error::Payload {
                offset: self.offset(),
                what: "sequence length",
                value: count.into(),
            });
        }
        let available = self.body.len().saturating_sub(self.at);
        if count as usize > available {
            return Err(Error::ShortPayload {
                offset: self.offset(),
                what: "sequence",
                needed: count.into(),
                available,
            });
        }
        Ok(count as usize)
    }

    /// The bytes of a string without the final zero.
    ///
    /// # Errors
    /// When the payload is too short, or the string longer than its bound.
    pub fn text(&mut self, bound: Option<u32>) -> Result<&'a [u8]> {
        let length = self.uint32("string")? as usize;
        let bytes = self.slice("string", length, 1)?;
        let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        self.check_bound("string length", bytes.len(), bound)?;
        Ok(bytes)
    }

    /// The characters of a wide string, four bytes each.
    ///
    /// # Errors
    /// When the payload is too short, or the string longer than its bound.
    pub fn wide_text(&mut self, bound: Option<u32>) -> Result<String> {
        let count = self.uint32("wide string")? as usize;
        let mut units = Vec::new();
        u32::extend(
            &mut units,
            self.slice("wide string", count, 4)?,
            self.endian,
        );
        self.check_bound("wide string length", units.len(), bound)?;
        let units: Vec<u16> = units
            .into_iter()
            .map(|unit| u16::try_from(unit).unwrap_or(u16::MAX))
            .collect();
        Ok(String::from_utf16_lossy(&units))
    }

    fn check_bound(&self, what: &'static str, length: usize, bound: Option<u32>) -> Result<()> {
        if bound.is_some_and(|bound| length > bound as usize) {
            return Err(Error::Payload {
                offset: self.offset(),
                what,
                value: length as u64,
            });
        }
        Ok(())
    }

    /// Steps over a field.
    ///
    /// # Errors
    /// When the payload is too short.
    pub fn skip(&mut self, ty: &SchemaType) -> Result<()> {
        let count = self.count(ty.shape)?;
        match &ty.element {
            Element::Primitive(primitive) => {
                self.slice(primitive.name(), count, primitive.size())?;
            }
            Element::String(_) => {
                for _ in 0..count {
                    let length = self.uint32("string")? as usize;
                    self.slice("string", length, 1)?;
                }
            }
            Element::WString(_) => {
                for _ in 0..count {
                    let length = self.uint32("wide string")? as usize;
                    self.slice("wide string", length, 4)?;
                }
            }
            Element::Struct(inner) => {
                for _ in 0..count {
                    self.skip_message(inner)?;
                }
            }
        }
        Ok(())
    }

    fn skip_message(&mut self, ty: &StructType) -> Result<()> {
        if ty.fields().is_empty() {
            // An empty message is one byte on the wire.
            self.slice("message", 1, 1)?;
        }
        ty.fields()
            .iter()
            .try_for_each(|field| self.skip(field.ty()))
    }
}
