use std::fmt;

/// A condition that cannot be read: where, why, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The whole text.
    pub text: String,
    /// The place of the error, in characters from 0.
    pub position: usize,
    /// The reason.
    pub reason: String,
    /// The suggested spelling.
    pub hint: Option<String>,
}

impl SyntaxError {
    pub(super) fn new(text: &str, offset: usize, reason: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        Self {
            text: text.to_owned(),
            position: before.chars().count(),
            reason: reason.into(),
            hint: None,
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.position + 1;
        write!(
            f,
            "invalid trigger `{}`: at character {place}: {}",
            self.text, self.reason
        )
    }
}

impl std::error::Error for SyntaxError {}
