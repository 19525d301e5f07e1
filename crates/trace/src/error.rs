/// What can go wrong with lineage: input that is not what it says it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The payload has no encapsulation that we know.
    #[error(transparent)]
    Message(#[from] timeloom_msg::Error),
    /// The payload ends too early.
    #[error(
        "payload ends in {what}: {needed} bytes are needed at offset {offset}, {available} are there"
    )]
    Short {
        /// What was being read.
        what: &'static str,
        /// Where, counted from after the encapsulation header.
        offset: usize,
        /// How many bytes it takes.
        needed: usize,
        /// How many are left.
        available: usize,
    },
    /// A name is not UTF-8.
    #[error("{what} at offset {offset} is not UTF-8")]
    Text {
        /// Which name.
        what: &'static str,
        /// Where, counted from after the encapsulation header.
        offset: usize,
    },
    /// A file for people is not as it should be.
    #[error("{what}: {reason}")]
    Document {
        /// Which file.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
