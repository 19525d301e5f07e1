//! The one account of a topic: what was recorded and what was lost, and where.

use serde::Serialize;

/// Where inside the recorder a message was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LossCause {
    /// The queue between receiving and writing was full.
    Queue,
    /// The message could not be compressed.
    Compression,
    /// The storage did not take it.
    Storage,
}

/// Messages lost inside the recorder, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RecorderLoss {
    /// Lost in the queue.
    pub queue: u64,
    /// Lost in compression.
    pub compression: u64,
    /// Lost in the storage.
    pub storage: u64,
}

impl RecorderLoss {
    /// All causes together.
    pub fn total(&self) -> u64 {
        self.queue
            .saturating_add(self.compression)
            .saturating_add(self.storage)
    }

    /// Adds `count` messages lost by `cause`.
    pub fn add(&mut self, cause: LossCause, count: u64) {
        let slot = match cause {
            LossCause::Queue => &mut self.queue,
            LossCause::Compression => &mut self.compression,
            LossCause::Storage => &mut self.storage,
        };
        *slot = slot.saturating_add(count);
    }
}

/// What may have been published and was never seen: nobody can say how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct UnknownMessages {
    /// At most this many before the first one seen of each publisher: sent before it was subscribed to, or lost.
    pub before_first: u64,
    /// Publishers of which nobody says whether something came after the last one seen.
    pub open_publishers: u64,
}

impl UnknownMessages {
    /// Whether all is known.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// What is unknown, in words; nothing when all is known.
    pub fn sentences(&self) -> Vec<String> {
        let counted = |count: u64, noun: &str| match count {
            1 => format!("1 {noun}"),
            count => format!("{count} {noun}s"),
        };
        let mut sentences = Vec::new();
        if self.before_first > 0 {
            sentences.push(format!(
                "up to {} before the first one seen of a publisher, sent before it was subscribed to or lost",
                counted(self.before_first, "message")
            ));
        }
        if self.open_publishers > 0 {
            sentences.push(format!(
                "whether {} sent something after the last message seen",
                counted(self.open_publishers, "publisher")
            ));
        }
        sentences
    }

    /// Adds another stretch.
    pub fn merge(&mut self, other: &Self) {
        self.before_first = self.before_first.saturating_add(other.before_first);
        self.open_publishers = self.open_publishers.saturating_add(other.open_publishers);
    }
}

/// The account of one topic over some stretch: one file, one bag, several bags.
///
/// The law: published = recorded + lost in transport + lost in recorder.
/// [`merge`](Self::merge) is associative and commutative and keeps the law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TopicStatistics {
    /// Messages in the bag.
    pub messages_recorded: u64,
    /// Messages that never reached the recorder.
    pub messages_lost_in_transport: u64,
    /// Messages that reached the recorder and are not in the bag.
    pub lost_in_recorder: RecorderLoss,
    /// What the recorder could not know; it is in none of the other counts.
    pub unknown: UnknownMessages,
    /// Payload bytes in the bag.
    pub bytes_written: u64,
    /// Log time of the earliest recorded message.
    pub first_time_ns: Option<i64>,
    /// Log time of the latest recorded message.
    pub last_time_ns: Option<i64>,
}

impl TopicStatistics {
    /// Messages that were published as far as this account knows: recorded and lost together.
    pub fn messages_published(&self) -> u64 {
        self.messages_recorded.saturating_add(self.messages_lost())
    }

    /// Messages lost inside the recorder, all causes.
    pub fn messages_lost_in_recorder(&self) -> u64 {
        self.lost_in_recorder.total()
    }

    /// Messages lost anywhere.
    pub fn messages_lost(&self) -> u64 {
        self.messages_lost_in_transport
            .saturating_add(self.messages_lost_in_recorder())
    }

    /// Average rate in Hz between the first and the last recorded message; 0 when fewer than two instants are known.
    pub fn messages_rate(&self) -> f64 {
        let (Some(first), Some(last)) = (self.first_time_ns, self.last_time_ns) else {
            return 0.0;
        };
        let span = last.saturating_sub(first);
        if span <= 0 || self.messages_recorded < 2 {
            return 0.0;
        }
        (self.messages_recorded - 1) as f64 / (span as f64 / 1e9)
    }

    /// Counts one recorded message.
    pub fn record(&mut self, log_time_ns: i64, bytes: u64) {
        self.messages_recorded = self.messages_recorded.saturating_add(1);
        self.bytes_written = self.bytes_written.saturating_add(bytes);
        self.first_time_ns = Some(
            self.first_time_ns
                .map_or(log_time_ns, |t| t.min(log_time_ns)),
        );
        self.last_time_ns = Some(
            self.last_time_ns
                .map_or(log_time_ns, |t| t.max(log_time_ns)),
        );
    }

    /// Adds another stretch of the same topic to this one.
    pub fn merge(&mut self, other: &Self) {
        self.messages_recorded = self
            .messages_recorded
            .saturating_add(other.messages_recorded);
        self.messages_lost_in_transport = self
            .messages_lost_in_transport
            .saturating_add(other.messages_lost_in_transport);
        self.lost_in_recorder
            .add(LossCause::Queue, other.lost_in_recorder.queue);
        self.lost_in_recorder
            .add(LossCause::Compression, other.lost_in_recorder.compression);
        self.lost_in_recorder
            .add(LossCause::Storage, other.lost_in_recorder.storage);
        self.unknown.merge(&other.unknown);
        self.bytes_written = self.bytes_written.saturating_add(other.bytes_written);
        self.first_time_ns = pick(self.first_time_ns, other.first_time_ns, i64::min);
        self.last_time_ns = pick(self.last_time_ns, other.last_time_ns, i64::max);
    }
}

fn pick(a: Option<i64>, b: Option<i64>, choose: fn(i64, i64) -> i64) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(choose(a, b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn account() -> impl Strategy<Value = TopicStatistics> {
        let n = 0u64..1 << 40;
        let time = proptest::option::of(-1_000_000_000i64..1_000_000_000);
        (
            n.clone(),
            n.clone(),
            n.clone(),
            n.clone(),
            (n.clone(), n.clone()),
            n,
            time.clone(),
            time,
        )
            .prop_map(
                |(
                    recorded,
                    transport,
                    queue,
                    compression,
                    (storage, unknown),
                    bytes,
                    first,
                    last,
                )| {
                    TopicStatistics {
                        messages_recorded: recorded,
                        messages_lost_in_transport: transport,
                        lost_in_recorder: RecorderLoss {
                            queue,
                            compression,
                            storage,
                        },
                        unknown: UnknownMessages {
                            before_first: unknown,
                            open_publishers: unknown / 2,
                        },
                        bytes_written: bytes,
                        first_time_ns: first,
                        last_time_ns: last,
                    }
                },
            )
    }

    fn merged(a: TopicStatistics, b: &TopicStatistics) -> TopicStatistics {
        let mut sum = a;
        sum.merge(b);
        sum
    }

    proptest! {
        #[test]
        fn merge_is_associative_and_commutative(a in account(), b in account(), c in account()) {
            prop_assert_eq!(merged(merged(a, &b), &c), merged(a, &merged(b, &c)));
            prop_assert_eq!(merged(a, &b), merged(b, &a));
            prop_assert_eq!(merged(a, &TopicStatistics::default()), a);
        }

        #[test]
        fn merge_keeps_the_conservation_law(a in account(), b in account()) {
            let sum = merged(a, &b);
            prop_assert_eq!(sum.messages_published(), a.messages_published() + b.messages_published());
            prop_assert_eq!(
                sum.messages_published(),
                sum.messages_recorded + sum.messages_lost_in_transport + sum.messages_lost_in_recorder()
            );
        }
    }

    #[test]
    fn the_rate_is_intervals_per_second() {
        let mut account = TopicStatistics::default();
        assert!(account.messages_rate().abs() < f64::EPSILON);
        for k in 0..5 {
            account.record(k * 250_000_000, 10);
        }
        assert!((account.messages_rate() - 4.0).abs() < 1e-9);
        assert_eq!(
            (
                account.bytes_written,
                account.first_time_ns,
                account.last_time_ns
            ),
            (50, Some(0), Some(1_000_000_000))
        );
    }
}
