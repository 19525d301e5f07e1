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
    /// Lineage could not be read or written.
    #[error(transparent)]
    Trace(#[from] timeloom_trace::Error),
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
    /// A topic that is not recorded was named.
    #[error("{topic} is not recorded")]
    UnknownTopic {
        /// Its name.
        topic: String,
    },
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
    /// An argument after `--ros-args` that is wrong.
    #[error("invalid argument `{argument}`: {reason}")]
    Argument {
        /// The argument.
        argument: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A parameter file that cannot be read.
    #[error("parameter file {path}: {reason}")]
    ParameterFile {
        /// The file.
        path: String,
        /// Why not.
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
    #[error("{type_name} is not a service type")]
    NoService {
        /// The type.
        type_name: String,
    },
    /// A type that is defined nowhere here, of an endpoint whose node is not known.
    #[error("no definition of {type_name}, and no node to ask for it")]
    NobodyToAsk {
        /// The type.
        type_name: String,
    },
    /// A type that is defined nowhere here, and that the node that uses it does not tell.
    #[error(
        "no definition of {type_name}: not built in, not below AMENT_PREFIX_PATH, and {node} does not tell it: \
         {reason}"
    )]
    NotTold {
        /// The type.
        type_name: String,
        /// The node that was asked.
        node: String,
        /// What it said, or that it said nothing.
        reason: String,
    },
    /// Something that did not work, in words.
    #[error("{reason}")]
    Failed {
        /// The words.
        reason: String,
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
