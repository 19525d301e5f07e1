//! The outcome of a write.

use crate::{Error, LossCause, TopicId};

/// Messages of one topic that are not in the file and never will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unwritten {
    /// The topic.
    pub topic: TopicId,
    /// The cause.
    pub cause: LossCause,
    /// Number of messages.
    pub messages: u64,
    /// Their payload bytes.
    pub bytes: u64,
    /// Log time of the earliest of them.
    pub first_time_ns: i64,
    /// Log time of the latest of them.
    pub last_time_ns: i64,
}

/// The result of a write: empty if there was no problem.
///
/// With work in the background the messages named here may have been accepted by an earlier call.
#[derive(Debug, Default)]
#[must_use = "messages may be lost"]
pub struct WriteOutcome {
    /// Messages that were not written, by topic and cause.
    pub unwritten: Vec<Unwritten>,
    /// The first reason.
    pub error: Option<Error>,
}

impl WriteOutcome {
    /// Whether everything that was accepted so far is written or still on its way.
    pub fn is_ok(&self) -> bool {
        self.unwritten.is_empty() && self.error.is_none()
    }

    /// Messages that were not written, all topics.
    pub fn messages_lost(&self) -> u64 {
        self.unwritten.iter().map(|entry| entry.messages).sum()
    }

    /// Counts one lost message.
    pub fn lose(&mut self, topic: TopicId, cause: LossCause, log_time_ns: i64, bytes: u64) {
        self.add(Unwritten {
            topic,
            cause,
            messages: 1,
            bytes,
            first_time_ns: log_time_ns,
            last_time_ns: log_time_ns,
        });
    }

    /// Adds lost messages to the entry of their topic and cause.
    pub fn add(&mut self, lost: Unwritten) {
        let found = self
            .unwritten
            .iter_mut()
            .find(|entry| entry.topic == lost.topic && entry.cause == lost.cause);
        let Some(entry) = found else {
            self.unwritten.push(lost);
            return;
        };
        entry.messages = entry.messages.saturating_add(lost.messages);
        entry.bytes = entry.bytes.saturating_add(lost.bytes);
        entry.first_time_ns = entry.first_time_ns.min(lost.first_time_ns);
        entry.last_time_ns = entry.last_time_ns.max(lost.last_time_ns);
    }

    /// Keeps the first error.
    pub fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Adds another outcome.
    pub fn absorb(&mut self, other: Self) {
        for lost in other.unwritten {
            self.add(lost);
        }
        if let Some(error) = other.error {
            self.fail(error);
        }
    }

    /// The outcome as a result, for callers that cannot continue after a loss.
    pub fn into_result(self) -> Result<(), Error> {
        match self.error {
            Some(error) => Err(error),
            None if self.unwritten.is_empty() => Ok(()),
            None => Err(Error::Unwritten {
                messages: self.messages_lost(),
                topics: self.unwritten.len(),
            }),
        }
    }
}
