use crate::Severity;

/// A message for the user while a recording runs; there are few of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The severity.
    pub severity: Severity,
    /// The text: one line without a period.
    pub text: String,
}

impl Note {
    pub(super) fn info(text: impl Into<String>) -> Self {
        Self {
            severity: Severity::Info,
            text: text.into(),
        }
    }

    pub(super) fn warning(text: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warn,
            text: text.into(),
        }
    }

    pub(super) fn error(text: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            text: text.into(),
        }
    }
}
