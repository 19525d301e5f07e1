use std::fmt;

use serde::Serialize;

/// Why a run did not reach the end of the bag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The reason in words, with names and numbers.
    pub text: String,
    /// The last lines that the process wrote on stderr, or on stdout if stderr is empty.
    pub last_lines: Vec<String>,
}

/// A kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// Player, recorder or process could not be started.
    Setup,
    /// The process did not subscribe to an input.
    NoSubscriber,
    /// The process has no publisher of an output.
    NoPublisher,
    /// The process ended before the bag did, or with an error.
    Died,
    /// Time waited too long for the process.
    Hung,
    /// Input messages could not be played.
    Input,
    /// The user interrupted the run.
    Interrupted,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            last_lines: Vec::new(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
