use super::clocks::Elapsed;
use super::flow::Flow;
use super::histogram::Histogram;

/// The statistics of one path: a sequence of topics from a source to a target.
#[derive(Debug, Default)]
pub(super) struct Path {
    pub(super) topics: Vec<u32>,
    /// CARET's best case: from a source's message to the first target that is made of it.
    pub(super) best: Histogram,
    /// CARET's worst case: from the oldest message since the one before, dropped on the way or not.
    pub(super) worst: Histogram,
    /// CARET's worst case with the external latency, also the reaction time: from the message before.
    pub(super) reaction: Histogram,
    /// All of a source's messages, each to the first target that is made of it.
    pub(super) all: Histogram,
    /// The age of the data in each target's message.
    pub(super) age: Histogram,
    /// The age of the data when the next target replaces it.
    pub(super) age_at_end: Histogram,
    /// The largest known doubt of a latency between hosts.
    pub(super) bound: u64,
    /// How many latencies are between hosts whose clocks nobody compared.
    pub(super) unbounded: u64,
    /// How many latencies were negative or across a jump.
    pub(super) suspicious: u64,
    pub(super) hops: Vec<HopSums>,
    pub(super) last_source: Option<u64>,
    pub(super) last_target: Option<u64>,
    pub(super) slowest: Option<(u64, Flow)>,
}

/// What one hop of a path took in all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HopSums {
    pub(super) total: u64,
    pub(super) total_count: u64,
    pub(super) count: u64,
    pub(super) transport: u64,
    pub(super) queue: u64,
    pub(super) queue_count: u64,
    pub(super) node: u64,
}

impl Path {
    pub(super) fn new(topics: Vec<u32>) -> Self {
        Self {
            hops: vec![HopSums::default(); topics.len().saturating_sub(1)],
            topics,
            ..Self::default()
        }
    }

    /// Notes how well a latency is known.
    pub(super) fn doubt(&mut self, elapsed: Elapsed) {
        match elapsed.bound {
            Some(bound) => self.bound = self.bound.max(bound),
            None => self.unbounded += 1,
        }
    }
}
