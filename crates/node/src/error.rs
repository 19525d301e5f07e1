/// An error of a node.
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
    /// Lineage could not be read or written.
    #[error(transparent)]
    Trace(#[from] timeloom_trace::Error),
    /// An invalid option, alone or together with another.
    #[error("{option}: {reason}")]
    Option {
        /// The option.
        option: &'static str,
        /// The reason.
        reason: String,
    },
    /// No recording is in progress.
    #[error("nothing is being recorded: the bag is closed")]
    NotRecording,
    /// A topic that is not recorded.
    #[error("{topic} is not recorded")]
    UnknownTopic {
        /// Its name.
        topic: String,
    },
    /// A bag is being recorded already.
    #[error("{} is being recorded: stop it first", path.display())]
    Recording {
        /// The path of that bag.
        path: std::path::PathBuf,
    },
    /// A thread of the recorder ended before its work was done.
    #[error("the {thread} thread of the recorder is gone")]
    ThreadGone {
        /// The thread.
        thread: &'static str,
    },
    /// An error of the operating system.
    #[error("cannot {action}: {source}")]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The error.
        source: std::io::Error,
    },
    /// The operating system cannot start a thread.
    #[error("can't start a thread: {0}")]
    Thread(std::io::Error),
    /// An invalid remap rule.
    #[error("invalid remap rule `{rule}`: {reason}")]
    Remap {
        /// The rule as it was given.
        rule: String,
        /// The reason.
        reason: String,
    },
    /// An invalid argument after `--ros-args`.
    #[error("invalid argument `{argument}`: {reason}")]
    Argument {
        /// The argument.
        argument: String,
        /// The reason.
        reason: String,
    },
    /// A parameter file that cannot be read.
    #[error("parameter file {path}: {reason}")]
    ParameterFile {
        /// The file.
        path: String,
        /// The reason.
        reason: String,
    },
    /// A parameter that cannot be declared or set with that value.
    #[error("parameter `{name}`: {reason}")]
    Parameter {
        /// The parameter.
        name: String,
        /// The reason.
        reason: String,
    },
    /// A type that is not a service.
    #[error("{type_name} is not a service type")]
    NoService {
        /// The type.
        type_name: String,
    },
    /// A type without a local definition, of an endpoint whose node is not known.
    #[error("no definition of {type_name}, and no node that could provide it")]
    NodeUnknown {
        /// The type.
        type_name: String,
    },
    /// A type without a local definition, which its node does not describe either.
    #[error(
        "no definition of {type_name}: not built in, not below AMENT_PREFIX_PATH, and {node} does not describe it: \
         {reason}"
    )]
    NotDescribed {
        /// The type.
        type_name: String,
        /// The node that was asked.
        node: String,
        /// The node's reason, or that it did not answer.
        reason: String,
    },
    /// Another failure.
    #[error("{reason}")]
    Failed {
        /// The reason.
        reason: String,
    },
    /// An invalid request.
    #[error("the field `{field}` of the request is not valid")]
    Request {
        /// The field.
        field: &'static str,
    },
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
