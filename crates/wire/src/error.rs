/// What can go wrong on the wire.
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
        /// What was tried, with the name of the topic, service or node.
        action: String,
        /// What the middleware said.
        reason: String,
    },
    /// The transport has no such feature.
    #[error("{transport} has no {feature}")]
    Unsupported {
        /// The transport's name.
        transport: &'static str,
        /// What it lacks.
        feature: &'static str,
    },
    /// A payload that is no serialised message.
    #[error("a payload of {length} bytes on `{topic}` has no encapsulation header (4 bytes)")]
    NoEncapsulation {
        /// Where it was to go.
        topic: String,
        /// How long it is.
        length: usize,
    },
    /// A reply to somebody who is not there any more.
    #[error("the client {client} that called `{service}` is gone")]
    ClientGone {
        /// The service.
        service: String,
        /// Who called.
        client: crate::Gid,
    },
    /// A call that nobody answered in time.
    #[error("no answer from `{service}` within {timeout}")]
    CallTimedOut {
        /// The service.
        service: String,
        /// How long it was waited for.
        timeout: timeloom_time::Duration,
    },
    /// A call that its caller gave up.
    #[error("the call of `{service}` was given up")]
    CallStopped {
        /// The service.
        service: String,
    },
    /// An environment variable with a value that it cannot have.
    #[error("{variable}={value} is not valid: {expected}")]
    Environment {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
}

/// The result of an operation on the wire.
pub type Result<T> = std::result::Result<T, Error>;
