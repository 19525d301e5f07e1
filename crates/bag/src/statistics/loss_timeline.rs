//! The times at which messages of a topic were lost or left out, in bounded memory.

use std::fmt::Write as _;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::MissingCause;
use crate::bag::TimeMap;

const SECOND: i64 = 1_000_000_000;

/// The number of missing messages of a topic, per interval of time and cause.
///
/// Intervals are one second wide at first. More than [`MAX_ENTRIES`](Self::MAX_ENTRIES) entries double the width until
/// they fit, so that the memory is bounded. [`merge`](Self::merge) is associative and commutative.
///
/// ```
/// use timeloom_bag::{LossTimeline, MissingCause};
///
/// let cause = MissingCause::Transport;
/// let mut timeline = LossTimeline::default();
/// timeline.add(1_500_000_000, cause, 3);
/// timeline.add(1_900_000_000, cause, 1);
/// let interval = timeline.intervals().next().expect("messages were lost");
/// assert_eq!((interval.start_ns, interval.end_ns, interval.messages), (1_000_000_000, 2_000_000_000, 4));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LossTimeline {
    /// An interval has `1 << doublings` seconds.
    doublings: u32,
    /// Sorted by interval, then cause.
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    /// Seconds since the epoch, divided by the width.
    interval: i64,
    cause: MissingCause,
    messages: u64,
}

/// Messages that went missing within an interval by one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct LossInterval {
    /// Begin of the interval, in log time.
    pub start_ns: i64,
    /// Its end; not part of it.
    pub end_ns: i64,
    /// The cause.
    pub cause: MissingCause,
    /// Number of messages.
    pub messages: u64,
}

impl LossTimeline {
    /// The most entries that a timeline has.
    pub const MAX_ENTRIES: usize = 256;
    /// With this many doublings the whole of time is two intervals.
    const MAX_DOUBLINGS: u32 = 40;

    /// Whether nothing went missing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.doublings = 0;
        self.entries.clear();
    }

    /// Width of an interval in seconds.
    pub fn interval_seconds(&self) -> i64 {
        1 << self.doublings
    }

    /// Adds messages that went missing at a log time.
    pub fn add(&mut self, when_ns: i64, cause: MissingCause, messages: u64) {
        if messages > 0 {
            self.put(
                when_ns.div_euclid(SECOND) >> self.doublings,
                cause,
                messages,
            );
            self.fit();
        }
    }

    /// Takes back messages that were counted as missing, the latest first; returns their number.
    pub fn take_back(&mut self, cause: MissingCause, messages: u64) -> u64 {
        let mut left = messages;
        for entry in self.entries.iter_mut().rev() {
            if entry.cause == cause {
                let back = entry.messages.min(left);
                entry.messages -= back;
                left -= back;
            }
        }
        self.entries.retain(|entry| entry.messages > 0);
        messages - left
    }

    /// Adds another timeline of the same topic.
    pub fn merge(&mut self, other: &Self) {
        self.widen(other.doublings);
        let shift = self.doublings - other.doublings;
        for entry in &other.entries {
            self.put(entry.interval >> shift, entry.cause, entry.messages);
        }
        self.fit();
    }

    /// The same timeline on another clock: each interval goes where its middle goes.
    #[must_use]
    pub(crate) fn retimed(&self, times: &dyn TimeMap) -> Self {
        let mut moved = Self {
            doublings: self.doublings,
            entries: Vec::new(),
        };
        for interval in self.intervals() {
            let middle = interval.start_ns.midpoint(interval.end_ns);
            moved.add(times.map(middle), interval.cause, interval.messages);
        }
        moved
    }

    /// Messages that went missing by a cause.
    pub fn total(&self, cause: MissingCause) -> u64 {
        let of_cause = self.entries.iter().filter(|entry| entry.cause == cause);
        of_cause.fold(0, |sum: u64, entry| sum.saturating_add(entry.messages))
    }

    /// The intervals in the order of time.
    pub fn intervals(&self) -> impl Iterator<Item = LossInterval> {
        let width = self.interval_seconds();
        self.entries.iter().map(move |entry| {
            let start = entry.interval.saturating_mul(width);
            LossInterval {
                start_ns: start.saturating_mul(SECOND),
                end_ns: start.saturating_add(width).saturating_mul(SECOND),
                cause: entry.cause,
                messages: entry.messages,
            }
        })
    }

    /// The part between two log times, both inclusive, and the number of messages in intervals that are only partly
    /// inside.
    pub fn within(&self, start_ns: i64, end_ns: i64) -> (Self, u64) {
        let mut inside = Self {
            doublings: self.doublings,
            entries: Vec::new(),
        };
        let mut unplaced = 0u64;
        for (entry, interval) in self.entries.iter().zip(self.intervals()) {
            if interval.start_ns >= start_ns && interval.end_ns.saturating_sub(1) <= end_ns {
                inside.entries.push(*entry);
            } else if interval.end_ns > start_ns && interval.start_ns <= end_ns {
                unplaced = unplaced.saturating_add(entry.messages);
            }
        }
        (inside, unplaced)
    }

    /// The timeline for metadata: the width in seconds, then per cause `second x messages` with the second at which
    /// each interval begins.
    pub(crate) fn to_texts(&self) -> Vec<(MissingCause, String)> {
        let mut texts = Vec::new();
        for cause in MissingCause::all() {
            let mut text = String::new();
            for interval in self.intervals().filter(|interval| interval.cause == cause) {
                let space = if text.is_empty() { "" } else { " " };
                let second = interval.start_ns / SECOND;
                // Writing to a string does not fail.
                let _ok = write!(text, "{space}{second}x{}", interval.messages);
            }
            if !text.is_empty() {
                texts.push((cause, text));
            }
        }
        texts
    }

    /// Adds the text of one cause from [`to_texts`](Self::to_texts); `None` if it is malformed.
    pub(crate) fn add_text(&mut self, width: i64, cause: MissingCause, text: &str) -> Option<()> {
        if width < 1 || width.count_ones() != 1 || width.trailing_zeros() > Self::MAX_DOUBLINGS {
            return None;
        }
        self.widen(width.trailing_zeros());
        for word in text.split_ascii_whitespace() {
            let (second, messages) = word.split_once('x')?;
            let second: i64 = second.parse().ok()?;
            self.put(second >> self.doublings, cause, messages.parse().ok()?);
            self.fit();
        }
        Some(())
    }

    fn put(&mut self, interval: i64, cause: MissingCause, messages: u64) {
        // Most losses are close to the one before them.
        if let Some(last) = self.entries.last_mut()
            && (last.interval, last.cause) == (interval, cause)
        {
            last.messages = last.messages.saturating_add(messages);
            return;
        }
        let place = self
            .entries
            .binary_search_by_key(&(interval, cause), |entry| (entry.interval, entry.cause));
        match place {
            Ok(at) => {
                let total = &mut self.entries[at].messages;
                *total = total.saturating_add(messages);
            }
            Err(at) => self.entries.insert(
                at,
                Entry {
                    interval,
                    cause,
                    messages,
                },
            ),
        }
    }

    /// Doubles the width until there are few enough entries.
    fn fit(&mut self) {
        while self.entries.len() > Self::MAX_ENTRIES && self.doublings < Self::MAX_DOUBLINGS {
            self.widen(self.doublings + 1);
        }
    }

    fn widen(&mut self, doublings: u32) {
        if doublings <= self.doublings {
            return;
        }
        let shift = doublings - self.doublings;
        self.doublings = doublings;
        for entry in std::mem::take(&mut self.entries) {
            self.put(entry.interval >> shift, entry.cause, entry.messages);
        }
    }
}

impl Serialize for LossTimeline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut timeline = serializer.serialize_struct("LossTimeline", 2)?;
        timeline.serialize_field("interval_seconds", &self.interval_seconds())?;
        timeline.serialize_field("intervals", &self.intervals().collect::<Vec<_>>())?;
        timeline.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LossCause;
    use proptest::prelude::*;

    fn timeline() -> impl Strategy<Value = LossTimeline> {
        let cause = (0usize..10).prop_map(|at| MissingCause::all().nth(at).unwrap());
        let when = prop_oneof![0i64..100_000 * SECOND, any::<i64>()];
        proptest::collection::vec((when, cause, 1u64..1000), 0..400).prop_map(|losses| {
            let mut timeline = LossTimeline::default();
            for (when, cause, messages) in losses {
                timeline.add(when, cause, messages);
            }
            timeline
        })
    }

    fn merged(a: &LossTimeline, b: &LossTimeline) -> LossTimeline {
        let mut sum = a.clone();
        sum.merge(b);
        sum
    }

    proptest! {
        #[test]
        fn merge_is_associative_and_commutative_and_keeps_every_message(
            a in timeline(), b in timeline(), c in timeline()
        ) {
            let all = merged(&merged(&a, &b), &c);
            prop_assert_eq!(&all, &merged(&a, &merged(&b, &c)));
            prop_assert_eq!(merged(&a, &b), merged(&b, &a));
            prop_assert!(all.entries.len() <= LossTimeline::MAX_ENTRIES);
            for cause in MissingCause::all() {
                let sum = a.total(cause) + b.total(cause) + c.total(cause);
                prop_assert_eq!(all.total(cause), sum);
            }
        }

        #[test]
        fn the_text_reads_back(timeline in timeline()) {
            let mut back = LossTimeline::default();
            for (cause, text) in timeline.to_texts() {
                back.add_text(timeline.interval_seconds(), cause, &text).unwrap();
            }
            prop_assert_eq!(back, timeline);
        }

        #[test]
        fn a_part_and_its_uncertain_edges_never_miss_a_message(
            timeline in timeline(), start in 0i64..100_000 * SECOND, length in 0i64..100_000 * SECOND
        ) {
            let (inside, unplaced) = timeline.within(start, start + length);
            let sum: u64 = inside.intervals().map(|interval| interval.messages).sum();
            let touching: u64 = timeline
                .intervals()
                .filter(|i| i.end_ns > start && i.start_ns <= start + length)
                .map(|i| i.messages)
                .sum();
            prop_assert_eq!(sum + unplaced, touching);
        }
    }

    #[test]
    fn an_hour_of_steady_losses_stays_small() {
        let mut timeline = LossTimeline::default();
        for second in 0..3600 {
            timeline.add(second * SECOND, MissingCause::Transport, 3);
            timeline.add(second * SECOND, MissingCause::Recorder(LossCause::Queue), 1);
        }
        assert!(timeline.entries.len() <= LossTimeline::MAX_ENTRIES);
        assert_eq!(timeline.interval_seconds(), 32);
        assert_eq!(timeline.total(MissingCause::Transport), 3 * 3600);
        assert_eq!(timeline.take_back(MissingCause::Transport, 100), 100);
        assert_eq!(timeline.total(MissingCause::Transport), 3 * 3600 - 100);
        assert_eq!(
            timeline.intervals().next().unwrap(),
            LossInterval {
                start_ns: 0,
                end_ns: 32 * SECOND,
                cause: MissingCause::Transport,
                messages: 96
            }
        );
    }

    #[test]
    fn malformed_texts_are_refused() {
        for (width, text) in [
            (0, ""),
            (3, ""),
            (1, "5"),
            (1, "5x"),
            (1, "x5"),
            (1, "5x-1"),
        ] {
            let mut timeline = LossTimeline::default();
            assert_eq!(
                timeline.add_text(width, MissingCause::Transport, text),
                None
            );
        }
    }
}
