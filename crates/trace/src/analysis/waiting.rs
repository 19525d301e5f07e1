//! Targets with missing inputs.

use std::collections::{HashMap, HashSet};

#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The targets that wait for a message of a topic and stamp.
    by_input: HashMap<u32, HashMap<i64, Vec<u64>>>,
    pending: HashMap<u64, Pending>,
}

/// The state of a target with missing inputs.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// The sources that were found.
    pub(super) sources: Vec<u64>,
    /// The paths that were counted.
    pub(super) paths: HashSet<usize>,
    /// The sources that each deadline was checked for.
    pub(super) checked: HashMap<usize, Vec<u64>>,
}

impl Waiting {
    /// Keeps a target until a message that it lacks arrives.
    pub(super) fn wait(&mut self, target: u64, missing: &[(u32, Option<i64>)], pending: Pending) {
        if missing.is_empty() {
            return;
        }
        for (topic, stamp) in missing {
            if let Some(stamp) = stamp {
                let stamps = self.by_input.entry(*topic).or_default();
                let targets = stamps.entry(*stamp).or_default();
                if targets.last() != Some(&target) {
                    targets.push(target);
                }
            }
        }
        self.pending.insert(target, pending);
    }

    /// Removes and returns the targets that waited for a message.
    pub(super) fn wake(&mut self, topic: u32, stamp: i64) -> Vec<(u64, Pending)> {
        let stamps = self.by_input.get_mut(&topic);
        let targets = stamps.and_then(|stamps| stamps.remove(&stamp));
        let pending = &mut self.pending;
        let targets = targets.into_iter().flatten();
        targets
            .filter_map(|target| Some((target, pending.remove(&target)?)))
            .collect()
    }

    /// The targets that wait for any message of a topic.
    pub(super) fn of_topic(&self, topic: u32) -> impl Iterator<Item = u64> + '_ {
        let stamps = self.by_input.get(&topic).into_iter();
        stamps.flat_map(HashMap::values).flatten().copied()
    }

    /// Removes a target.
    pub(super) fn forget(&mut self, target: u64) {
        self.pending.remove(&target);
    }

    /// Removes the entries of removed targets.
    pub(super) fn sweep(&mut self) {
        let pending = &self.pending;
        self.by_input.retain(|_, stamps| {
            stamps.retain(|_, targets| {
                targets.retain(|target| pending.contains_key(target));
                !targets.is_empty()
            });
            !stamps.is_empty()
        });
    }
}
