//! Strings of messages. ROS specifies UTF-8, but nothing on the wire enforces it.

use std::borrow::Cow;
use std::fmt;

/// The bytes of a `string`, usually UTF-8; other bytes are kept unchanged.
#[derive(Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Text(Vec<u8>);

impl Text {
    /// A string of any bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, or `None` when the bytes are not UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        str::from_utf8(&self.0).ok()
    }

    /// The text, with a replacement character for invalid UTF-8.
    pub fn to_string_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string_lossy())
    }
}

/// The UTF-16 units of a `wstring`.
#[derive(Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct WideText(Vec<u16>);

impl WideText {
    /// A string of any UTF-16 units.
    pub fn from_units(units: Vec<u16>) -> Self {
        Self(units)
    }

    /// The UTF-16 units.
    pub fn units(&self) -> &[u16] {
        &self.0
    }

    /// The text, with a replacement character for invalid UTF-16.
    pub fn to_string_lossy(&self) -> String {
        String::from_utf16_lossy(&self.0)
    }
}

impl From<&str> for WideText {
    fn from(text: &str) -> Self {
        Self(text.encode_utf16().collect())
    }
}

impl fmt::Debug for WideText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string_lossy())
    }
}
