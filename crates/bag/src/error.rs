//! The one error type of this crate.

use std::io;
use std::path::{Path, PathBuf};

/// An error of reading or writing a bag; every text names the file and the numbers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation on a file or directory.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The operation, as a verb.
        action: &'static str,
        /// The reason of the operating system.
        source: io::Error,
    },
    /// The file does not begin like an MCAP file.
    #[error("{} is not an MCAP file: its first 8 bytes are not the MCAP magic", path.display())]
    BadMagic {
        /// The file.
        path: PathBuf,
    },
    /// The file ends before the record that begins at `offset` does.
    #[error("{} is cut off: the record at byte {offset} needs {needed} bytes, {available} are there", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Offset of the record.
        offset: u64,
        /// Bytes that the record claims.
        needed: u64,
        /// Bytes that the file has after `offset`.
        available: u64,
    },
    /// A record of an MCAP file contradicts the format.
    #[error("{}: malformed MCAP record 0x{opcode:02X} at byte {offset}: {reason}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Offset of the record.
        offset: u64,
        /// The record's opcode.
        opcode: u8,
        /// The reason.
        reason: &'static str,
    },
    /// The checksum of a chunk or of the summary does not match its bytes.
    #[error("{}: {what} crc mismatch at byte {offset}: expected {expected:08X}, got {actual:08X}", path.display())]
    Crc {
        /// The file.
        path: PathBuf,
        /// `chunk` or `summary`.
        what: &'static str,
        /// Offset of the checked bytes.
        offset: u64,
        /// The checksum that the file states.
        expected: u32,
        /// The checksum of the bytes.
        actual: u32,
    },
    /// Something claims a size above the limit that protects the memory.
    #[error("{}: {what} of {size} bytes is above the limit of {limit}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The oversized item.
        what: &'static str,
        /// The claimed size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// Compressed bytes cannot be unpacked, or packing failed.
    #[error("{}: {what}: {reason}", path.display())]
    Compression {
        /// The file.
        path: PathBuf,
        /// The item that was compressed or decompressed.
        what: &'static str,
        /// The codec's reason.
        reason: String,
    },
    /// The compression or storage named here is not known.
    #[error("unknown {kind} \"{name}\" (known: {known})")]
    Unknown {
        /// `compression`, `storage`, `preset` and so on.
        kind: &'static str,
        /// The name that was found.
        name: String,
        /// The names that are known.
        known: &'static str,
    },
    /// A YAML text is not well formed or exceeds a bound.
    #[error("yaml line {line}: {reason}")]
    Yaml {
        /// Line, from 1.
        line: usize,
        /// The reason.
        reason: String,
    },
    /// A YAML text is well formed but does not describe a bag.
    #[error("bag metadata: {field}: {reason}")]
    Metadata {
        /// The field, dotted.
        field: String,
        /// The reason.
        reason: String,
    },
    /// A path in the metadata would leave the bag's directory.
    #[error("bag metadata names \"{path}\", which is outside the bag directory")]
    UnsafePath {
        /// The path as written in the metadata.
        path: String,
    },
    /// `SQLite` reports an error.
    #[error("{}: sqlite: {source}", path.display())]
    Sqlite {
        /// The database file.
        path: PathBuf,
        /// The library's reason.
        source: rusqlite::Error,
    },
    /// A configuration value is not acceptable.
    #[error("{key}: {reason}")]
    Config {
        /// The key.
        key: String,
        /// The reason.
        reason: String,
    },
    /// A topic id was not given out by this writer or reader.
    #[error("topic id {id} is unknown: {count} topics exist")]
    UnknownTopic {
        /// The id.
        id: u32,
        /// Number of topics.
        count: usize,
    },
    /// A topic was declared again with another type or format.
    #[error("topic {name} exists with type {existing}, cannot add it with type {wanted}")]
    TopicConflict {
        /// The topic.
        name: String,
        /// Its type in the file.
        existing: String,
        /// The type of the new declaration.
        wanted: String,
    },
    /// The storage cannot hold more topics.
    #[error("cannot add topic {name}: the storage holds at most {limit} topics")]
    TooManyTopics {
        /// The topic that did not fit.
        name: String,
        /// The limit of the format.
        limit: usize,
    },
    /// Neither a bag directory nor a bag file is at this path.
    #[error("{} is not a bag: {reason}", path.display())]
    NotABag {
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// The output exists already; bags are never overwritten.
    #[error("{} exists already", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// The input of a conversion is damaged, and the options do not skip damage.
    #[error("the input is damaged: {reason}")]
    Damaged {
        /// The reason.
        reason: String,
    },
    /// Messages were not written, and the caller cannot continue without them.
    #[error("{messages} messages of {topics} topics were not written")]
    Unwritten {
        /// Number of messages.
        messages: u64,
        /// Number of their topics.
        topics: usize,
    },
    /// The place that a bag is read from failed (a network, a server): nothing is known about the bag itself.
    #[error("{source}")]
    Place {
        /// The reason, which names the address.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The messages of a topic cannot be decoded: no usable definition of their type was found.
    #[error(transparent)]
    Definition(Box<timeloom_msg::Error>),
    /// A message does not have the layout of its type.
    #[error("cannot decode {type_name}: {source}")]
    Decode {
        /// The type.
        type_name: String,
        /// The error of the decoder.
        source: Box<timeloom_msg::Error>,
    },
    /// A background thread of a writer or reader ended before its work was done.
    #[error("the {thread} thread of the bag is gone")]
    ThreadGone {
        /// The thread.
        thread: &'static str,
    },
}

/// Shorthand for this crate's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<timeloom_msg::Error> for Error {
    fn from(error: timeloom_msg::Error) -> Self {
        Self::Definition(Box::new(error))
    }
}

impl Error {
    /// Whether the bag itself is damaged. Reading can continue behind the damage, but not after an error of the place.
    pub fn is_damage(&self) -> bool {
        !matches!(self, Self::Place { .. })
    }

    /// Wraps an operating system error with the file and the verb.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io {
            path,
            action,
            source,
        }
    }

    /// Wraps an `SQLite` error with the file.
    pub(crate) fn sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Sqlite {
            path: path.clone(),
            source,
        }
    }

    /// A metadata field that cannot be used.
    pub(crate) fn metadata(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Metadata {
            field: field.into(),
            reason: reason.into(),
        }
    }
}
