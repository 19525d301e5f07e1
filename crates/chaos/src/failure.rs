use std::fmt;

/// The reason why a case failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A process did not end in time.
    Hung(String),
    /// The campaign itself failed: this proves nothing about the product, and fails as well.
    Broken(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hung(text) => f.write_str(text),
            Self::Broken(text) => write!(f, "broken off: {text}"),
        }
    }
}

impl From<&str> for Failure {
    fn from(text: &str) -> Self {
        Self::Broken(text.to_owned())
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Broken(text)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

impl From<rustix::io::Errno> for Failure {
    fn from(error: rustix::io::Errno) -> Self {
        Self::Broken(error.to_string())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Broken(error.to_string())
    }
}
