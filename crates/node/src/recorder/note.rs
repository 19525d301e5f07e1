/// Something that people should know while a recording runs; never more than a few.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How bad it is.
    pub severity: NoteSeverity,
    /// What it is, one line without a period.
    pub text: String,
}

/// How bad a note is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoteSeverity {
    /// Good to know.
    Info,
    /// Not as asked for.
    Warning,
    /// Data is lost or the recording ends.
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
