use timeloom_time::Duration;

use super::clocks::ClockDomain;
use super::deadline::Deadline;
use super::records::RecordKind;

/// Options of an [`Engine`](super::Engine).
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The topics at which paths end; empty means all topics without outputs.
    pub targets: Vec<String>,
    /// Topics that count as sources although they have inputs: paths begin there.
    pub sources: Vec<String>,
    /// Topics that paths do not go through: TILDE's `stops`. Loops need none.
    pub stops: Vec<String>,
    /// Nodes that do not tag and keep stamps, by topic: their output, and its input. TILDE's `skips`: a path continues
    /// from the second, past the first.
    pub skips: Vec<(String, String)>,
    /// Topics to leave out.
    pub ignored: Vec<String>,
    /// Time for which a message is kept after its last use.
    pub keep: Duration,
    /// Limit of the messages in memory.
    pub messages: usize,
    /// Number of paths to one target with their own statistics.
    pub paths: usize,
    /// Parts of paths with their own statistics: from a topic that may have inputs itself to a target. Paths to the
    /// same target still continue to their sources.
    pub segments: Vec<(String, String)>,
    /// The deadlines.
    pub deadlines: Vec<Deadline>,
    /// Hosts whose clocks are known to differ.
    pub domains: Vec<ClockDomain>,
    /// The single links or flows that are kept until they are taken.
    pub records: RecordKind,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            sources: Vec::new(),
            stops: Vec::new(),
            skips: Vec::new(),
            ignored: Vec::new(),
            keep: Duration::from_secs(10),
            messages: 200_000,
            paths: 256,
            segments: Vec::new(),
            deadlines: Vec::new(),
            domains: Vec::new(),
            records: RecordKind::None,
        }
    }
}

/// The counts of a recorder for one topic; the sum is the number of published messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecorderAccount {
    /// Messages in the bag.
    pub recorded: u64,
    /// Messages that never reached the recorder.
    pub in_transport: u64,
    /// Messages that reached it and are not in the bag.
    pub in_recorder: u64,
}

/// The subject of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccountOf {
    /// The messages of a main topic.
    Messages,
    /// Their tags.
    Tags,
}

/// The part of a recording that is analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountScope {
    /// All of it: the account is the number of published messages.
    Whole,
    /// A part: the account explains gaps only, because it has no times of losses.
    Part,
}

impl RecorderAccount {
    /// All published messages.
    pub fn published(&self) -> u64 {
        self.recorded
            .saturating_add(self.in_transport)
            .saturating_add(self.in_recorder)
    }
}
