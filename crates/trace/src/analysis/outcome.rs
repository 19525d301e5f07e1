//! The outcome of every message of a source.

use std::collections::BTreeMap;

use serde::Serialize;

/// The outcome of a source's message, as seen from one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A target was made of it.
    Completed,
    /// An output was made of it, and then nothing followed: it got stuck.
    Partial,
    /// It was lost between publisher and subscriber, or between publisher and recorder.
    LostInTransport,
    /// It, or an output of it, was never used: a newer one was used instead.
    Superseded,
    /// It reached the recorder and is not in the bag.
    LostInRecorder,
    /// The path breaks at a message without a tag.
    NoTag,
    /// It was dropped before its outcome could be decided: there were too many messages, or its outputs came later than
    /// [`EngineOptions::keep`](super::EngineOptions::keep).
    Expired,
    /// The data ends before it could have arrived.
    InFlight,
}

/// Number of messages of a source by outcome. The sum is the number of published messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcomes {
    /// See [`Outcome::Completed`].
    pub completed: u64,
    /// See [`Outcome::Partial`].
    pub partial: u64,
    /// See [`Outcome::LostInTransport`].
    pub lost_in_transport: u64,
    /// See [`Outcome::Superseded`].
    pub superseded: u64,
    /// See [`Outcome::LostInRecorder`].
    pub lost_in_recorder: u64,
    /// See [`Outcome::NoTag`].
    pub no_tag: u64,
    /// See [`Outcome::Expired`].
    pub expired: u64,
    /// See [`Outcome::InFlight`].
    pub in_flight: u64,
    /// For partial ones and those without tag: the topic on which nothing followed, with the count.
    pub missing_hops: BTreeMap<String, u64>,
    /// For superseded ones: the topic that was made of a newer one, with the count.
    pub superseded_at: BTreeMap<String, u64>,
}

impl Outcomes {
    /// All messages.
    pub fn total(&self) -> u64 {
        self.completed
            + self.partial
            + self.lost_in_transport
            + self.superseded
            + self.lost_in_recorder
            + self.no_tag
            + self.expired
            + self.in_flight
    }

    pub(super) fn add(&mut self, outcome: Outcome, count: u64) {
        let counter = match outcome {
            Outcome::Completed => &mut self.completed,
            Outcome::Partial => &mut self.partial,
            Outcome::LostInTransport => &mut self.lost_in_transport,
            Outcome::Superseded => &mut self.superseded,
            Outcome::LostInRecorder => &mut self.lost_in_recorder,
            Outcome::NoTag => &mut self.no_tag,
            Outcome::Expired => &mut self.expired,
            Outcome::InFlight => &mut self.in_flight,
        };
        *counter += count;
    }
}

/// The reason why the outcome of a message is decided now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JudgeReason {
    /// It is old enough.
    Old,
    /// There is no memory left for it.
    NoRoom,
    /// The data ends.
    End,
}
