use std::net::SocketAddr;

/// An error of the view server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server cannot listen on the address.
    #[error("can't listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A thread cannot be started.
    #[error("can't start the thread {name}")]
    Thread {
        /// The name of the thread.
        name: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A client sent a malformed message.
    #[error("a {what} of {length} bytes is malformed: {reason}")]
    Malformed {
        /// The expected kind of message.
        what: &'static str,
        /// Its length in bytes.
        length: usize,
        /// The reason.
        reason: String,
    },
    /// A count above its limit.
    #[error("too many {what}: {count}, the limit is {limit}")]
    TooMany {
        /// The things that are counted.
        what: &'static str,
        /// The requested count.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// The source does not support the request.
    #[error("{what} is not possible here")]
    Unsupported {
        /// The request.
        what: String,
    },
    /// The source refused the request or failed.
    #[error("{0}")]
    Refused(String),
}

/// The result type of this crate.
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
