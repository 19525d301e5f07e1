use timeloom_time::Duration;

use super::clocks::ClockDomain;
use super::deadline::Deadline;

/// What an engine looks at, and how much it remembers.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The topics at which paths end; empty means all that nothing else is made of.
    pub targets: Vec<String>,
    /// Topics that count as sources although something is upstream of them: paths begin there.
    pub sources: Vec<String>,
    /// Topics that paths do not go through: TILDE's `stops`. Loops need none.
    pub stops: Vec<String>,
    /// Topics to leave out.
    pub ignored: Vec<String>,
    /// How long a message is remembered after it was last used.
    pub keep: Duration,
    /// How many messages are remembered at most.
    pub messages: usize,
    /// How many paths to one target have statistics of their own.
    pub paths: usize,
    /// What must be in time.
    pub deadlines: Vec<Deadline>,
    /// Hosts whose clocks are known to differ.
    pub domains: Vec<ClockDomain>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            sources: Vec::new(),
            stops: Vec::new(),
            ignored: Vec::new(),
            keep: Duration::from_secs(10),
            messages: 200_000,
            paths: 256,
            deadlines: Vec::new(),
            domains: Vec::new(),
        }
    }
}

/// What a recorder says it lost of one topic of tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecorderLoss {
    /// Messages that never reached the recorder.
    pub in_transport: u64,
    /// Messages that reached it and are not in the bag.
    pub in_recorder: u64,
}

impl RecorderLoss {
    pub(super) fn add(&mut self, other: Self) {
        self.in_transport = self.in_transport.saturating_add(other.in_transport);
        self.in_recorder = self.in_recorder.saturating_add(other.in_recorder);
    }
}
