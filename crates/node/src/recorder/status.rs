use std::path::PathBuf;

use timeloom_bag::TopicStatistics;
use timeloom_time::Duration;

/// What a recorder does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It records what comes.
    Recording,
    /// It leaves out what comes.
    Paused,
    /// The bag is closed.
    Stopped,
}

/// What a recorder does and has done, at one moment.
#[derive(Clone, Debug)]
pub struct Status {
    /// What it does.
    pub phase: Phase,
    /// Where the bag is.
    pub directory: PathBuf,
    /// How many files it has, the open one included.
    pub files: usize,
    /// How long it has been recording, pauses included.
    pub elapsed: Duration,
    /// Bytes between receiving and writing.
    pub queue_bytes: usize,
    /// How many may be there.
    pub queue_limit: usize,
    /// Whether new topics are looked for.
    pub discovery: bool,
    /// The topics in the order in which they were found.
    pub topics: Vec<TopicStatus>,
}

/// One topic of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicStatus {
    /// Its name.
    pub name: String,
    /// Its type.
    pub type_name: String,
    /// The account: recorded, lost in transport, lost in the recorder, left out on purpose, and what is not known.
    pub statistics: TopicStatistics,
    /// Copies of latched messages that were written again into a new file or a snapshot; they are among the recorded.
    pub repeated: u64,
    /// Received and not yet written.
    pub in_flight: u64,
}

impl Status {
    /// All topics in one account.
    pub fn total(&self) -> TopicStatistics {
        let mut total = TopicStatistics::default();
        for topic in &self.topics {
            total.merge(&topic.statistics);
        }
        total
    }
}
