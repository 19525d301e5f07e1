//! The account of a topic: recorded, missing by cause, and unknown messages.

mod left_out;
mod loss_timeline;
mod missing_cause;
mod recorder_loss;
mod topic_account;
mod unknown;

pub use left_out::{LeftOut, LeftOutCause};
pub use loss_timeline::{LossInterval, LossTimeline};
pub use missing_cause::MissingCause;
pub use recorder_loss::{LossCause, RecorderLoss};
pub use topic_account::TopicAccount;
pub use unknown::UnknownMessages;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// The account of one topic over one file, one bag or several bags.
///
/// The law: published = recorded + lost in transport + lost in recorder + left out + unknown.
/// [`merge`](Self::merge) is associative and commutative and keeps the law.
///
/// ```
/// use timeloom_bag::{LossCause, MissingCause, TopicStatistics};
///
/// let mut account = TopicStatistics::default();
/// account.record(1_000, 80);
/// account.miss(MissingCause::Transport, 2);
/// account.miss(MissingCause::Recorder(LossCause::Queue), 1);
/// assert_eq!(account.messages_published(), 4);
/// assert_eq!(account.messages_lost(), 3);
/// assert_eq!(account.percent_lost(), 75.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TopicStatistics {
    /// Messages in the bag.
    pub messages_recorded: u64,
    /// Messages that never reached the recorder.
    pub messages_lost_in_transport: u64,
    /// Messages that the recorder lost.
    pub lost_in_recorder: RecorderLoss,
    /// Messages that are not in the bag on purpose.
    pub left_out: LeftOut,
    /// Messages that may have been published, in none of the other counts.
    pub unknown: UnknownMessages,
    /// Payload bytes in the bag.
    pub bytes_written: u64,
    /// Log time of the earliest recorded message.
    pub first_time_ns: Option<i64>,
    /// Log time of the latest recorded message.
    pub last_time_ns: Option<i64>,
}

impl TopicStatistics {
    /// The account of a recorder that did not count missing messages.
    pub fn uncounted() -> Self {
        Self {
            unknown: UnknownMessages::UNCOUNTED,
            ..Self::default()
        }
    }

    /// A count of missing messages of this account as far as it is known: `None` for a zero of a recorder that did not count.
    pub fn known(&self, missing: u64) -> Option<u64> {
        (missing > 0 || !self.unknown.uncounted).then_some(missing)
    }

    /// Messages that were published, as far as it is known: recorded, lost and left out together.
    pub fn messages_published(&self) -> u64 {
        self.messages_recorded
            .saturating_add(self.messages_lost())
            .saturating_add(self.messages_left_out())
    }

    /// Messages that were published; `None` if the recorder did not count missing ones.
    pub fn known_published(&self) -> Option<u64> {
        (!self.unknown.uncounted).then(|| self.messages_published())
    }

    /// Messages left out on purpose, all causes.
    pub fn messages_left_out(&self) -> u64 {
        self.left_out.total()
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

    /// The share of the published messages that was lost, in percent; 0 when none was published.
    pub fn percent_lost(&self) -> f64 {
        match self.messages_published() {
            0 => 0.0,
            published => self.messages_lost() as f64 * 100.0 / published as f64,
        }
    }

    /// Whether messages are missing or unknown.
    pub fn is_incomplete(&self) -> bool {
        self.messages_lost() > 0 || self.messages_left_out() > 0 || !self.unknown.is_none()
    }

    /// The messages that are missing by `cause`.
    pub fn missing(&self, cause: MissingCause) -> u64 {
        match cause {
            MissingCause::Transport => self.messages_lost_in_transport,
            MissingCause::Recorder(cause) => self.lost_in_recorder.get(cause),
            MissingCause::LeftOut(cause) => self.left_out.get(cause),
        }
    }

    /// Adds messages that are missing by `cause`.
    pub fn miss(&mut self, cause: MissingCause, messages: u64) {
        match cause {
            MissingCause::Transport => {
                let lost = &mut self.messages_lost_in_transport;
                *lost = lost.saturating_add(messages);
            }
            MissingCause::Recorder(cause) => self.lost_in_recorder.add(cause, messages),
            MissingCause::LeftOut(cause) => self.left_out.add(cause, messages),
        }
    }

    /// Takes back messages that were counted as missing by `cause` and arrived later; returns their number.
    pub fn find(&mut self, cause: MissingCause, messages: u64) -> u64 {
        let missing = self.missing(cause);
        let found = missing.min(messages);
        let slot = match cause {
            MissingCause::Transport => &mut self.messages_lost_in_transport,
            MissingCause::Recorder(cause) => self.lost_in_recorder.slot(cause),
            MissingCause::LeftOut(cause) => self.left_out.slot(cause),
        };
        *slot = missing - found;
        found
    }

    /// Takes back the messages that `found` counts.
    pub fn find_all(&mut self, found: &Self) {
        for cause in MissingCause::all() {
            self.find(cause, found.missing(cause));
        }
    }

    /// The same account without recorded messages: missing and unknown ones only.
    #[must_use]
    pub fn missing_only(&self) -> Self {
        Self {
            messages_recorded: 0,
            bytes_written: 0,
            first_time_ns: None,
            last_time_ns: None,
            ..*self
        }
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

    /// Adds another part of the same topic to this one.
    pub fn merge(&mut self, other: &Self) {
        self.messages_recorded = self
            .messages_recorded
            .saturating_add(other.messages_recorded);
        self.messages_lost_in_transport = self
            .messages_lost_in_transport
            .saturating_add(other.messages_lost_in_transport);
        self.lost_in_recorder.merge(&other.lost_in_recorder);
        self.left_out.merge(&other.left_out);
        self.unknown.merge(&other.unknown);
        self.bytes_written = self.bytes_written.saturating_add(other.bytes_written);
        self.first_time_ns = pick(self.first_time_ns, other.first_time_ns, i64::min);
        self.last_time_ns = pick(self.last_time_ns, other.last_time_ns, i64::max);
    }
}

/// A zero of a recorder that did not count is written as null.
impl Serialize for TopicStatistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("TopicStatistics", 8)?;
        let transport = self.known(self.messages_lost_in_transport);
        let recorder = self.known(self.messages_lost_in_recorder());
        let left_out = self.known(self.messages_left_out());
        fields.serialize_field("messages_recorded", &self.messages_recorded)?;
        fields.serialize_field("messages_lost_in_transport", &transport)?;
        fields.serialize_field("lost_in_recorder", &recorder.map(|_| self.lost_in_recorder))?;
        fields.serialize_field("left_out", &left_out.map(|_| self.left_out))?;
        fields.serialize_field("unknown", &self.unknown)?;
        fields.serialize_field("bytes_written", &self.bytes_written)?;
        fields.serialize_field("first_time_ns", &self.first_time_ns)?;
        fields.serialize_field("last_time_ns", &self.last_time_ns)?;
        fields.end()
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
        let time = proptest::option::of(-1_000_000_000i64..1_000_000_000);
        let counts = proptest::collection::vec(0u64..1 << 40, 16);
        let flags = any::<[bool; 2]>();
        (counts, flags, time.clone(), time).prop_map(
            |(n, [interrupted, uncounted], first, last)| TopicStatistics {
                messages_recorded: n[0],
                messages_lost_in_transport: n[1],
                lost_in_recorder: RecorderLoss {
                    queue: n[2],
                    compression: n[3],
                    storage: n[4],
                    backpressure: n[5],
                },
                left_out: LeftOut {
                    paused: n[6],
                    throttled: n[7],
                    overwritten: n[8],
                    deleted: n[9],
                    type_conflict: n[10],
                },
                unknown: UnknownMessages {
                    before_first: n[11],
                    open_publishers: n[12],
                    unplaced: n[13],
                    interrupted,
                    uncounted,
                },
                bytes_written: n[14],
                first_time_ns: first,
                last_time_ns: last,
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
                sum.messages_recorded
                    + sum.messages_lost_in_transport
                    + sum.messages_lost_in_recorder()
                    + sum.messages_left_out()
            );
            let missing: u64 = MissingCause::all().map(|cause| sum.missing(cause)).sum();
            prop_assert_eq!(sum.messages_published(), sum.messages_recorded + missing);
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
