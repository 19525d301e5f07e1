//! `metadata.yaml`, the description of a bag, versions 1 to 10.

mod file;
mod known;
pub(crate) mod qos_text;
mod read;
pub(crate) mod saved_account;
mod statistics_yaml;
mod write;

pub use file::{METADATA_FILE, read_metadata_file, write_metadata_file};
pub(crate) use file::{create_afresh, read_metadata, safe_relative_path, sync_directory};
pub(crate) use known::KnownMetadata;

use crate::yaml::Node;
use crate::{LossTimeline, MessageDefinition, TopicAccount, TopicInfo, TopicStatistics};

/// The oldest version that is written.
pub const OLDEST_VERSION: u32 = 4;
/// The newest version that the original rosbag2 writes, in every distribution up to now.
pub const ROSBAG2_VERSION: u32 = 9;
/// The version of the design of the statistics. No rosbag2 writes it, and strict readers refuse it.
pub const STATISTICS_VERSION: u32 = 10;
/// The version that rosbag2 of a distribution writes, and that every later one reads; 9 for an unknown distribution.
pub fn version_of(ros_distro: &str) -> u32 {
    match ros_distro {
        "foxy" | "galactic" => OLDEST_VERSION,
        "humble" => 5,
        "iron" => 7,
        _ => ROSBAG2_VERSION,
    }
}

/// Start time of a bag without messages, as rosbag2 writes it.
pub const NO_START_TIME: i64 = i64::MAX;

/// The description of a bag, of any version; fields that a version lacks are empty.
///
/// ```
/// use timeloom_bag::BagMetadata;
///
/// let text = std::fs::read_to_string("../../testdata/bags/mcap_plain/metadata.yaml")?;
/// let metadata = BagMetadata::parse(&text)?;
/// assert_eq!((metadata.storage_identifier.as_str(), metadata.message_count), ("mcap", 474));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BagMetadata {
    /// Layout version, 1 to 10.
    pub version: u32,
    /// `mcap` or `sqlite3`.
    pub storage_identifier: String,
    /// From the first to the last message.
    pub duration_ns: i64,
    /// Log time of the first message; [`NO_START_TIME`] when there is none.
    pub starting_time_ns: i64,
    /// Messages of all topics.
    pub message_count: u64,
    /// The topics in the order of the file.
    pub topics: Vec<TopicRecord>,
    /// `zstd`, or empty.
    pub compression_format: String,
    /// `FILE`, `MESSAGE`, `NONE` or empty.
    pub compression_mode: String,
    /// The files, relative to the bag (to its parent before version 4).
    pub relative_file_paths: Vec<String>,
    /// One entry per file, since version 5.
    pub files: Vec<FileRecord>,
    /// The user's own keys, since version 6.
    pub custom_data: Vec<(String, String)>,
    /// The distribution that recorded it, since version 8.
    pub ros_distro: String,
    /// Keys that this crate does not know, kept unchanged.
    pub extra: Vec<(String, Node)>,
}

/// A topic in the metadata, with its counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopicRecord {
    /// The topic; its definition is not part of the metadata and stays empty.
    pub topic: TopicInfo,
    /// Messages in the bag.
    pub message_count: u64,
    /// The account of the topic: a key of version 10 that this crate writes for every version.
    pub statistics: Option<TopicStatistics>,
    /// The times at which messages of the topic were lost or left out.
    pub timeline: LossTimeline,
    /// For a file: messages in it that earlier files count as missing. All other counts are 0.
    pub found_again: TopicStatistics,
    /// Keys that this crate does not know.
    pub extra: Vec<(String, Node)>,
}

/// A file of the bag in the metadata.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileRecord {
    /// Path relative to the bag; compressed bags of rosbag2 name the file without `.zstd` here.
    pub path: String,
    /// Log time of its first message.
    pub starting_time_ns: i64,
    /// From its first to its last message.
    pub duration_ns: i64,
    /// Its messages.
    pub message_count: u64,
    /// The account of each topic within this file: a key of version 10 that this crate writes for every version.
    pub topics_statistics: Vec<(String, TopicStatistics)>,
    /// Keys that this crate does not know.
    pub extra: Vec<(String, Node)>,
}

/// The key of a file that is being written.
const OPEN: &str = "open";
/// The key of a bag, or of the metadata inside a file, whose recorder was killed or that lost files.
const INTERRUPTED: &str = "interrupted";

impl FileRecord {
    /// A file that is being written.
    pub(crate) fn open(name: &str) -> Self {
        Self {
            path: name.to_owned(),
            starting_time_ns: NO_START_TIME,
            extra: vec![(OPEN.to_owned(), Node::Plain("true".into()))],
            ..Self::default()
        }
    }

    /// The mark of a file that was closed without a topic: without it, it looks like a file that is being written.
    pub(crate) fn closed_mark() -> (String, Node) {
        (OPEN.to_owned(), Node::Plain("false".into()))
    }

    fn is_open(&self) -> bool {
        self.is_marked("true")
    }

    fn is_closed(&self) -> bool {
        self.is_marked("false")
    }

    fn is_marked(&self, mark: &str) -> bool {
        let marked = |(key, value): &(String, Node)| key == OPEN && value.as_str() == Some(mark);
        self.extra.iter().any(marked)
    }
}

impl TopicRecord {
    /// A topic without messages.
    pub fn new(topic: &TopicInfo) -> Self {
        let topic = TopicInfo {
            definition: MessageDefinition::default(),
            ..topic.clone()
        };
        Self {
            topic,
            ..Self::default()
        }
    }

    /// The account of the topic, if it has one.
    pub fn account(&self) -> Option<TopicAccount> {
        Some(TopicAccount {
            statistics: self.statistics?,
            timeline: self.timeline.clone(),
            found_again: self.found_again,
        })
    }

    /// Takes back messages that earlier files counted as missing and later files found, once all files are merged.
    pub(crate) fn take_back_found(&mut self) {
        let Some(mut account) = self.account() else {
            return;
        };
        account.take_back_found();
        self.statistics = Some(account.statistics);
        self.timeline = account.timeline;
        self.found_again = account.found_again;
    }
}

impl BagMetadata {
    /// Log time of the last message, `None` when there is no message.
    pub fn ending_time_ns(&self) -> Option<i64> {
        (self.starting_time_ns != NO_START_TIME)
            .then(|| self.starting_time_ns.saturating_add(self.duration_ns))
    }

    /// Whether the writer was killed: the last file has no messages yet.
    ///
    /// A file that was closed without messages, as on a full disk, has an account of the lost ones.
    pub fn is_unfinished(&self) -> bool {
        let open = |file: &FileRecord| {
            file.starting_time_ns == NO_START_TIME
                && file.message_count == 0
                && file.topics_statistics.is_empty()
                && !file.is_closed()
        };
        self.is_open() || self.files.last().is_some_and(open)
    }

    /// Whether the writer finished the bag.
    pub(crate) fn is_finished(&self) -> bool {
        !self.files.is_empty() && !self.is_unfinished()
    }

    /// Whether a writer of this crate was killed, or is still writing.
    pub(crate) fn is_open(&self) -> bool {
        self.files.last().is_some_and(FileRecord::is_open)
    }

    /// Whether the recorder was killed, or files of the bag are lost: topics may be missing, too.
    pub fn is_interrupted(&self) -> bool {
        let marked =
            |(key, value): &(String, Node)| key == INTERRUPTED && value.as_str() == Some("true");
        self.extra.iter().any(marked)
    }

    /// Marks the bag as interrupted: the recorder was killed, or files are lost.
    pub(crate) fn set_interrupted(&mut self) {
        if !self.is_interrupted() {
            let mark = (INTERRUPTED.to_owned(), Node::Plain("true".into()));
            self.extra.push(mark);
        }
    }

    /// Whether the messages are compressed one by one.
    pub fn compresses_messages(&self) -> bool {
        self.compression_mode.eq_ignore_ascii_case("message")
    }

    /// Whether whole files are compressed.
    pub fn compresses_files(&self) -> bool {
        self.compression_mode.eq_ignore_ascii_case("file")
    }
}
