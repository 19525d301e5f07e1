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
    /// A lidar cannot be worked with.
    #[error(transparent)]
    Lidar(#[from] timeloom_pf::Error),
    /// The operating system has no thread to give.
    #[error("can't start a thread: {0}")]
    Thread(std::io::Error),
    /// A remap rule that is none.
    #[error("invalid remap rule `{rule}`: {reason}")]
    Remap {
        /// The rule as it was given.
        rule: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A parameter that cannot be declared or set so.
    #[error("parameter `{name}`: {reason}")]
    Parameter {
        /// The parameter.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A type that was to be a service and is none.
    #[error("{type_name} is no service type")]
    NoService {
        /// The type.
        type_name: String,
    },
    /// A request whose content makes no sense.
    #[error("the field `{field}` of the request is not valid")]
    Request {
        /// The field.
        field: &'static str,
    },
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
