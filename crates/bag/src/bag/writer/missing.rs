//! Messages that never reached the writer, as its owner reports them.

use super::BagWriter;
use crate::{
    LeftOutCause, LossCause, LossTimeline, MissingCause, TopicAccount, TopicId, TopicStatistics,
    UnknownMessages,
};

impl BagWriter {
    /// Counts messages that were lost on the wire; `when_ns` is the log time of the detection.
    pub fn lost_in_transport(&mut self, topic: TopicId, messages: u64, when_ns: i64) {
        let cause = MissingCause::Transport;
        self.account.miss(topic, cause, messages, when_ns);
    }

    /// Counts messages that the recorder lost before they reached the writer, at a log time.
    pub fn lost_in_recorder(
        &mut self,
        topic: TopicId,
        cause: LossCause,
        messages: u64,
        when_ns: i64,
    ) {
        let cause = MissingCause::Recorder(cause);
        self.account.miss(topic, cause, messages, when_ns);
    }

    /// Counts messages that were left out on purpose, at a log time.
    pub fn left_out(&mut self, topic: TopicId, cause: LeftOutCause, messages: u64, when_ns: i64) {
        let cause = MissingCause::LeftOut(cause);
        self.account.miss(topic, cause, messages, when_ns);
    }

    /// Takes back messages that were counted as missing by that cause and arrived later.
    pub fn found_again(&mut self, topic: TopicId, cause: MissingCause, messages: u64) {
        self.account.find_again(topic, cause, messages);
    }

    /// Adds messages that stay unknown, at the end of a recording, to the account of the open file.
    pub fn leave_open(&mut self, topic: TopicId, unknown: UnknownMessages) {
        let mut missing = TopicAccount::default();
        missing.statistics.unknown = unknown;
        self.account.add_missing(topic, &missing);
    }

    /// Replaces the messages that are unknown at the moment. They are saved in case the process is killed, and nowhere
    /// else: at the end, pass those that stay unknown to [`leave_open`](Self::leave_open).
    pub fn set_unknown(&mut self, topic: TopicId, unknown: UnknownMessages) {
        self.account.set_unknown(topic, unknown);
    }

    /// Adds the missing and unknown messages of another recording of the topic.
    pub fn add_missing(&mut self, topic: TopicId, missing: &TopicAccount) {
        self.account.add_missing(topic, missing);
    }

    /// The account of each topic so far by dense id; messages on their way to the disk count as recorded.
    pub fn statistics(&self) -> &[TopicStatistics] {
        self.account.totals()
    }

    /// The times at which messages of each topic went missing, by dense id.
    pub fn timelines(&self) -> &[LossTimeline] {
        self.account.timelines()
    }
}
