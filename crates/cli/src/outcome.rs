//! How a verb ended, when it ended well.

/// What `main` turns into an exit code; a failure is an error instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All that was asked for was done.
    Done,
    /// It was done, but data is missing; the verb has said what and how much.
    DataLost,
}

impl Outcome {
    /// `DataLost` when `lost`.
    pub(crate) fn lost_if(lost: bool) -> Self {
        if lost { Self::DataLost } else { Self::Done }
    }
}
