use std::path::PathBuf;

/// An error of a replay test, as opposed to a test that fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The plan, or a file that it names, is not valid.
    #[error("{}: {reason}", path.display())]
    Plan {
        /// The file.
        path: PathBuf,
        /// Why it is not valid.
        reason: String,
        /// The remedy.
        hint: Option<String>,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// `read`, `write`, `create`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A bag cannot be opened.
    #[error("cannot open {}: {source}", path.display())]
    Bag {
        /// The bag.
        path: PathBuf,
        /// The error of the reader.
        source: timeloom_bag::Error,
    },
    /// The command cannot be started.
    #[error("cannot start {command}: {source}")]
    Start {
        /// The program.
        command: String,
        /// The error of the system.
        source: std::io::Error,
    },
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn plan(path: &std::path::Path, reason: impl Into<String>) -> Self {
        Self::Plan {
            path: path.to_path_buf(),
            reason: reason.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, text: impl Into<String>) -> Self {
        if let Self::Plan { hint, .. } = &mut self {
            *hint = Some(text.into());
        }
        self
    }

    /// Wraps an error of the system.
    pub(crate) fn file(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File {
            action,
            path,
            source,
        }
    }
}
