use timeloom_time::{Duration, Ros, Time};

use super::read_ahead::Load;

/// The state of a player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
#[non_exhaustive]
pub enum State {
    /// Playing has not started.
    #[default]
    Idle,
    /// Waits for subscriptions.
    WaitingForSubscribers,
    /// Waits for the start time, or for the end of the delay.
    WaitingForStart,
    /// Waits for the first sample of `/clock`.
    WaitingForClock,
    /// Publishes messages at their times.
    Playing,
    /// Paused.
    Paused,
    /// Waits for acknowledgements after the last message.
    Finishing,
    /// All messages were played.
    Ended,
    /// Stopped before the end.
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

    /// Whether playing is over.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Ended | Self::Stopped)
    }
}

/// A snapshot of a player.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The state.
    pub state: State,
    /// The current time of the bag.
    pub time: Time<Ros>,
    /// The first and last time of the range that is played; `None` if the bag is empty.
    pub range: Option<(Time<Ros>, Time<Ros>)>,
    /// The range that is repeated.
    pub loop_range: Option<(Time<Ros>, Time<Ros>)>,
    /// The rate; for an external clock the measured one, if it is known.
    pub rate: Option<f64>,
    /// The achieved rate over the last second; `None` while paused, or with too few samples.
    pub achieved_rate: Option<f64>,
    /// The number of completed laps.
    pub laps: u64,
    /// Messages in the read-ahead.
    pub read_ahead_messages: usize,
    /// Bytes in the read-ahead.
    pub read_ahead_bytes: u64,
    /// Number of times that the read-ahead was empty when a message was due.
    pub starved: u64,
    /// The largest lateness of a message so far, in the player's time.
    pub latest: Duration,
    /// The counts per topic, in the order of the bag.
    pub topics: Vec<TopicStatus>,
    /// Selected topics that cannot be played.
    pub skipped: Vec<SkippedTopic>,
    /// Errors of reading the bag.
    pub damage: Vec<String>,
}

/// A selected topic that cannot be played, for example because its type has no definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedTopic {
    /// The topic in the bag.
    pub name: String,
    /// Its type.
    pub type_name: String,
    /// The number of its messages in the bag.
    pub messages: u64,
    /// The reason.
    pub reason: String,
}

/// The clock of a player.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockStatus {
    /// Whether the player follows `/clock`.
    pub external: bool,
    /// The nodes that publish `/clock`, if their names are known; empty for a player that neither publishes nor follows
    /// it.
    pub owners: Vec<String>,
    /// The time since the last sample of `/clock`; `None` unless the player follows it.
    pub lag: Option<Duration>,
}

/// The counts of a topic.
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
    /// Messages dropped because they were too late ([`Pace::Drop`](super::Pace::Drop)).
    pub dropped: u64,
    /// Messages skipped by a step of `/clock` ([`ClockSteps::SkipBeyond`](super::ClockSteps::SkipBeyond)).
    pub stepped_over: u64,
}

impl Status {
    /// Messages published on all topics.
    pub fn played(&self) -> u64 {
        self.topics.iter().map(|topic| topic.played).sum()
    }

    /// Selected messages that were not published, including those of topics that cannot be played.
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
    fn states_round_trip_through_numbers() {
        for state in State::ALL {
            assert_eq!(State::of_number(state as u8), state);
        }
        assert_eq!(State::of_number(200), State::Idle);
    }
}
