//! The outcome of a verb that did not fail.

/// `main` turns it into an exit code; failures are errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything was done.
    Done,
    /// Everything was done, but data is missing; the verb has printed how much.
    DataLost,
    /// A check found a problem, which the verb has printed.
    ProblemFound,
}

impl Outcome {
    /// `DataLost` when `lost`.
    pub(crate) fn lost_if(lost: bool) -> Self {
        if lost { Self::DataLost } else { Self::Done }
    }
}
