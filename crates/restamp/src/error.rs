/// Errors of device times in messages.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A message type has no `header.stamp`.
    #[error("{topic} ({type_name}) has no header.stamp")]
    NoStamp {
        /// The topic.
        topic: String,
        /// Its type.
        type_name: String,
    },
    /// A type has no such field.
    #[error("{topic} ({type_name}) has no field {field}")]
    UnknownField {
        /// The topic.
        topic: String,
        /// Its type.
        type_name: String,
        /// The field as it was asked for.
        field: String,
        /// The fields of the message that was searched.
        known: Vec<String>,
    },
    /// The field for the host's time has another type.
    #[error("{field} of {topic} is not a builtin_interfaces/msg/Time")]
    NotATime {
        /// The topic.
        topic: String,
        /// The field.
        field: String,
    },
    /// A field cannot be read as a time.
    #[error("{topic}: {field} is {reason}")]
    Field {
        /// The topic.
        topic: String,
        /// The field.
        field: String,
        /// The reason.
        reason: &'static str,
    },
    /// A counter in a field does not fit its description.
    #[error("{topic}: {field}: {source}")]
    Counter {
        /// The topic.
        topic: String,
        /// The field.
        field: String,
        /// The reason.
        source: timeloom_sync::Error,
    },
    /// No stamp of a topic is a time of a device.
    #[error("{topic} shows no device times")]
    NoDeviceTimes {
        /// The topic.
        topic: String,
    },
    /// A time is out of the range of a stamp.
    #[error("{nanos} ns is out of the range of a stamp")]
    StampOutOfRange {
        /// The time.
        nanos: i64,
    },
    /// The clock has just restarted, and nothing can be converted yet.
    #[error("{topic}: the clock has just restarted")]
    Restarted {
        /// The topic.
        topic: String,
    },
    /// A sample or a mapping was refused.
    #[error(transparent)]
    Sync(#[from] timeloom_sync::Error),
    /// A message could not be decoded or encoded.
    #[error(transparent)]
    Message(#[from] timeloom_msg::Error),
    /// A bag could not be read or written.
    #[error(transparent)]
    Bag(#[from] timeloom_bag::Error),
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
