//! An error of the command line itself, with the way out.

use std::fmt;

use timeloom_text::nearest;

/// An error message with an optional hint.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    usage: bool,
}

impl Failure {
    /// Something that could not be done.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            usage: false,
        }
    }

    /// Arguments that make no sense together: exit code 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            usage: true,
            ..Self::new(message)
        }
    }

    /// A value of an argument that the library refused: exit code 2.
    pub(crate) fn invalid_value(error: impl fmt::Display) -> Self {
        Self::usage(error.to_string())
    }

    /// Adds what to do.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// Adds the known name that is most like the wanted one, if any is.
    pub(crate) fn suggest<'a>(
        self,
        wanted: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        match nearest(wanted, known) {
            Some(near) => self.hint(format!("did you mean {near}?")),
            None => self,
        }
    }

    /// Adds what to do, if there is no hint yet.
    pub(crate) fn or_hint(self, hint: impl Into<String>) -> Self {
        match self.hint {
            Some(_) => self,
            None => self.hint(hint),
        }
    }

    /// Adds what to do, when something is known.
    pub(crate) fn hint_if(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }

    pub(crate) fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn is_usage(&self) -> bool {
        self.usage
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
