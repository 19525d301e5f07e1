//! A payload that is being written.

use super::{Endian, WideChars};
use crate::Result;
use crate::value::{Text, WideText};

/// Writes aligned values in XCDR1.
pub(super) struct Writer {
    out: Vec<u8>,
    endian: Endian,
    wide: WideChars,
}

/// Declares the writers of one number type.
macro_rules! numbers {
    ($($one:ident, $many:ident, $type:ty;)+) => {
        $(
            pub(super) fn $one(&mut self, value: $type) {
                self.align(size_of::<$type>());
                self.out.extend_from_slice(&match self.endian {
                    Endian::Little => value.to_le_bytes(),
                    Endian::Big => value.to_be_bytes(),
                });
            }

            pub(super) fn $many(&mut self, values: &[$type]) {
                if !values.is_empty() {
                    self.align(size_of::<$type>());
                }
                match self.endian {
                    Endian::Little => self.out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
                    Endian::Big => self.out.extend(values.iter().flat_map(|value| value.to_be_bytes())),
                }
            }
        )+
    };
}

impl Writer {
    pub(super) fn new(endian: Endian, wide: WideChars) -> Self {
        let low = u8::from(endian == Endian::Little);
        Self {
            out: vec![0, low, 0, 0],
            endian,
            wide,
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.out
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

    pub(super) fn booleans(&mut self, values: &[bool]) {
        self.out.extend(values.iter().map(|value| u8::from(*value)));
    }

    /// The length of a string or sequence.
    pub(super) fn length(&mut self, length: usize) -> Result<()> {
        let name = "payload".to_owned();
        let limit = u64::from(u32::MAX);
        let too_long = |_| crate::Error::Limit {
            name,
            what: "length",
            actual: length as u64,
            limit,
        };
        self.uint32(u32::try_from(length).map_err(too_long)?);
        Ok(())
    }

    pub(super) fn text(&mut self, text: &Text) -> Result<()> {
        self.length(text.as_bytes().len() + 1)?;
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(0);
        Ok(())
    }

    pub(super) fn wide_text(&mut self, text: &WideText) -> Result<()> {
        self.length(text.units().len())?;
        match self.wide {
            WideChars::TwoBytes => self.uint16s(text.units()),
            WideChars::FourBytes => text
                .units()
                .iter()
                .for_each(|unit| self.uint32(u32::from(*unit))),
        }
        Ok(())
    }

    fn align(&mut self, size: usize) {
        // The header is four bytes, so positions count from there.
        let body = self.out.len() - 4;
        self.out.resize(4 + body.next_multiple_of(size), 0);
    }
}
