/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The payload is not valid CDR.
    #[error(transparent)]
    Message(#[from] timeloom_msg::Error),
    /// The payload is too short.
    #[error("payload too short: {what} needs {needed} bytes at offset {offset}, {available} left")]
    Short {
        /// The part that was being read.
        what: &'static str,
        /// Offset after the encapsulation header.
        offset: usize,
        /// Bytes that it needs.
        needed: usize,
        /// Bytes that are left.
        available: usize,
    },
    /// A name is not UTF-8.
    #[error("{what} at offset {offset} is not UTF-8")]
    Text {
        /// The name that was being read.
        what: &'static str,
        /// Offset after the encapsulation header.
        offset: usize,
    },
    /// A plan file is invalid.
    #[error("{what}: {reason}")]
    Document {
        /// The kind of file.
        what: &'static str,
        /// The reason, with its line.
        reason: String,
    },
    /// A bag cannot be read.
    #[error(transparent)]
    Bag(#[from] timeloom_bag::Error),
    /// Links by the recorded graph were requested, and the bag has none.
    #[error("the bag has no recorded graph")]
    NoGraph,
    /// Links by tags were requested, and the bag has none.
    #[error("the bag has no tags")]
    NoTags,
    /// Links by a node model were requested, and it is empty.
    #[error("the node model is empty")]
    NoModel,
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
