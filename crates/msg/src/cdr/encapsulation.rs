//! The four bytes before a payload.

use crate::{Error, Result};

/// Length of the encapsulation header.
pub(crate) const HEADER: usize = 4;

/// The order of bytes in a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Endian {
    /// Least significant byte first.
    #[default]
    Little,
    /// Most significant byte first.
    Big,
}

/// The layout of the characters of a `wstring`: middlewares differ, and a payload does not define it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WideChars {
    /// Four bytes each: Cyclone DDS, and Fast DDS up to Humble.
    #[default]
    FourBytes,
    /// Two bytes each: Fast DDS since Jazzy.
    TwoBytes,
}

/// The contents of the encapsulation header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Encapsulation {
    /// The order of bytes.
    pub endian: Endian,
    /// The largest alignment: 8 in CDR and XCDR1, 4 in XCDR2.
    pub max_align: usize,
}

impl Encapsulation {
    /// Reads the header of a payload.
    ///
    /// # Errors
    /// When the payload is shorter than four bytes, or is not plain CDR.
    pub fn parse(payload: &[u8]) -> Result<Self> {
        let Some(&[high, low, ..]) = payload.get(..HEADER) else {
            let available = payload.len();
            return Err(Error::ShortPayload {
                offset: 0,
                what: "encapsulation header",
                needed: 4,
                available,
            });
        };
        let endian = if low & 1 == 1 {
            Endian::Little
        } else {
            Endian::Big
        };
        match u16::from_be_bytes([high, low]) {
            0 | 1 => Ok(Self {
                endian,
                max_align: 8,
            }),
            6 | 7 => Ok(Self {
                endian,
                max_align: 4,
            }),
            id => Err(Error::Encapsulation { id }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown_headers() {
        let parse = |low| Encapsulation::parse(&[0, low, 0, 0]);
        assert_eq!(
            parse(0),
            Ok(Encapsulation {
                endian: Endian::Big,
                max_align: 8
            })
        );
        assert_eq!(
            parse(1),
            Ok(Encapsulation {
                endian: Endian::Little,
                max_align: 8
            })
        );
        assert_eq!(
            parse(7),
            Ok(Encapsulation {
                endian: Endian::Little,
                max_align: 4
            })
        );
        assert_eq!(parse(3), Err(Error::Encapsulation { id: 3 }));
        assert!(Encapsulation::parse(&[0, 1, 0]).is_err());
        assert!(Encapsulation::parse(&[1, 1, 0, 0]).is_err());
    }
}
