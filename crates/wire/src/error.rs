/// An error of a transport.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name or type that ROS does not allow.
    #[error(transparent)]
    Name(#[from] timeloom_msg::Error),
    /// The middleware refused a call.
    #[error("{transport} can't {action}: {reason}")]
    Refused {
        /// The transport's name.
        transport: &'static str,
        /// The attempted action, with the name of the topic, service or node.
        action: String,
        /// The middleware's reason.
        reason: String,
    },
    /// The transport has no such feature.
    #[error("{transport} has no {feature}")]
    Unsupported {
        /// The transport's name.
        transport: &'static str,
        /// The feature.
        feature: &'static str,
    },
    /// A payload that is not a serialised message.
    #[error("a payload of {length} bytes on `{topic}` has no encapsulation header (4 bytes)")]
    NoEncapsulation {
        /// The topic or service.
        topic: String,
        /// Its length in bytes.
        length: usize,
    },
    /// A reply to a client that has left.
    #[error("the client {client} that called `{service}` is gone")]
    ClientGone {
        /// The service.
        service: String,
        /// The client.
        client: crate::Gid,
    },
    /// A call without a reply in time.
    #[error("no answer from `{service}` within {timeout}")]
    CallTimedOut {
        /// The service.
        service: String,
        /// The timeout.
        timeout: timeloom_time::Duration,
    },
    /// A call that was stopped.
    #[error("the call of `{service}` was given up")]
    CallStopped {
        /// The service.
        service: String,
    },
    /// An environment variable with an invalid value.
    #[error("{variable}={value} is not valid: {expected}")]
    Environment {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        expected: &'static str,
    },
}

/// The result of an operation on the wire.
pub type Result<T> = std::result::Result<T, Error>;
