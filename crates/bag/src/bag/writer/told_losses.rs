//! What the writer's owner tells of messages that never came to it.

use super::BagWriter;
use crate::{LossCause, TopicId, TopicStatistics, UnknownMessages};

impl BagWriter {
    /// Counts messages that never reached the recorder.
    pub fn lost_in_transport(&mut self, topic: TopicId, messages: u64) {
        self.account.lose_in_transport(topic, messages);
    }

    /// Takes messages back that were counted as lost in transport and came after all.
    pub fn found_again(&mut self, topic: TopicId, messages: u64) {
        self.account.find_again(topic, messages);
    }

    /// Adds what is not known of a topic, once that is certain: at the end. The file that is open has it.
    pub fn leave_open(&mut self, topic: TopicId, unknown: UnknownMessages) {
        self.account.leave_open(topic, unknown);
    }

    /// Counts messages that the recorder lost before they came here.
    pub fn lost_in_recorder(&mut self, topic: TopicId, cause: LossCause, messages: u64) {
        self.account.lose(topic, cause, messages);
    }

    /// The account of each topic so far by dense id; messages on their way to the disk count as recorded.
    pub fn statistics(&self) -> &[TopicStatistics] {
        self.account.totals()
    }
}
