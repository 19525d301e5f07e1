use std::path::PathBuf;

use timeloom_bag::{HostClockRecord, TopicStatistics};
use timeloom_time::Duration;

use crate::trigger::TriggerState;

/// The state of a recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It records messages that arrive.
    Recording,
    /// It leaves out messages that arrive.
    Paused,
    /// The bag is closed.
    Stopped,
}

/// The status of a recorder at one moment.
#[derive(Clone, Debug)]
pub struct Status {
    /// The state.
    pub phase: Phase,
    /// The directory of the bag.
    pub directory: PathBuf,
    /// The number of files, including the open one.
    pub files: usize,
    /// The time since the start, including pauses.
    pub elapsed: Duration,
    /// Bytes in the queue between receiving and writing.
    pub queue_bytes: usize,
    /// The limit of the queue.
    pub queue_limit: usize,
    /// The last known state of the host clock; `None` where it is not watched.
    pub host_clock: Option<HostClockRecord>,
    /// Whether discovery of new topics is on.
    pub discovery: bool,
    /// The topics in the order in which they were found.
    pub topics: Vec<TopicStatus>,
    /// With triggers: what they did.
    pub triggers: Option<TriggerStatus>,
}

/// The triggers of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerStatus {
    /// Each trigger.
    pub triggers: Vec<TriggerState>,
    /// The number of windows so far.
    pub windows: u32,
    /// Whether messages go to a window now.
    pub is_open: bool,
}

/// One topic of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicStatus {
    /// Its name.
    pub name: String,
    /// Its type.
    pub type_name: String,
    /// The account: recorded, lost in transport, lost in the recorder, left out and unknown.
    pub statistics: TopicStatistics,
    /// Copies of latched messages at the start of a file or a snapshot; they count as recorded, too.
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
