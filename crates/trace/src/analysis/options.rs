use timeloom_time::Duration;

use super::clocks::ClockDomain;
use super::deadline::Deadline;
use super::records::RecordKind;

/// Options of an [`Engine`](super::Engine).
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The topics at which paths end; empty means all that nothing else is made of.
    pub targets: Vec<String>,
    /// Topics that count as sources although something is upstream of them: paths begin there.
    pub sources: Vec<String>,
    /// Topics that paths do not go through: TILDE's `stops`. Loops need none.
    pub stops: Vec<String>,
    /// Nodes that do not tag and keep stamps, by topic: what they publish, and what that is made of. TILDE's `skips`: a
    /// path goes from the second on, past the first.
    pub skips: Vec<(String, String)>,
    /// Topics to leave out.
    pub ignored: Vec<String>,
    /// How long a message is remembered after it was last used.
    pub keep: Duration,
    /// How many messages are remembered at most.
    pub messages: usize,
    /// How many paths to one target have statistics of their own.
    pub paths: usize,
    /// Parts of paths that have statistics of their own: from a topic that may have inputs itself to a target. Paths to
    /// the same target go on to their sources all the same.
    pub segments: Vec<(String, String)>,
    /// What must be in time.
    pub deadlines: Vec<Deadline>,
    /// Hosts whose clocks are known to differ.
    pub domains: Vec<ClockDomain>,
    /// Which single links or flows are kept until they are taken.
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

/// What an account counts.
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
    /// All that was published.
    pub fn published(&self) -> u64 {
        self.recorded
            .saturating_add(self.in_transport)
            .saturating_add(self.in_recorder)
    }
}
