//! Messages that several recorders have: their receive times differ by the offset of the clocks and by their paths.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use timeloom_bag::Message;

/// Messages that are remembered; with more, every second one is left out.
const MOST: usize = 1 << 19;
/// Bytes of a payload that it is known by, with its length: a header with its stamp is among them.
const KNOWN_BY: usize = 512;
/// The width of a stretch whose middle difference is taken, in nanoseconds.
const STRETCH: i64 = 10_000_000_000;
/// Differences that are kept of a stretch.
const MOST_OF_STRETCH: usize = 65;

/// The first copy of a message.
#[derive(Debug, Clone, Copy)]
struct First {
    bag: usize,
    log_time_ns: i64,
    /// Whether a bag has it twice: then it is not known which copies belong together.
    is_ambiguous: bool,
}

/// Differences of receive times, by pair of bags.
#[derive(Debug, Default)]
pub(crate) struct MessagePairs {
    first: HashMap<u64, First>,
    mask: u64,
    /// By the two bags and the stretch of time: when, and how much later by the clock of the second bag.
    differences: BTreeMap<(usize, usize, i64), Vec<(i64, i64)>>,
}

impl MessagePairs {
    /// Takes a message of a topic that several bags have.
    pub(crate) fn take(&mut self, bag: usize, topic: &str, message: &Message<'_>) {
        let key = key(topic, message, KNOWN_BY);
        if key & self.mask != 0 {
            return;
        }
        let copy = First {
            bag,
            log_time_ns: message.log_time_ns,
            is_ambiguous: false,
        };
        let Some(first) = self.first.get_mut(&key) else {
            self.first.insert(key, copy);
            if self.first.len() > MOST {
                self.mask = self.mask << 1 | 1;
                let mask = self.mask;
                self.first.retain(|key, _| key & mask == 0);
            }
            return;
        };
        first.is_ambiguous |= first.bag == bag;
        if !first.is_ambiguous {
            let first = *first;
            let (early, late) = if first.bag < bag {
                (first, copy)
            } else {
                (copy, first)
            };
            let by = late.log_time_ns.saturating_sub(early.log_time_ns);
            let stretch = early.log_time_ns.div_euclid(STRETCH);
            let kept = self.differences.entry((early.bag, late.bag, stretch));
            let kept = kept.or_default();
            if kept.len() < MOST_OF_STRETCH {
                kept.push((early.log_time_ns, by));
            }
        }
    }

    /// For each pair of bags: times of the second one, and what to add to them to get those of the first.
    pub(crate) fn offsets(&self) -> BTreeMap<(usize, usize), Vec<(i64, i64)>> {
        let mut offsets: BTreeMap<(usize, usize), Vec<(i64, i64)>> = BTreeMap::new();
        for ((early, late, _), differences) in &self.differences {
            let mut sorted = differences.clone();
            sorted.sort_unstable_by_key(|(_, by)| *by);
            if let Some((at, by)) = sorted.get(sorted.len() / 2) {
                let knots = offsets.entry((*early, *late)).or_default();
                knots.push((at.saturating_add(*by), by.saturating_neg()));
            }
        }
        for knots in offsets.values_mut() {
            knots.sort_unstable();
        }
        offsets
    }
}

/// The key of a message: its topic, its payload, and its publish time if it has one.
pub(crate) fn key(topic: &str, message: &Message<'_>, bytes: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    topic.hash(&mut hasher);
    if message.publish_time_ns != message.log_time_ns {
        message.publish_time_ns.hash(&mut hasher);
    }
    message.data.len().hash(&mut hasher);
    message
        .data
        .get(..bytes)
        .unwrap_or(message.data)
        .hash(&mut hasher);
    hasher.finish()
}
