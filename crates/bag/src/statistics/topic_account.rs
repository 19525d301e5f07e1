//! The counts of a topic together with the times at which messages went missing.

use serde::Serialize;

use super::{LossTimeline, MissingCause, TopicStatistics};
use crate::bag::TimeMap;

/// The account of a topic: counts and times.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct TopicAccount {
    /// Counts of recorded, lost, left out and unknown messages.
    pub statistics: TopicStatistics,
    /// The times at which messages were lost or left out.
    pub timeline: LossTimeline,
    /// Messages in this file that earlier files count as missing: they arrived late. All other counts are 0.
    #[serde(skip)]
    pub found_again: TopicStatistics,
}

impl TopicAccount {
    /// Counts messages that went missing at a log time.
    pub fn miss(&mut self, cause: MissingCause, messages: u64, when_ns: i64) {
        self.statistics.miss(cause, messages);
        self.timeline.add(when_ns, cause, messages);
    }

    /// Adds another part of the same topic.
    pub fn merge(&mut self, other: &Self) {
        self.statistics.merge(&other.statistics);
        self.timeline.merge(&other.timeline);
        self.found_again.merge(&other.found_again);
    }

    /// Takes back messages that earlier files counted as missing and later files found, once all files are merged.
    pub(crate) fn take_back_found(&mut self) {
        let found = std::mem::take(&mut self.found_again);
        self.statistics.find_all(&found);
        for cause in MissingCause::all() {
            self.timeline.take_back(cause, found.missing(cause));
        }
    }

    /// Counts all missing messages as [`unplaced`](super::UnknownMessages::unplaced): each of them may be missing, or not.
    pub(crate) fn leave_open(&mut self) {
        for cause in MissingCause::all() {
            let missing = self.statistics.missing(cause);
            self.statistics.find(cause, missing);
            let unplaced = &mut self.statistics.unknown.unplaced;
            *unplaced = unplaced.saturating_add(missing);
        }
        self.timeline = LossTimeline::default();
    }

    /// The same account on another clock.
    #[must_use]
    pub(crate) fn retimed(&self, times: &dyn TimeMap) -> Self {
        let mut account = self.clone();
        account.timeline = self.timeline.retimed(times);
        let statistics = &mut account.statistics;
        for time in [&mut statistics.first_time_ns, &mut statistics.last_time_ns] {
            *time = time.map(|time| times.map(time));
        }
        account
    }

    /// The missing messages between two log times, both inclusive.
    ///
    /// A message whose time is not known, or not precisely enough, is counted as
    /// [`unplaced`](super::UnknownMessages::unplaced): it may be in this part, or not. Unknown messages of the whole
    /// are unknown for a part.
    #[must_use]
    pub(crate) fn missing_within(&self, start_ns: i64, end_ns: i64) -> Self {
        let (inside, mut unplaced) = self.timeline.within(start_ns, end_ns);
        let mut part = Self::default();
        for cause in MissingCause::all() {
            part.statistics.miss(cause, inside.total(cause));
            let timed = self.timeline.total(cause);
            let untimed = self.statistics.missing(cause).saturating_sub(timed);
            unplaced = unplaced.saturating_add(untimed);
        }
        part.timeline = inside;
        part.statistics.unknown = self.statistics.unknown;
        let unknown = &mut part.statistics.unknown.unplaced;
        *unknown = unknown.saturating_add(unplaced);
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_its_losses_and_counts_uncertain_ones_as_unknown() {
        const SECOND: i64 = 1_000_000_000;
        let mut account = TopicAccount::default();
        account.miss(MissingCause::Transport, 5, 10 * SECOND);
        account.miss(MissingCause::Transport, 7, 20 * SECOND);
        account.statistics.miss(MissingCause::Transport, 3);
        account.statistics.unknown.before_first = 2;
        let part = account.missing_within(15 * SECOND, 30 * SECOND).statistics;
        assert_eq!(part.messages_lost_in_transport, 7);
        assert_eq!((part.unknown.unplaced, part.unknown.before_first), (3, 2));
        let edge = account.missing_within(20 * SECOND + 1, 30 * SECOND);
        let edge = edge.statistics;
        assert_eq!(edge.messages_lost_in_transport, 0);
        assert_eq!(edge.unknown.unplaced, 3 + 7);
    }

    #[test]
    fn losses_that_are_left_open_are_unknown_and_not_zero() {
        let mut account = TopicAccount::default();
        account.statistics.record(5, 80);
        account.miss(MissingCause::Transport, 5, 10);
        account.statistics.unknown.unplaced = 2;
        account.leave_open();
        let statistics = account.statistics;
        assert_eq!(statistics.messages_lost(), 0);
        assert_eq!(statistics.unknown.unplaced, 7);
        assert_eq!(statistics.messages_recorded, 1);
        assert!(account.timeline.is_empty());
    }

    #[test]
    fn losses_move_with_the_clock_of_their_host() {
        struct Ahead;
        impl TimeMap for Ahead {
            fn map(&self, time_ns: i64) -> i64 {
                time_ns - 100_000_000_000
            }
        }
        let mut account = TopicAccount::default();
        account.miss(MissingCause::Transport, 5, 140_200_000_000);
        account.statistics.record(141_000_000_000, 8);
        let moved = account.retimed(&Ahead);
        let interval = moved.timeline.intervals().next().unwrap();
        assert_eq!((interval.start_ns, interval.messages), (40_000_000_000, 5));
        assert_eq!(moved.statistics.first_time_ns, Some(41_000_000_000));
    }
}
