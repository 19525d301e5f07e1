//! The live account of a bag while it is written.

use super::closer::DeletedFile;
use crate::metadata::saved_account::AccountText;
use crate::storage::WriteOutcome;
use crate::{
    LeftOutCause, LossCause, LossTimeline, Message, MissingCause, TopicAccount, TopicId, TopicInfo,
    TopicStatistics, UnknownMessages,
};

/// A changed account is saved when the last one is this old.
const SAVE_INTERVAL_NS: i64 = 1_000_000_000;

/// Totals of the bag, and missing messages of the open file.
#[derive(Default)]
pub(super) struct Account {
    totals: Vec<TopicStatistics>,
    timelines: Vec<LossTimeline>,
    open_file: Vec<OpenFileAccount>,
    /// Steady time of the last save, or of the first opportunity for one.
    saved_ns: Option<i64>,
    /// Whether an account of the open file changed since the last save.
    changed: bool,
}

/// A topic within the open file.
#[derive(Default)]
struct OpenFileAccount {
    /// Messages that were missing before they reached the storage; its timeline also has those that the storage refused.
    missing: TopicAccount,
    /// Messages that the storage refused.
    refused: u64,
    /// The accounts of deleted files that this file carries on.
    carried: TopicStatistics,
    /// Messages that are unknown at the moment.
    open: UnknownMessages,
    /// Whether the account changed since the last save.
    changed: bool,
    /// Missing messages since the last save.
    since_saved: LossTimeline,
}

impl OpenFileAccount {
    fn miss(&mut self, missing: &LossTimeline) {
        self.missing.timeline.merge(missing);
        self.since_saved.merge(missing);
        self.changed = true;
    }

    /// All missing messages of the file so far.
    fn statistics(&self) -> TopicStatistics {
        let mut all = self.missing.statistics;
        all.lost_in_recorder.add(LossCause::Storage, self.refused);
        all.merge(&self.carried);
        all.unknown.merge(&self.open);
        all
    }
}

impl Account {
    pub(super) fn add_topic(&mut self) {
        self.totals.push(TopicStatistics::default());
        self.timelines.push(LossTimeline::default());
        self.open_file.push(OpenFileAccount::default());
    }

    pub(super) fn totals(&self) -> &[TopicStatistics] {
        &self.totals
    }

    pub(super) fn timelines(&self) -> &[LossTimeline] {
        &self.timelines
    }

    fn topic(
        &mut self,
        topic: TopicId,
    ) -> Option<(
        &mut TopicStatistics,
        &mut LossTimeline,
        &mut OpenFileAccount,
    )> {
        let index = topic.index();
        Some((
            self.totals.get_mut(index)?,
            self.timelines.get_mut(index)?,
            self.open_file.get_mut(index)?,
        ))
    }

    /// Counts a batch as recorded; [`settle`](Self::settle) takes back the messages that the storage refuses.
    pub(super) fn accept(&mut self, batch: &[Message<'_>]) {
        for message in batch {
            if let Some(total) = self.totals.get_mut(message.topic.index()) {
                total.record(message.log_time_ns, message.size());
            }
        }
    }

    /// Moves messages that the storage of the open file could not write from recorded to lost.
    pub(super) fn settle(&mut self, outcome: &WriteOutcome) {
        self.refuse(outcome, true);
    }

    /// Like [`settle`](Self::settle), for files that are being closed: they have it in their own account.
    pub(super) fn settle_closed(&mut self, outcome: &WriteOutcome) {
        self.refuse(outcome, false);
    }

    fn refuse(&mut self, outcome: &WriteOutcome, in_open_file: bool) {
        let storage = |cause: LossCause| cause == LossCause::Storage;
        for lost in outcome.unwritten.iter().filter(|lost| storage(lost.cause)) {
            let Some((total, timeline, file)) = self.topic(lost.topic) else {
                continue;
            };
            total.messages_recorded = total.messages_recorded.saturating_sub(lost.messages);
            total.bytes_written = total.bytes_written.saturating_sub(lost.bytes);
            let cause = MissingCause::Recorder(LossCause::Storage);
            total.miss(cause, lost.messages);
            let mut when = LossTimeline::default();
            when.add(lost.first_time_ns, cause, lost.messages);
            timeline.merge(&when);
            if in_open_file {
                file.refused += lost.messages;
                file.miss(&when);
                self.changed = true;
            }
        }
    }

    /// Counts messages that went missing before they reached the storage.
    pub(super) fn miss(
        &mut self,
        topic: TopicId,
        cause: MissingCause,
        messages: u64,
        when_ns: i64,
    ) {
        if messages == 0 {
            return;
        }
        // Counted in place: with many losses this is done beside every message.
        if let Some((total, timeline, file)) = self.topic(topic) {
            total.miss(cause, messages);
            timeline.add(when_ns, cause, messages);
            file.missing.miss(cause, messages, when_ns);
            file.since_saved.add(when_ns, cause, messages);
            file.changed = true;
            self.changed = true;
        }
    }

    /// Adds missing and unknown messages, for the bag and for the open file.
    pub(super) fn add_missing(&mut self, topic: TopicId, missing: &TopicAccount) {
        let counts = missing.statistics.missing_only();
        if let Some((total, timeline, file)) = self.topic(topic) {
            total.merge(&counts);
            timeline.merge(&missing.timeline);
            file.missing.statistics.merge(&counts);
            file.miss(&missing.timeline);
            self.changed = true;
        }
    }

    /// Replaces the messages of a topic that are unknown at the moment; only a saved account has them.
    pub(super) fn set_unknown(&mut self, topic: TopicId, unknown: UnknownMessages) {
        if let Some((_, _, file)) = self.topic(topic)
            && file.open != unknown
        {
            file.open = unknown;
            file.changed = true;
            self.changed = true;
        }
    }

    pub(super) fn find_again(&mut self, topic: TopicId, cause: MissingCause, messages: u64) {
        let Some((total, timeline, file)) = self.topic(topic) else {
            return;
        };
        total.find(cause, messages);
        timeline.take_back(cause, messages);
        let here = file.missing.statistics.find(cause, messages);
        file.missing.timeline.take_back(cause, here);
        file.since_saved.take_back(cause, here);
        file.missing.found_again.miss(cause, messages - here);
        file.changed |= messages > 0;
        self.changed |= messages > 0;
    }

    /// Counts the messages of a deleted file as left out. `carries` is whether the open file carries its account on.
    pub(super) fn delete(&mut self, deleted: &DeletedFile, carries: bool) {
        for (index, account) in deleted.accounts.iter().enumerate() {
            let Some((total, _, file)) = TopicId::from_index(index).and_then(|id| self.topic(id))
            else {
                continue;
            };
            let (messages, bytes) = (account.messages_recorded, account.bytes_written);
            total.messages_recorded = total.messages_recorded.saturating_sub(messages);
            total.bytes_written = total.bytes_written.saturating_sub(bytes);
            total.left_out.add(LeftOutCause::Deleted, messages);
            if carries {
                file.carried.merge(&deleted_account(account));
                file.changed = true;
                self.changed = true;
            }
        }
    }

    /// The changes of the account, if it is time to save them.
    pub(super) fn save(&mut self, now_ns: i64, topics: &[TopicInfo]) -> Option<String> {
        let last = *self.saved_ns.get_or_insert(now_ns);
        let due = now_ns.saturating_sub(last) >= SAVE_INTERVAL_NS;
        if !due || !self.changed {
            return None;
        }
        self.saved_ns = Some(now_ns);
        self.changed = false;
        let mut text = AccountText::new();
        for (file, topic) in self.open_file.iter_mut().zip(topics) {
            if std::mem::take(&mut file.changed) {
                let found_again = &file.missing.found_again;
                text.add(topic, &file.statistics(), &file.since_saved, found_again);
                file.since_saved.clear();
            }
        }
        Some(text.finish())
    }

    /// Missing messages of the file that is being closed, and messages of earlier files that it found again.
    pub(super) fn close_file(&mut self) -> Vec<TopicAccount> {
        let mut closed = Vec::new();
        self.changed = false;
        for file in &mut self.open_file {
            let open = file.open;
            let old = std::mem::take(file);
            // No file has counts that the source of the messages does not have.
            let uncounted = old.missing.statistics.unknown.uncounted;
            file.missing.statistics.unknown.uncounted = uncounted;
            closed.push(old.missing);
            // Unknown messages are carried on: they are saved with the next file.
            file.open = open;
            file.changed = uncounted || !open.is_none();
            self.changed |= file.changed;
        }
        // Immediately: a recorder that is killed now has saved them in no file.
        self.saved_ns = Some(i64::MIN);
        closed
    }
}

/// The account of a deleted file.
pub(super) fn deleted_account(account: &TopicStatistics) -> TopicStatistics {
    let mut missing = account.missing_only();
    let cause = LeftOutCause::Deleted;
    missing.left_out.add(cause, account.messages_recorded);
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn account() -> (Account, [TopicInfo; 2]) {
        let mut account = Account::default();
        account.add_topic();
        account.add_topic();
        let topics = ["/a", "/b"].map(|name| TopicInfo::new(name, "t/msg/T"));
        (account, topics)
    }

    #[test]
    fn an_account_is_saved_once_a_second_and_only_when_it_changed() {
        let (mut account, topics) = account();
        assert_eq!(account.save(5 * SECOND, &topics), None);
        account.miss(TopicId(1), MissingCause::Transport, 3, 0);
        assert_eq!(account.save(5 * SECOND + 1, &topics), None, "too early");
        let text = account.save(6 * SECOND, &topics).unwrap();
        assert!(text.contains("/b") && !text.contains("/a"), "{text}");
        assert_eq!(account.save(8 * SECOND, &topics), None, "no change");
        account.set_unknown(TopicId(0), UnknownMessages::default());
        assert_eq!(account.save(9 * SECOND, &topics), None, "no change");
    }

    #[test]
    fn losses_counted_one_by_one_equal_those_of_an_account_added_at_once() {
        let (mut counted, topics) = account();
        let (mut added, _) = account();
        let mut whole = TopicAccount::default();
        let causes = [
            MissingCause::Transport,
            MissingCause::Recorder(LossCause::Queue),
            MissingCause::Transport,
        ];
        for (second, cause) in (0..600).zip(causes.iter().cycle()) {
            // Every fifth is noticed late.
            let when = (second - 50 * i64::from(second % 5 == 0)) * SECOND;
            counted.miss(TopicId(0), *cause, 2, when);
            whole.miss(*cause, 2, when);
        }
        added.add_missing(TopicId(0), &whole);
        assert_eq!(counted.totals(), added.totals());
        assert_eq!(counted.timelines(), added.timelines());
        assert_eq!(counted.save(0, &topics), added.save(0, &topics));
        let later = 2 * SECOND;
        assert_eq!(counted.save(later, &topics), added.save(later, &topics));
        assert_eq!(counted.close_file(), added.close_file());
    }

    #[test]
    fn without_progress_of_time_nothing_is_saved() {
        let (mut account, topics) = account();
        account.miss(TopicId(0), MissingCause::Transport, 3, 0);
        assert_eq!(account.save(0, &topics), None);
        assert_eq!(account.save(0, &topics), None);
    }
}
