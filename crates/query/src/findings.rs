//! Parts of the bags that could not be read, reported after every query.

use std::collections::{BTreeMap, BTreeSet};

use timeloom_time::sync::{Mutex, MutexGuard, lock};

/// The parts of the bags that a query could not read, collected while it runs.
#[derive(Debug, Default)]
pub struct Findings {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Bags that are cut off or damaged, known when they were opened.
    opened: Vec<String>,
    /// Stretches that could not be read.
    unread: BTreeSet<String>,
    /// Messages without values, by bag, topic and the first time of the scanned piece.
    undecoded: BTreeMap<Undecoded, (u64, String)>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone)]
pub(crate) struct Undecoded {
    pub(crate) bag: String,
    pub(crate) topic: String,
    pub(crate) from_ns: Option<i64>,
}

impl Findings {
    /// Damage of the bags, in words; each once.
    pub fn damage(&self) -> Vec<String> {
        let state = self.lock();
        state.opened.iter().chain(&state.unread).cloned().collect()
    }

    /// Messages that were read and could not be decoded: bag, topic, how many, and the first reason.
    pub fn undecoded(&self) -> Vec<(String, String, u64, String)> {
        let mut sums: BTreeMap<(String, String), (u64, String)> = BTreeMap::new();
        for (key, (count, reason)) in &self.lock().undecoded {
            let sum = sums
                .entry((key.bag.clone(), key.topic.clone()))
                .or_insert_with(|| (0, reason.clone()));
            sum.0 += count;
        }
        let rows = sums.into_iter();
        rows.map(|((bag, topic), (count, reason))| (bag, topic, count, reason))
            .collect()
    }

    /// Whether everything could be read.
    pub fn is_empty(&self) -> bool {
        let state = self.lock();
        state.opened.is_empty() && state.unread.is_empty() && state.undecoded.is_empty()
    }

    pub(crate) fn add_opened(&self, damage: String) {
        self.lock().opened.push(damage);
    }

    pub(crate) fn add_unread(&self, damage: String) {
        self.lock().unread.insert(damage);
    }

    /// A query may scan a piece twice, as in a join: the messages are the same ones.
    pub(crate) fn add_undecoded(&self, key: Undecoded, count: u64, reason: &str) {
        let mut state = self.lock();
        let known = state
            .undecoded
            .entry(key)
            .or_insert_with(|| (0, reason.to_owned()));
        known.0 = known.0.max(count);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_scan_of_the_same_messages_counts_once() {
        let findings = Findings::default();
        let key = |from_ns| Undecoded {
            bag: "a".into(),
            topic: "/t".into(),
            from_ns,
        };
        findings.add_undecoded(key(None), 3, "short");
        findings.add_undecoded(key(None), 3, "short");
        findings.add_undecoded(key(Some(9)), 2, "short");
        let sums = findings.undecoded();
        assert_eq!(sums, [("a".into(), "/t".into(), 5, "short".into())]);
        assert!(!findings.is_empty());
    }
}
