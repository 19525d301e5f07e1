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
    /// An option that makes no sense, alone or together with another.
    #[error("{option}: {reason}")]
    Option {
        /// The option.
        option: &'static str,
        /// Why it is refused.
        reason: String,
    },
    /// There is no recording to which that could be done.
    #[error("nothing is being recorded: the bag is closed")]
    NotRecording,
    /// A bag is being recorded already.
    #[error("{} is being recorded: stop it first", path.display())]
    Recording {
        /// Where it is.
        path: std::path::PathBuf,
    },
    /// A thread of the recorder ended before its work was done.
    #[error("the {thread} thread of the recorder is gone")]
    ThreadGone {
        /// Which thread.
        thread: &'static str,
    },
    /// The operating system refused something.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// What the operating system said.
        source: std::io::Error,
    },
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
