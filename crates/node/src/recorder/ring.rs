use std::collections::{BTreeMap, VecDeque};

use super::entry::Entry;

/// The newest messages, up to a number of bytes and a span of time, until somebody asks for a snapshot.
///
/// Of the topics that are to be repeated, the last messages that fell out are kept aside, so that a snapshot has its
/// transforms and maps.
#[derive(Debug)]
pub(super) struct Ring {
    entries: VecDeque<Entry>,
    bytes: usize,
    max_bytes: usize,
    max_span_ns: i64,
    /// What fell out, by topic, with how many of each are kept.
    kept: BTreeMap<u32, Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    depth: usize,
    entries: VecDeque<Entry>,
}

/// What is written for a snapshot.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    /// Repeated messages, stamped with the time of the first of the others.
    pub(super) repeated: Vec<Entry>,
    /// The content of the ring, oldest first.
    pub(super) entries: VecDeque<Entry>,
}

impl Ring {
    pub(super) fn new(max_bytes: usize, max_span_ns: i64) -> Self {
        Self {
            entries: VecDeque::new(),
            bytes: 0,
            max_bytes,
            max_span_ns,
            kept: BTreeMap::new(),
        }
    }

    /// Keeps the last messages of a topic aside when they fall out.
    pub(super) fn repeat(&mut self, topic: u32, depth: usize) {
        self.kept.entry(topic).or_default().depth = depth;
    }

    /// Puts a message in while `elsewhere` bytes are in use outside; calls `fallen` for each that falls out.
    pub(super) fn push(&mut self, entry: Entry, elsewhere: usize, mut fallen: impl FnMut(&Entry)) {
        let newest = entry.log_time_ns;
        self.bytes += entry.cost();
        self.entries.push_back(entry);
        let room = self.max_bytes.saturating_sub(elsewhere);
        while let Some(oldest) = self.entries.front() {
            let span = newest.saturating_sub(oldest.log_time_ns);
            let old = self.max_span_ns > 0 && span > self.max_span_ns;
            if self.bytes <= room && !old {
                break;
            }
            if let Some(gone) = self.entries.pop_front() {
                self.bytes -= gone.cost();
                fallen(&gone);
                self.keep(gone);
            }
        }
    }

    fn keep(&mut self, entry: Entry) {
        if let Some(kept) = self.kept.get_mut(&entry.topic) {
            kept.entries.push_back(entry);
            while kept.entries.len() > kept.depth {
                kept.entries.pop_front();
            }
        }
    }

    /// Takes out what is there.
    pub(super) fn take(&mut self) -> Snapshot {
        self.bytes = 0;
        let entries = std::mem::take(&mut self.entries);
        let first = entries.front().map(|entry| entry.log_time_ns);
        let repeated = self.kept.values().flat_map(|kept| {
            kept.entries.iter().map(|entry| Entry {
                log_time_ns: first.unwrap_or(entry.log_time_ns),
                ..entry.clone()
            })
        });
        let repeated = repeated.collect();
        // The next snapshot repeats what this one had.
        for entry in &entries {
            if let Some(kept) = self.kept.get_mut(&entry.topic) {
                kept.entries.push_back(entry.clone());
                while kept.entries.len() > kept.depth {
                    kept.entries.pop_front();
                }
            }
        }
        Snapshot { repeated, entries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn entry(topic: u32, number: u32) -> Entry {
        Entry {
            topic,
            log_time_ns: i64::from(number),
            publish_time_ns: 0,
            sequence: number,
            payload: Bytes::from_static(&[0; 4]),
        }
    }

    fn fill(ring: &mut Ring, numbers: std::ops::Range<u32>) -> usize {
        let mut fallen = 0;
        for number in numbers {
            ring.push(entry(0, number), 0, |_| fallen += 1);
        }
        fallen
    }

    fn numbers<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<u32> {
        entries.into_iter().map(|entry| entry.sequence).collect()
    }

    #[test]
    fn the_newest_stay_within_bytes_and_span() {
        let cost = entry(0, 0).cost();
        let mut ring = Ring::new(cost * 3, 0);
        assert_eq!(fill(&mut ring, 0..10), 7);
        assert_eq!(numbers(&ring.take().entries), [7, 8, 9]);
        assert_eq!(fill(&mut ring, 10..12), 0, "it was emptied");
        ring.push(entry(0, 12), cost * 2, |_| {});
        assert_eq!(
            numbers(&ring.take().entries),
            [12],
            "bytes in use elsewhere"
        );
        let mut ring = Ring::new(1 << 20, 4);
        fill(&mut ring, 0..10);
        assert_eq!(numbers(&ring.take().entries), [5, 6, 7, 8, 9]);
    }

    #[test]
    fn latched_topics_are_repeated_with_the_time_of_the_first() {
        let cost = entry(0, 0).cost();
        let mut ring = Ring::new(cost * 3, 0);
        ring.repeat(7, 1);
        ring.push(entry(7, 0), 0, |_| {});
        ring.push(entry(7, 1), 0, |_| {});
        fill(&mut ring, 2..9);
        let snapshot = ring.take();
        assert_eq!(numbers(&snapshot.entries), [6, 7, 8]);
        assert_eq!(numbers(&snapshot.repeated), [1]);
        assert_eq!(snapshot.repeated[0].log_time_ns, 6);
        fill(&mut ring, 9..11);
        assert_eq!(numbers(&ring.take().repeated), [1], "and again");
    }
}
