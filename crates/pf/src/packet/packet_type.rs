use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The values of each point, and the family of devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PacketType {
    /// R2000: distance in 32 bits.
    A,
    /// R2000: distance in 32 bits and amplitude in 16.
    B,
    /// R2000: distance in 20 bits and amplitude in 12.
    #[default]
    C,
    /// R2300: as C, with the layer in the header.
    C1,
}

impl PacketType {
    /// All types.
    pub const ALL: [Self; 4] = [Self::A, Self::B, Self::C, Self::C1];

    /// The name, as in `packet_type=C`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::C1 => "C1",
        }
    }

    /// The number in the header: the letters, little endian.
    pub const fn code(self) -> u16 {
        match self {
            Self::A => 0x0041,
            Self::B => 0x0042,
            Self::C => 0x0043,
            Self::C1 => 0x3143,
        }
    }

    /// The type with this number.
    pub(crate) fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// Bytes of one point.
    pub const fn point_size(self) -> usize {
        match self {
            Self::A | Self::C | Self::C1 => 4,
            Self::B => 6,
        }
    }

    /// Bytes of the header that must be there: old firmware has no more.
    pub(crate) const fn least_header(self) -> usize {
        match self {
            Self::A | Self::B | Self::C => 60,
            Self::C1 => 58,
        }
    }
}

impl fmt::Display for PacketType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PacketType {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| Error::UnknownName {
            what: "packet type",
            name: text.to_owned(),
            known: "A, B, C, C1",
        })
    }
}
