use std::collections::BTreeMap;

use timeloom_bag::{MissingCause, TopicAccount, TopicStatistics};

/// The missing messages of one topic: all of them, and the changes that the bag's account does not have yet.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    total: TopicAccount,
    changes: LedgerChanges,
}

/// Changes that the bag's account does not have yet.
#[derive(Debug, Default)]
pub(super) struct LedgerChanges {
    pub(super) missing: TopicAccount,
    /// Messages that were counted as missing and arrived late.
    pub(super) taken_back: BTreeMap<MissingCause, u64>,
}

impl Ledger {
    /// Counts messages as missing, at a log time.
    pub(super) fn miss(&mut self, cause: MissingCause, messages: u64, when_ns: i64) {
        if messages > 0 {
            self.total.miss(cause, messages, when_ns);
            self.changes.missing.miss(cause, messages, when_ns);
        }
    }

    /// Takes back messages that were counted as missing and arrived late.
    fn take_back(&mut self, cause: MissingCause, messages: u64) {
        self.total.statistics.find(cause, messages);
        self.total.timeline.take_back(cause, messages);
        *self.changes.taken_back.entry(cause).or_default() += messages;
    }

    /// Follows a count from `before` to `now`.
    pub(super) fn follow(&mut self, cause: MissingCause, before: u64, now: u64, when_ns: i64) {
        if now >= before {
            self.miss(cause, now - before, when_ns);
        } else {
            self.take_back(cause, before - now);
        }
    }

    /// All missing messages; recorded messages are not counted here.
    pub(super) fn statistics(&self) -> &TopicStatistics {
        &self.total.statistics
    }

    /// Takes the changes that the bag's account does not have yet.
    pub(super) fn take_changes(&mut self) -> LedgerChanges {
        std::mem::take(&mut self.changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_bag::LeftOutCause;

    #[test]
    fn a_count_is_followed_up_and_down() {
        let mut ledger = Ledger::default();
        let (wire, paused) = (
            MissingCause::Transport,
            MissingCause::LeftOut(LeftOutCause::Paused),
        );
        ledger.miss(paused, 2, 0);
        ledger.follow(wire, 0, 5, 1);
        ledger.follow(wire, 5, 3, 2);
        ledger.follow(paused, 4, 3, 2);
        let total = ledger.statistics();
        assert_eq!((total.messages_lost(), total.left_out.paused), (3, 1));
        let changes = ledger.take_changes();
        assert_eq!(changes.missing.statistics.messages_lost_in_transport, 5);
        assert_eq!(changes.taken_back, BTreeMap::from([(wire, 2), (paused, 1)]));
        let changes = ledger.take_changes();
        assert_eq!(changes.missing, TopicAccount::default());
        assert!(changes.taken_back.is_empty());
    }
}
