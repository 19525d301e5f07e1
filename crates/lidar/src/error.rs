/// An error of the node of a lidar.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The node refused or failed.
    #[error(transparent)]
    Node(#[from] timeloom_node::Error),
    /// The settings of the device are not valid, or the driver failed to start.
    #[error(transparent)]
    Device(#[from] timeloom_pf::Error),
    /// A message type is unknown, or a value does not fit its field.
    #[error(transparent)]
    Message(#[from] timeloom_msg::Error),
    /// A parameter has a value of the wrong type or out of range.
    #[error("parameter `{name}`: {value} is not {expected}")]
    Parameter {
        /// The parameter.
        name: String,
        /// Its value, or the type of the value.
        value: String,
        /// The expected value.
        expected: &'static str,
    },
    /// A built-in message definition has other fields than this crate fills.
    #[error("{type_name} has other fields than expected")]
    Layout {
        /// The type.
        type_name: &'static str,
    },
    /// The operating system could not start a thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
