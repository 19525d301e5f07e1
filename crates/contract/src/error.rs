/// An error of a contract or of its check.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not a contract.
    #[error("invalid contract: {0}")]
    Contract(String),
    /// A field of a contract does not exist in the type of its topic.
    #[error("invalid contract: {topic}: {reason}")]
    Field {
        /// The topic.
        topic: String,
        /// The reason.
        reason: String,
    },
    /// The bag cannot be read.
    #[error(transparent)]
    Bag(#[from] timeloom_bag::Error),
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
