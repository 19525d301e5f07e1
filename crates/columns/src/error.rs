//! The one error type of this crate.

/// Errors of tables.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A bag cannot be read.
    #[error(transparent)]
    Bag(#[from] timeloom_bag::Error),
    /// A type is not known, or a payload does not fit it.
    #[error(transparent)]
    Message(#[from] timeloom_msg::Error),
    /// Arrow refused an array.
    #[error(transparent)]
    Arrow(#[from] arrow_schema::ArrowError),
    /// A table cannot be written.
    #[cfg(feature = "files")]
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: std::path::PathBuf,
        /// The reason of the library of the format.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Bytes are not a table of Parquet, or a table cannot become one.
    #[cfg(feature = "files")]
    #[error("{source}")]
    Parquet {
        /// The reason of the library.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A table lacks a column, or has it with another type.
    #[cfg(feature = "files")]
    #[error("the table has no usable column {name}")]
    NoColumn {
        /// The column.
        name: String,
    },
    /// A file or a directory cannot be created.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The file.
        path: std::path::PathBuf,
        /// The attempted action, as a verb.
        action: &'static str,
        /// The reason of the operating system.
        source: std::io::Error,
    },
    /// A topic that the bag does not have.
    #[error("the bag has no topic {name}")]
    UnknownTopic {
        /// The topic.
        name: String,
        /// The topics of the bag.
        known: Vec<String>,
    },
    /// A topic that was recorded with several types.
    #[error("topic {name} has several types: {}", types.join(", "))]
    SeveralTypes {
        /// The topic.
        name: String,
        /// Its types.
        types: Vec<String>,
    },
    /// A field that the type does not have.
    #[error("{type_name} has no field `{path}`")]
    UnknownField {
        /// The type.
        type_name: String,
        /// The path as it was asked for.
        path: String,
        /// The fields of the message that was searched.
        known: Vec<String>,
    },
    /// A field was asked for twice: by itself and as a part of another one.
    #[error("field `{path}` is a part of `{whole}`, which is asked for as well")]
    Overlap {
        /// The field.
        path: String,
        /// The message that contains it.
        whole: String,
    },
    /// Some messages of a topic could not be read or decoded.
    #[error("{topic} cannot be read as a whole: {}", lost.join("; "))]
    Incomplete {
        /// The topic.
        topic: String,
        /// What is missing, in words.
        lost: Vec<String>,
    },
    /// A type without a time stamp, where one is needed.
    #[error("{type_name} has no header stamp")]
    NoStamp {
        /// The type.
        type_name: String,
    },
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
