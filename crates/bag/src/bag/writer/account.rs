//! The live account of a bag while it is written.

use crate::storage::WriteOutcome;
use crate::{LossCause, Message, TopicId, TopicStatistics, UnknownMessages};

/// Totals of the bag, and the losses that belong to the file that is open.
#[derive(Default)]
pub(super) struct Account {
    totals: Vec<TopicStatistics>,
    /// Losses before the storage since the last split.
    file_losses: Vec<TopicStatistics>,
    /// Losses of files before that were none after all.
    found_again: Vec<u64>,
}

impl Account {
    pub(super) fn add_topic(&mut self) {
        self.totals.push(TopicStatistics::default());
        self.file_losses.push(TopicStatistics::default());
        self.found_again.push(0);
    }

    pub(super) fn totals(&self) -> &[TopicStatistics] {
        &self.totals
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
            if let Some(total) = self.totals.get_mut(lost.topic.index()) {
                total.messages_recorded = total.messages_recorded.saturating_sub(lost.messages);
                total.bytes_written = total.bytes_written.saturating_sub(lost.bytes);
                total
                    .lost_in_recorder
                    .add(LossCause::Storage, lost.messages);
            }
        }
    }

    /// Counts messages that were lost before they reached the storage.
    pub(super) fn lose(&mut self, topic: TopicId, cause: LossCause, messages: u64) {
        for table in [&mut self.totals, &mut self.file_losses] {
            if let Some(account) = table.get_mut(topic.index()) {
                account.lost_in_recorder.add(cause, messages);
            }
        }
    }

    pub(super) fn lose_in_transport(&mut self, topic: TopicId, messages: u64) {
        for table in [&mut self.totals, &mut self.file_losses] {
            if let Some(account) = table.get_mut(topic.index()) {
                account.messages_lost_in_transport =
                    account.messages_lost_in_transport.saturating_add(messages);
            }
        }
    }

    /// Adds what is not known of a topic, for the bag and for the file that is open.
    pub(super) fn leave_open(&mut self, topic: TopicId, unknown: UnknownMessages) {
        for table in [&mut self.totals, &mut self.file_losses] {
            if let Some(account) = table.get_mut(topic.index()) {
                account.unknown.merge(&unknown);
            }
        }
    }

    pub(super) fn find_again(&mut self, topic: TopicId, messages: u64) {
        let index = topic.index();
        let (Some(total), Some(file), Some(before)) = (
            self.totals.get_mut(index),
            self.file_losses.get_mut(index),
            self.found_again.get_mut(index),
        ) else {
            return;
        };
        let lost = &mut total.messages_lost_in_transport;
        *lost = lost.saturating_sub(messages);
        let here = file.messages_lost_in_transport.min(messages);
        file.messages_lost_in_transport -= here;
        *before += messages - here;
    }

    /// What is to be taken back from files before the one that is being closed.
    pub(super) fn take_found_again(&mut self) -> Vec<u64> {
        let count = self.found_again.len();
        std::mem::replace(&mut self.found_again, vec![0; count])
    }

    /// The losses of the file that is being closed.
    pub(super) fn take_file_losses(&mut self) -> Vec<TopicStatistics> {
        let count = self.file_losses.len();
        std::mem::replace(
            &mut self.file_losses,
            vec![TopicStatistics::default(); count],
        )
    }
}
