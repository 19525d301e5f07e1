//! The storage traits: one writes a file, one reads it.

mod file_account;
mod outcome;
mod query;

pub use file_account::FileAccount;
pub use outcome::{Unwritten, WriteOutcome};
pub use query::{Order, Query};

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

#[cfg(doc)]
use crate::RobotState;
use crate::robot::{self, StatePart};
use crate::{
    BagMetadata, Error, Message, MessagePublishers, Result, RobotGraph, RobotParameters,
    SharedPayload, TopicId, TopicInfo, TopicStatistics,
};

/// The storages that this crate reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StorageId {
    /// MCAP, the default of ROS 2 since Iron.
    Mcap,
    /// `SQLite` 3, the default up to Humble.
    Sqlite3,
}

impl StorageId {
    /// All storages.
    pub const ALL: [Self; 2] = [Self::Mcap, Self::Sqlite3];

    /// The name in metadata and on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mcap => "mcap",
            Self::Sqlite3 => "sqlite3",
        }
    }

    /// The file name extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Mcap => "mcap",
            Self::Sqlite3 => "db3",
        }
    }

    /// The smallest size at which rosbag2 lets a file be split.
    pub fn min_split_size(self) -> u64 {
        match self {
            Self::Mcap => 1024,
            Self::Sqlite3 => 86_016,
        }
    }

    /// The storage of that name.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|id| id.name() == name)
            .ok_or_else(|| Error::Unknown {
                kind: "storage",
                name: name.to_owned(),
                known: "mcap, sqlite3",
            })
    }

    /// The storage of a file by its name, with or without `.zstd`; `None` for other names.
    pub fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let name = name.strip_suffix(".zstd").unwrap_or(name);
        let (_, extension) = name.rsplit_once('.')?;
        Self::ALL.into_iter().find(|id| id.extension() == extension)
    }
}

/// Creates a file of a bag; an existing one is an error.
pub(crate) fn create_file(path: &Path) -> Result<File> {
    let file = File::options().write(true).create_new(true).open(path);
    file.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => Error::Exists {
            path: path.to_path_buf(),
        },
        _ => Error::io(path, "create")(source),
    })
}

/// Whether a writer may wait for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiskWait {
    /// Large messages may go to the disk directly, which costs less processor time.
    #[default]
    Allowed,
    /// Messages pile up: everything goes through the page cache, which takes it at once.
    Avoided,
}

/// Writes one file of a bag.
///
/// Messages are passed in batches. A message is *accepted* when `write` returned without naming it, and *written* when
/// the storage holds it; messages that are accepted and can no longer be written are named by a later outcome, per
/// topic.
pub trait StorageWriter: Send {
    /// Declares a topic and returns its dense id; the same topic again gives the same id.
    fn add_topic(&mut self, topic: &TopicInfo) -> Result<TopicId>;

    /// Writes a batch. `now_ns` is any steady time of the caller; it only decides when buffered messages are sealed.
    fn write(&mut self, batch: &[Message<'_>], now_ns: i64) -> WriteOutcome;

    /// Seals buffered messages if they are older than the configured age at `now_ns`.
    fn tick(&mut self, now_ns: i64) -> WriteOutcome;

    /// Passes all buffered messages to the operating system and waits for it: a killed process loses none of them.
    fn seal(&mut self) -> WriteOutcome;

    /// Like [`seal`](Self::seal), and makes it survive a power cut. Blocks on the disk.
    fn sync(&mut self) -> WriteOutcome;

    /// Requests a [`sync`](Self::sync) without waiting for it, where the storage has a thread for that.
    fn request_sync(&mut self) -> WriteOutcome {
        self.sync()
    }

    /// Sets whether [`write`](Self::write) may wait for the disk; of no effect where it never does.
    fn set_disk_wait(&mut self, _wait: DiskWait) {}

    /// Saves the account so far in the file: a killed process leaves it there. [`finish`](Self::finish) makes it
    /// obsolete.
    fn save_account(&mut self, account: &str) -> WriteOutcome;

    /// Adds a text of the robot's state to the file; see [`RobotState::to_yaml`]. It stays in the finished file.
    fn save_state(&mut self, part: StatePart, text: &str) -> WriteOutcome;

    /// Approximate size of the file if it were sealed now, to decide on a split.
    fn file_size(&self) -> u64;

    /// Writes the rest, the metadata and the index, and closes the file.
    fn finish(
        self: Box<Self>,
        metadata: &mut dyn FnMut(&FileSummary) -> BagMetadata,
    ) -> (FileSummary, WriteOutcome);
}

/// The contents of a finished file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileSummary {
    /// Account of each topic by dense id, including messages lost by the storage.
    pub topics: Vec<TopicStatistics>,
    /// Size of the file.
    pub file_size: u64,
}

impl FileSummary {
    /// All topics together.
    pub fn total(&self) -> TopicStatistics {
        let mut total = TopicStatistics::default();
        for topic in &self.topics {
            total.merge(topic);
        }
        total
    }
}

/// Records of an MCAP file that are neither messages nor the metadata of the bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct ExtraCounts {
    /// Attachments: files inside of the file.
    pub attachments: u64,
    /// Metadata records of other programs.
    pub metadata_records: u64,
}

impl ExtraCounts {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Subtracts another count, down to zero.
    pub(crate) fn remove(&mut self, other: Self) {
        self.attachments = self.attachments.saturating_sub(other.attachments);
        self.metadata_records = self.metadata_records.saturating_sub(other.metadata_records);
    }

    /// Adds those of another file.
    pub fn add(&mut self, other: Self) {
        self.attachments += other.attachments;
        self.metadata_records += other.metadata_records;
    }
}

/// The description of a file, known when it is opened, without reading its messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileInfo {
    /// Topics by dense id.
    pub topics: Vec<TopicInfo>,
    /// Messages per topic by dense id.
    pub message_counts: Vec<u64>,
    /// Log time of the first message.
    pub start_time_ns: Option<i64>,
    /// Log time of the last message.
    pub end_time_ns: Option<i64>,
    /// The newest metadata that the file embeds.
    pub metadata: Option<Arc<BagMetadata>>,
    /// The account in the file; `None` if it has none.
    pub account: Option<Arc<FileAccount>>,
    /// `ros_distro` that the storage itself states.
    pub ros_distro: String,
    /// Attachments and metadata records.
    pub extras: ExtraCounts,
    /// Size on disk.
    pub file_size: u64,
    /// Descriptions of damage; empty when the file is whole.
    pub damage: Vec<String>,
    /// Descriptions of data that `ros2 bag` does not read although it is there; `recover` and `convert` repair it.
    pub compatibility: Vec<String>,
}

impl FileInfo {
    /// Messages of all topics.
    pub fn message_count(&self) -> u64 {
        self.message_counts.iter().sum()
    }

    /// The id of a topic by name.
    pub fn topic_id(&self, name: &str) -> Option<TopicId> {
        TopicId::from_index(self.topics.iter().position(|topic| topic.name == name)?)
    }
}

/// The place of a payload that is stored as it is: neither compressed nor in a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredAt<'a> {
    /// The file.
    pub path: &'a Path,
    /// Where the payload begins in it.
    pub offset: u64,
}

/// Reads one file of a bag.
///
/// A damaged part is reported once as an error; reading continues behind it with the next call.
pub trait StorageReader: Send {
    /// The description of the file.
    fn info(&self) -> &FileInfo;

    /// The texts of a part of the robot's state, oldest first; none when the file has none.
    ///
    /// Read on request: opening a file does not pay for them.
    ///
    /// # Errors
    /// When they cannot be read.
    fn state_texts(&mut self, part: StatePart) -> Result<Vec<String>>;

    /// Reads the graph of the robot; empty when the file has none.
    ///
    /// # Errors
    /// When it cannot be read, or is of a later version.
    fn graph(&mut self) -> Result<RobotGraph> {
        robot::from_texts(&self.state_texts(StatePart::Graph)?)
    }

    /// Reads the parameters of the robot's nodes; empty when the file has none.
    ///
    /// # Errors
    /// When they cannot be read, or are of a later version.
    fn parameters(&mut self) -> Result<RobotParameters> {
        robot::from_texts(&self.state_texts(StatePart::Parameters)?)
    }

    /// Reads who published each message; empty when the file does not say.
    ///
    /// # Errors
    /// When it cannot be read, or is of a later version.
    fn publishers(&mut self) -> Result<MessagePublishers> {
        robot::from_texts(&self.state_texts(StatePart::Publishers)?)
    }

    /// Starts to read by a query; may be called again at any time.
    fn start(&mut self, query: &Query) -> Result<()>;

    /// Moves to the next message of the query; `false` at the end.
    fn advance(&mut self) -> Result<bool>;

    /// The message that [`advance`](Self::advance) moved to, borrowed until the next call.
    fn message(&self) -> Option<Message<'_>>;

    /// The payload of that message, to be kept without a copy; `None` if it has to be copied, as when it is only a small
    /// part of the memory that it is in.
    fn shared_payload(&self) -> Option<SharedPayload> {
        None
    }

    /// Where the payload of that message is in a local file; `None` if it is not stored there as it is.
    fn stored_at(&self) -> Option<StoredAt<'_>> {
        None
    }

    /// Moves to the next message and returns its log time; `None` at the end.
    ///
    /// Implementations that know it without the rest of the message are faster.
    fn next_time_ns(&mut self) -> Result<Option<i64>> {
        let message = self.next_message()?;
        Ok(message.map(|message| message.log_time_ns))
    }

    /// Moves to the next message and returns it; `None` at the end.
    fn next_message(&mut self) -> Result<Option<Message<'_>>> {
        Ok(if self.advance()? {
            self.message()
        } else {
            None
        })
    }
}
