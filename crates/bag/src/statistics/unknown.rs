//! Unknown parts of the account of a topic.

use serde::Serialize;

/// Messages that may have been published and are in none of the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct UnknownMessages {
    /// At most this many before the first message received from each publisher: published before the subscription, or lost.
    pub before_first: u64,
    /// Publishers whose last message is not known: they vanished, or were matched and nothing was received from them.
    pub open_publishers: u64,
    /// At most this many: lost or left out in the whole recording, perhaps not in this part of it.
    pub unplaced: u64,
    /// The recorder was killed, or the file is damaged: messages after the last account are unknown.
    pub interrupted: bool,
    /// The recorder did not count missing messages, as most versions of `ros2 bag record`: the counts of lost and left-out
    /// messages are lower limits.
    pub uncounted: bool,
}

impl UnknownMessages {
    /// Of a recorder that did not count missing messages.
    pub const UNCOUNTED: Self = Self {
        before_first: 0,
        open_publishers: 0,
        unplaced: 0,
        interrupted: false,
        uncounted: true,
    };

    /// Whether nothing is unknown.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Upper limit of the messages, as far as there is a bound: see [`is_open`](Self::is_open).
    pub fn at_most(&self) -> u64 {
        self.before_first.saturating_add(self.unplaced)
    }

    /// Whether there is no bound.
    pub fn is_open(&self) -> bool {
        self.interrupted || self.uncounted || self.open_publishers > 0
    }

    /// Sentences that describe the unknown messages; empty if there are none.
    pub fn sentences(&self) -> Vec<String> {
        let counted = |count: u64, noun: &str| match count {
            1 => format!("1 {noun}"),
            count => format!("{count} {noun}s"),
        };
        let mut sentences = Vec::new();
        if self.before_first > 0 {
            sentences.push(format!(
                "at most {} before the first one received from a publisher: published before the subscription, or lost",
                counted(self.before_first, "message")
            ));
        }
        if self.open_publishers > 0 {
            sentences.push(format!(
                "messages after the last one received from {}: the end of the publisher is not known",
                counted(self.open_publishers, "publisher")
            ));
        }
        if self.unplaced > 0 {
            sentences.push(format!(
                "at most {} lost or left out: the recording counts them, but not whether in this part of it",
                counted(self.unplaced, "message")
            ));
        }
        if self.interrupted {
            sentences.push(
                "messages after the last saved account: the recorder was killed, or the file is damaged"
                    .into(),
            );
        }
        if self.uncounted {
            sentences.push("lost and left-out messages: the recorder did not count them".into());
        }
        sentences
    }

    /// Adds another part.
    pub fn merge(&mut self, other: &Self) {
        self.before_first = self.before_first.saturating_add(other.before_first);
        self.open_publishers = self.open_publishers.saturating_add(other.open_publishers);
        self.unplaced = self.unplaced.saturating_add(other.unplaced);
        self.interrupted |= other.interrupted;
        self.uncounted |= other.uncounted;
    }
}
