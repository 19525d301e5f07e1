//! A bounded YAML tree for rosbag2's files.

mod block;
mod emit;
mod parse;

pub use emit::emit;
pub(crate) use emit::{emit_map_at, emit_text};
pub use parse::parse;
pub(crate) use parse::{Form, parse_with_form};

/// A YAML value. Maps keep their order; aliases and tags are refused by `parse`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// An unquoted scalar, exactly as written (`9`, `~`, `jazzy`).
    Plain(String),
    /// A quoted or block scalar: always a string.
    Text(String),
    /// A sequence.
    Sequence(Vec<Self>),
    /// A map with scalar keys, in the order of the file.
    Map(Vec<(String, Self)>),
}

impl Node {
    /// The value under a key of a map.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else {
            return None;
        };
        entries
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// The text of a scalar of any style.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Plain(text) | Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this is YAML's null: `~`, `null` or nothing.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Plain(text) if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The elements of a sequence; null counts as an empty one.
    pub fn as_sequence(&self) -> Option<&[Self]> {
        match self {
            Self::Sequence(items) => Some(items),
            node if node.is_null() => Some(&[]),
            _ => None,
        }
    }

    /// The entries of a map; null counts as an empty one.
    pub fn as_map(&self) -> Option<&[(String, Self)]> {
        match self {
            Self::Map(entries) => Some(entries),
            node if node.is_null() => Some(&[]),
            _ => None,
        }
    }

    /// A string value; quoted when written if it could be read as anything else.
    pub fn text(value: impl Into<String>) -> Self {
        Self::Text(value.into())
    }

    /// A number, written plainly.
    pub fn number(value: impl std::fmt::Display) -> Self {
        Self::Plain(value.to_string())
    }

    /// YAML's null, written `~`.
    pub fn null() -> Self {
        Self::Plain("~".into())
    }
}
