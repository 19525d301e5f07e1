//! The live account of a bag while it is written.

use crate::storage::WriteOutcome;
use crate::{LossCause, Message, TopicId, TopicStatistics};

/// Totals of the bag, and the losses that belong to the file that is open.
#[derive(Default)]
pub(super) struct Account {
    totals: Vec<TopicStatistics>,
    /// Losses before the storage since the last split.
    file_losses: Vec<TopicStatistics>,
}

impl Account {
    pub(super) fn add_topic(&mut self) {
        self.totals.push(TopicStatistics::default());
        self.file_losses.push(TopicStatistics::default());
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

    /// The losses of the file that is being closed.
    pub(super) fn take_file_losses(&mut self) -> Vec<TopicStatistics> {
        let count = self.file_losses.len();
        std::mem::replace(
            &mut self.file_losses,
            vec![TopicStatistics::default(); count],
        )
    }
}
