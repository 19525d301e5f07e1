/// A message for the user while a recording runs; there are few of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The severity.
    pub severity: NoteSeverity,
    /// The text: one line without a period.
    pub text: String,
}

/// The severity of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoteSeverity {
    /// Information.
    Info,
    /// Something is not as requested.
    Warning,
    /// Data is lost, or the recording ends.
    Error,
}

impl Note {
    pub(super) fn info(text: impl Into<String>) -> Self {
        Self {
            severity: NoteSeverity::Info,
            text: text.into(),
        }
    }

    pub(super) fn warning(text: impl Into<String>) -> Self {
        Self {
            severity: NoteSeverity::Warning,
            text: text.into(),
        }
    }

    pub(super) fn error(text: impl Into<String>) -> Self {
        Self {
            severity: NoteSeverity::Error,
            text: text.into(),
        }
    }
}
