use crate::Severity;

/// Something that people should know while a recording runs; never more than a few.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How bad it is.
    pub severity: Severity,
    /// What it is, one line without a period.
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
