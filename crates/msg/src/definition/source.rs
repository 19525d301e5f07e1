//! The position of a parser, and its errors.

use crate::{Error, Result};

/// Longest accepted definition text; the largest real one, with all dependencies, is below 100 kB.
const MAX_TEXT: usize = 4 << 20;
/// Most fields and constants of one message.
pub(crate) const MAX_FIELDS: usize = 16_384;
/// Longest excerpt of the input in an error.
const MAX_EXCERPT: usize = 60;

/// The definition that is being read and the current line in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) name: &'a str,
    pub(crate) line: u32,
}

impl Source<'_> {
    /// An error that names the line, the expected and the actual token.
    pub(crate) fn expected(&self, expected: impl Into<String>, found: &str) -> Error {
        let mut excerpt: String = found.chars().take(MAX_EXCERPT).collect();
        if excerpt.len() < found.len() {
            excerpt.push('…');
        }
        let found = if found.is_empty() {
            "nothing".to_owned()
        } else {
            format!("`{excerpt}`")
        };
        Error::Definition {
            name: self.name.to_owned(),
            line: self.line,
            expected: expected.into(),
            found,
        }
    }
}

/// Refuses a text that is too long to be a definition.
pub(crate) fn check_text(name: &str, text: &str) -> Result<()> {
    check_limit(name, "definition length", text.len(), MAX_TEXT)
}

pub(crate) fn check_limit(
    name: &str,
    what: &'static str,
    actual: usize,
    limit: usize,
) -> Result<()> {
    if actual <= limit {
        return Ok(());
    }
    Err(Error::Limit {
        name: name.to_owned(),
        what,
        actual: actual as u64,
        limit: limit as u64,
    })
}
