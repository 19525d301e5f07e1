//! How a verb ended, when it ended well.

/// What `main` turns into an exit code; a failure is an error instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All that was asked for was done.
    Done,
    /// It was done, but data is missing; the verb has said what and how much.
    DataLost,
    /// What was looked at is not as it should be; the verb has said what and how to fix it.
    ProblemFound,
}

impl Outcome {
    /// `DataLost` when `lost`.
    pub(crate) fn lost_if(lost: bool) -> Self {
        if lost { Self::DataLost } else { Self::Done }
    }
}
