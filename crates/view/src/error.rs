use std::net::SocketAddr;

/// What can go wrong while showing something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be listened on.
    #[error("can't listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The operating system has no thread to give.
    #[error("can't start the thread {name}")]
    Thread {
        /// Its name.
        name: String,
        /// Why.
        source: std::io::Error,
    },
    /// A message of a client that makes no sense.
    #[error("a {what} of {length} bytes is malformed: {reason}")]
    Malformed {
        /// What it should have been.
        what: &'static str,
        /// How long it is.
        length: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A number of something that is over the limit.
    #[error("too many {what}: {count}, the limit is {limit}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many were asked for.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// What is shown does not do that.
    #[error("{what} is not possible here")]
    Unsupported {
        /// What was asked for.
        what: String,
    },
    /// What is shown refused or failed; its own words.
    #[error("{0}")]
    Refused(String),
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn malformed(
        what: &'static str,
        length: usize,
        reason: impl std::fmt::Display,
    ) -> Self {
        Self::Malformed {
            what,
            length,
            reason: reason.to_string(),
        }
    }
}
