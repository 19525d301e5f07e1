use timeloom_time::{Duration, Ros, Time};

use super::read_ahead::Load;

/// What a player is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
#[non_exhaustive]
pub enum State {
    /// Nothing is played yet.
    #[default]
    Idle,
    /// It waits for subscriptions.
    WaitingForSubscribers,
    /// It waits for the time at which to begin, or for the delay to pass.
    WaitingForStart,
    /// It waits for the first sample of `/clock`.
    WaitingForClock,
    /// Messages are published as their time comes.
    Playing,
    /// Time stands.
    Paused,
    /// The last message is out; acknowledgements are waited for.
    Finishing,
    /// All that was to be played was.
    Ended,
    /// It was stopped before the end.
    Stopped,
}

impl State {
    const ALL: [Self; 9] = [
        Self::Idle,
        Self::WaitingForSubscribers,
        Self::WaitingForStart,
        Self::WaitingForClock,
        Self::Playing,
        Self::Paused,
        Self::Finishing,
        Self::Ended,
        Self::Stopped,
    ];

    pub(super) fn of_number(number: u8) -> Self {
        Self::ALL
            .get(usize::from(number))
            .copied()
            .unwrap_or_default()
    }

    /// Whether nothing more comes unless it is asked to play again.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Ended | Self::Stopped)
    }
}

/// A player at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// What it is doing.
    pub state: State,
    /// The bag's time: where playing is.
    pub time: Time<Ros>,
    /// The first and last time that are played; none if the bag is empty.
    pub range: Option<(Time<Ros>, Time<Ros>)>,
    /// The part that is repeated, if one is.
    pub loop_range: Option<(Time<Ros>, Time<Ros>)>,
    /// How fast time is to go; for an external clock how fast it seems to, if that is known.
    pub rate: Option<f64>,
    /// How fast messages really go out, over the last second; none while time stands or too little is known.
    pub achieved_rate: Option<f64>,
    /// How many times the end was passed in a loop.
    pub laps: u64,
    /// Messages that are read in advance.
    pub read_ahead_messages: usize,
    /// Bytes that are read in advance.
    pub read_ahead_bytes: u64,
    /// How often nothing was read when a message was wanted.
    pub starved: u64,
    /// The largest lateness of a message so far, in the player's time.
    pub latest: Duration,
    /// What became of the messages, by topic, in the order of the bag.
    pub topics: Vec<TopicStatus>,
    /// The topics that were to be played and cannot be.
    pub skipped: Vec<SkippedTopic>,
    /// What could not be read, in words.
    pub damage: Vec<String>,
}

/// A topic that was to be played and cannot be, for example because its type has no definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedTopic {
    /// The topic in the bag.
    pub name: String,
    /// Its type.
    pub type_name: String,
    /// How many messages the bag has of it.
    pub messages: u64,
    /// Why it is not played.
    pub reason: String,
}

/// Whose time a player goes by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockStatus {
    /// Whether the player follows `/clock`.
    pub external: bool,
    /// The nodes that publish `/clock`, as far as their names are known; looked for only by those who publish or
    /// follow it.
    pub owners: Vec<String>,
    /// How long ago the last sample of `/clock` came; none unless the player follows it and has heard one.
    pub lag: Option<Duration>,
}

/// What became of a topic's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicStatus {
    /// The topic as it is published.
    pub name: String,
    /// Its type.
    pub type_name: String,
    /// Messages published.
    pub played: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages that the middleware refused.
    pub failed: u64,
    /// Messages left out because they were too late ([`Pace::Drop`](super::Pace::Drop)).
    pub dropped: u64,
    /// Messages that `/clock` stepped over ([`ClockSteps::SkipBeyond`](super::ClockSteps::SkipBeyond)).
    pub stepped_over: u64,
}

impl Status {
    /// Messages published on all topics.
    pub fn played(&self) -> u64 {
        self.topics.iter().map(|topic| topic.played).sum()
    }

    /// Messages that were to be published and were not, with those of topics that cannot be played.
    pub fn lost(&self) -> u64 {
        let lost = |topic: &TopicStatus| topic.failed + topic.dropped + topic.stepped_over;
        let skipped: u64 = self.skipped.iter().map(|topic| topic.messages).sum();
        self.topics.iter().map(lost).sum::<u64>() + skipped
    }

    pub(super) fn set_load(&mut self, load: Load) {
        self.read_ahead_messages = load.messages;
        self.read_ahead_bytes = load.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_survive_being_numbers() {
        for state in State::ALL {
            assert_eq!(State::of_number(state as u8), state);
        }
        assert_eq!(State::of_number(200), State::Idle);
    }
}
