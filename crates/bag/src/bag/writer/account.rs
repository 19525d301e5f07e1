//! The live account of a bag while it is written.

use crate::storage::WriteOutcome;
use crate::{
    LossCause, LossTimeline, Message, MissingCause, TopicAccount, TopicId, TopicStatistics,
    UnknownMessages,
};

/// Totals of the bag, and what is missing in the file that is open.
#[derive(Default)]
pub(super) struct Account {
    totals: Vec<TopicStatistics>,
    timelines: Vec<LossTimeline>,
    /// What went missing before the storage since the last split.
    file: Vec<TopicAccount>,
    /// Losses of files before that were none after all.
    found_again: Vec<TopicStatistics>,
}

impl Account {
    pub(super) fn add_topic(&mut self) {
        self.totals.push(TopicStatistics::default());
        self.timelines.push(LossTimeline::default());
        self.file.push(TopicAccount::default());
        self.found_again.push(TopicStatistics::default());
    }

    pub(super) fn totals(&self) -> &[TopicStatistics] {
        &self.totals
    }

    pub(super) fn timelines(&self) -> &[LossTimeline] {
        &self.timelines
    }

    /// Counts a batch as recorded; what the storage refuses is taken back by [`settle`](Self::settle).
    pub(super) fn accept(&mut self, batch: &[Message<'_>]) {
        for message in batch {
            if let Some(total) = self.totals.get_mut(message.topic.index()) {
                total.record(message.log_time_ns, message.size());
            }
        }
    }

    /// Moves what a storage could not write from recorded to lost.
    pub(super) fn settle(&mut self, outcome: &WriteOutcome) {
        for lost in outcome
            .unwritten
            .iter()
            .filter(|lost| lost.cause == LossCause::Storage)
        {
            let index = lost.topic.index();
            let (Some(total), Some(timeline)) =
                (self.totals.get_mut(index), self.timelines.get_mut(index))
            else {
                continue;
            };
            total.messages_recorded = total.messages_recorded.saturating_sub(lost.messages);
            total.bytes_written = total.bytes_written.saturating_sub(lost.bytes);
            let cause = MissingCause::Recorder(LossCause::Storage);
            total.miss(cause, lost.messages);
            timeline.add(lost.first_time_ns, cause, lost.messages);
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
        let mut missing = TopicAccount::default();
        missing.miss(cause, messages, when_ns);
        self.add_missing(topic, &missing);
    }

    /// Adds what is missing and what is not known, for the bag and for the file that is open.
    pub(super) fn add_missing(&mut self, topic: TopicId, missing: &TopicAccount) {
        let index = topic.index();
        let counts = missing.statistics.missing_only();
        if let (Some(total), Some(timeline), Some(file)) = (
            self.totals.get_mut(index),
            self.timelines.get_mut(index),
            self.file.get_mut(index),
        ) {
            total.merge(&counts);
            timeline.merge(&missing.timeline);
            file.statistics.merge(&counts);
            file.timeline.merge(&missing.timeline);
        }
    }

    /// Adds what is not known of a topic, for the bag and for the file that is open.
    pub(super) fn leave_open(&mut self, topic: TopicId, unknown: UnknownMessages) {
        let mut missing = TopicAccount::default();
        missing.statistics.unknown = unknown;
        self.add_missing(topic, &missing);
    }

    pub(super) fn find_again(&mut self, topic: TopicId, cause: MissingCause, messages: u64) {
        let index = topic.index();
        let (Some(total), Some(timeline), Some(file), Some(before)) = (
            self.totals.get_mut(index),
            self.timelines.get_mut(index),
            self.file.get_mut(index),
            self.found_again.get_mut(index),
        ) else {
            return;
        };
        total.find(cause, messages);
        timeline.take_back(cause, messages);
        let here = file.statistics.find(cause, messages);
        file.timeline.take_back(cause, here);
        before.miss(cause, messages - here);
    }

    /// What is to be taken back from files before the one that is being closed.
    pub(super) fn take_found_again(&mut self) -> Vec<TopicStatistics> {
        let count = self.found_again.len();
        std::mem::replace(
            &mut self.found_again,
            vec![TopicStatistics::default(); count],
        )
    }

    /// What is missing in the file that is being closed.
    pub(super) fn take_file(&mut self) -> Vec<TopicAccount> {
        let count = self.file.len();
        std::mem::replace(&mut self.file, vec![TopicAccount::default(); count])
    }
}
