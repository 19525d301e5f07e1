use std::collections::{BTreeMap, VecDeque};

use super::queued_message::QueuedMessage;

/// The newest messages for the next snapshot, limited in bytes and in time.
///
/// The last overwritten messages of latched topics are kept aside, so that a snapshot has its transforms and maps.
#[derive(Debug)]
pub(super) struct Ring {
    messages: VecDeque<QueuedMessage>,
    bytes: usize,
    max_bytes: usize,
    max_span_ns: i64,
    /// The last overwritten messages of latched topics.
    kept: BTreeMap<u32, Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    depth: usize,
    messages: VecDeque<QueuedMessage>,
}

/// Why a message left the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eviction {
    /// It is older than the span of the ring.
    Age,
    /// A newer one needed its bytes.
    Room,
}

/// The messages of a snapshot.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    /// Copies of latched messages, with the log time of the first of the others.
    pub(super) repeated: Vec<QueuedMessage>,
    /// The content of the ring, oldest first.
    pub(super) messages: VecDeque<QueuedMessage>,
}

impl Ring {
    pub(super) fn new(max_bytes: usize, max_span_ns: i64) -> Self {
        Self {
            messages: VecDeque::new(),
            bytes: 0,
            max_bytes,
            max_span_ns,
            kept: BTreeMap::new(),
        }
    }

    /// Keeps the last overwritten messages of a topic.
    pub(super) fn repeat(&mut self, topic: u32, depth: usize) {
        self.kept.entry(topic).or_default().depth = depth;
    }

    /// Adds a message while `elsewhere` bytes are in use outside; calls `evicted` for each that it replaces.
    pub(super) fn push(
        &mut self,
        message: QueuedMessage,
        elsewhere: usize,
        mut evicted: impl FnMut(&QueuedMessage, Eviction),
    ) {
        let newest = message.log_time_ns;
        self.bytes += message.cost();
        self.messages.push_back(message);
        let room = self.max_bytes.saturating_sub(elsewhere);
        while let Some(oldest) = self.messages.front() {
            let span = newest.saturating_sub(oldest.log_time_ns);
            let why = match self.max_span_ns {
                most if most > 0 && span > most => Eviction::Age,
                _ if self.bytes > room => Eviction::Room,
                _ => break,
            };
            self.evict(why, &mut evicted);
        }
    }

    /// Removes the oldest messages until the rest has so many bytes.
    pub(super) fn shrink(
        &mut self,
        room: usize,
        mut evicted: impl FnMut(&QueuedMessage, Eviction),
    ) {
        while self.bytes > room {
            self.evict(Eviction::Room, &mut evicted);
        }
    }

    fn evict(&mut self, why: Eviction, evicted: &mut impl FnMut(&QueuedMessage, Eviction)) {
        if let Some(gone) = self.messages.pop_front() {
            self.bytes -= gone.cost();
            evicted(&gone, why);
            self.keep(&gone);
        }
    }

    /// The log time of the oldest message.
    pub(super) fn oldest_ns(&self) -> Option<i64> {
        self.messages.front().map(|message| message.log_time_ns)
    }

    /// Remembers a message for copies, if its topic is latched.
    pub(super) fn keep(&mut self, message: &QueuedMessage) {
        if let Some(kept) = self.kept.get_mut(&message.topic) {
            kept.messages.push_back(message.clone());
            while kept.messages.len() > kept.depth {
                kept.messages.pop_front();
            }
        }
    }

    /// Takes out the messages of a span of time, its ends included; the others stay.
    pub(super) fn take_span(&mut self, begin_ns: i64, end_ns: i64) -> VecDeque<QueuedMessage> {
        let wanted = |message: &QueuedMessage| {
            begin_ns <= message.log_time_ns && message.log_time_ns <= end_ns
        };
        let all = std::mem::take(&mut self.messages);
        let (taken, rest): (VecDeque<_>, VecDeque<_>) = all.into_iter().partition(wanted);
        self.messages = rest;
        self.bytes = self.messages.iter().map(QueuedMessage::cost).sum();
        for message in &taken {
            self.keep(message);
        }
        taken
    }

    /// Copies of the last messages of latched topics before a span of time, with the log time of the first message in
    /// it, or with that time if it is empty.
    pub(super) fn copies(&self, begin_ns: i64, empty_ns: i64) -> Vec<QueuedMessage> {
        let mut times = self.messages.iter().map(|message| message.log_time_ns);
        let first = times.find(|time| *time >= begin_ns).unwrap_or(empty_ns);
        let mut copies = Vec::new();
        for (topic, kept) in &self.kept {
            let older = self
                .messages
                .iter()
                .filter(|message| message.topic == *topic && message.log_time_ns < begin_ns);
            let all: Vec<_> = kept.messages.iter().chain(older).collect();
            let last = all.len().saturating_sub(kept.depth);
            copies.extend(all.into_iter().skip(last).map(|message| QueuedMessage {
                log_time_ns: first,
                is_copy: true,
                ..message.clone()
            }));
        }
        copies
    }

    /// Takes all messages out.
    pub(super) fn take(&mut self) -> Snapshot {
        self.bytes = 0;
        let messages = std::mem::take(&mut self.messages);
        let first = messages.front().map(|message| message.log_time_ns);
        let repeated = self.kept.values().flat_map(|kept| {
            kept.messages.iter().map(|message| QueuedMessage {
                log_time_ns: first.unwrap_or(message.log_time_ns),
                is_copy: true,
                ..message.clone()
            })
        });
        let repeated = repeated.collect();
        // The next snapshot repeats what this one had.
        for message in &messages {
            self.keep(message);
        }
        Snapshot { repeated, messages }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn message(topic: u32, number: u32) -> QueuedMessage {
        let payload = Bytes::from_static(&[0; 4]);
        QueuedMessage {
            sequence: number,
            ..QueuedMessage::new(topic, i64::from(number), 0, payload)
        }
    }

    fn fill(ring: &mut Ring, numbers: std::ops::Range<u32>) -> usize {
        let mut overwritten = 0;
        for number in numbers {
            ring.push(message(0, number), 0, |_, _| overwritten += 1);
        }
        overwritten
    }

    fn numbers<'a>(messages: impl IntoIterator<Item = &'a QueuedMessage>) -> Vec<u32> {
        messages
            .into_iter()
            .map(|message| message.sequence)
            .collect()
    }

    #[test]
    fn the_newest_messages_stay_within_bytes_and_time() {
        let cost = message(0, 0).cost();
        let mut ring = Ring::new(cost * 3, 0);
        assert_eq!(fill(&mut ring, 0..10), 7);
        assert_eq!(numbers(&ring.take().messages), [7, 8, 9]);
        assert_eq!(fill(&mut ring, 10..12), 0, "it was emptied");
        ring.push(message(0, 12), cost * 2, |_, _| {});
        assert_eq!(
            numbers(&ring.take().messages),
            [12],
            "bytes in use elsewhere"
        );
        let mut ring = Ring::new(1 << 20, 4);
        fill(&mut ring, 0..10);
        assert_eq!(numbers(&ring.take().messages), [5, 6, 7, 8, 9]);
    }

    #[test]
    fn latched_topics_are_repeated_with_the_time_of_the_first() {
        let cost = message(0, 0).cost();
        let mut ring = Ring::new(cost * 3, 0);
        ring.repeat(7, 1);
        ring.push(message(7, 0), 0, |_, _| {});
        ring.push(message(7, 1), 0, |_, _| {});
        fill(&mut ring, 2..9);
        let snapshot = ring.take();
        assert_eq!(numbers(&snapshot.messages), [6, 7, 8]);
        assert_eq!(numbers(&snapshot.repeated), [1]);
        assert_eq!(snapshot.repeated[0].log_time_ns, 6);
        fill(&mut ring, 9..11);
        assert_eq!(numbers(&ring.take().repeated), [1], "and again");
    }

    #[test]
    fn a_span_is_taken_and_latched_messages_before_it_are_copied() {
        let mut ring = Ring::new(1 << 20, 0);
        ring.repeat(7, 2);
        for number in [0, 1, 2] {
            ring.push(message(7, number), 0, |_, _| {});
        }
        fill(&mut ring, 3..10);
        let copies = ring.copies(5, 99);
        assert_eq!(numbers(&copies), [1, 2]);
        assert!(
            copies
                .iter()
                .all(|copy| copy.is_copy && copy.log_time_ns == 5)
        );
        assert_eq!(numbers(&ring.take_span(5, 8)), [5, 6, 7, 8]);
        assert_eq!(ring.copies(20, 99).last().unwrap().log_time_ns, 99);
        let mut evicted = Vec::new();
        let cost = message(0, 0).cost();
        ring.shrink(cost * 2, |gone, why| evicted.push((gone.sequence, why)));
        let expected = [0, 1, 2, 3].map(|number| (number, Eviction::Room));
        assert_eq!(evicted, expected);
        assert_eq!(numbers(&ring.take_span(i64::MIN, i64::MAX)), [4, 9]);
    }
}
