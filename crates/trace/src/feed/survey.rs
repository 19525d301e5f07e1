use std::collections::BTreeSet;

use crate::tag::AnyTag;

/// Tags that differ more from their log time are in simulated time.
const SIM_TIME: u64 = 60_000_000_000;
/// Tags whose time is checked.
const ASKED: usize = 1000;

/// A first pass over all tags of a bag, before messages are read.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Number of tags.
    pub(super) tags: u64,
    /// The topics in tags, outputs and inputs.
    pub(super) named: BTreeSet<String>,
    /// The topics that have tags.
    pub(super) tagged: BTreeSet<String>,
    /// Differences between the time in the tag and the log time.
    distances: Vec<u64>,
}

impl Survey {
    pub(super) fn take(&mut self, payload: &[u8], log_time_ns: i64) {
        let Ok(AnyTag::Full(tag)) = AnyTag::parse(payload) else {
            return;
        };
        self.tags += 1;
        if !self.tagged.contains(tag.topic) {
            self.tagged.insert(tag.topic.to_owned());
        }
        for name in std::iter::once(tag.topic).chain(tag.inputs().map(|input| input.topic)) {
            if !self.named.contains(name) {
                self.named.insert(name.to_owned());
            }
        }
        if self.distances.len() < ASKED {
            let distance = tag.published.ros.nanos().abs_diff(log_time_ns);
            self.distances.push(distance);
        }
    }

    /// Whether the tags carry simulated time.
    pub(super) fn is_sim_time(&self) -> bool {
        let mut distances = self.distances.clone();
        distances.sort_unstable();
        let middle = distances.get(distances.len() / 2).copied().unwrap_or(0);
        middle > SIM_TIME
    }
}
