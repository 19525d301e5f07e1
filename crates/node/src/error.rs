/// What can go wrong in a node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The middleware refused or failed.
    #[error(transparent)]
    Wire(#[from] timeloom_wire::Error),
    /// A type, a name or a payload is wrong.
    #[error(transparent)]
    Message(#[from] timeloom_msg::Error),
    /// A bag could not be read or written.
    #[error(transparent)]
    Bag(#[from] timeloom_bag::Error),
    /// The operating system has no thread to give.
    #[error("can't start a thread: {source}")]
    Thread {
        /// What the operating system said.
        source: std::io::Error,
    },
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
