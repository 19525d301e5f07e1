use std::collections::BTreeSet;

use crate::tag::AnyTag;

/// Tags that are this far from when they were recorded do not show the time of the machine.
const SIM_TIME: u64 = 60_000_000_000;
/// So many tags are asked for their time.
const ASKED: usize = 1000;

/// What the tags of a recording say all together, to be known before the first message is read.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// How many tags there are.
    pub(super) tags: u64,
    /// The topics that tags name, outputs and inputs.
    pub(super) named: BTreeSet<String>,
    /// The topics that have tags.
    pub(super) tagged: BTreeSet<String>,
    /// How far the first tags are from when they were recorded.
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
