use timeloom_bag::TopicId;
use timeloom_time::{Duration, Ros, Time};

use super::super::lockstep::Lockstep;
use super::super::options::Pace;

/// The largest lead of time before it waits for a late message, in real nanoseconds: with less, every message would
/// slow it down.
const SLACK: f64 = 10e6;

/// The progress of publishing and of acknowledgements, for a time that waits for them.
pub(in super::super) struct Pacing {
    pace: Pace,
    /// The topic that time waits for.
    lockstep: Option<Lockstep>,
    /// The player's time of the last published message, or of the start.
    last_due: Time<Ros>,
    /// The progress of the topic that time waits for.
    in_step: Time<Ros>,
    /// Whether a message was published that the topic has not answered.
    unanswered: bool,
    /// The topic of a message whose acknowledgement time waits for.
    unacknowledged: Option<TopicId>,
    /// The player's time of the target of the last jump, or of the start.
    arrived: Time<Ros>,
}

impl Pacing {
    pub(in super::super) fn new(pace: Pace, lockstep: Option<Lockstep>) -> Self {
        Self {
            pace,
            lockstep,
            last_due: Time::default(),
            in_step: Time::default(),
            unanswered: false,
            unacknowledged: None,
            arrived: Time::default(),
        }
    }

    /// Whether time waits for anything.
    pub(super) fn holds_time(&self) -> bool {
        !matches!(self.pace, Pace::CatchUp | Pace::Drop { .. })
    }

    /// The time that the clock must not pass before the message at `due` is published.
    pub(super) fn ceiling(&mut self, due: Time<Ros>, rate: f64) -> Option<Time<Ros>> {
        match &self.pace {
            Pace::CatchUp | Pace::Drop { .. } => None,
            Pace::KeepOrder | Pace::WaitAcked => {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "rates are at most a million: it is less than a day"
                )]
                let slack = (SLACK * rate.max(f64::MIN_POSITIVE)).ceil() as i64;
                Some(due.saturating_add(Duration::from_nanos(slack)))
            }
            Pace::Lockstep { window, .. } => {
                if let Some(heard) = self.lockstep.as_mut().and_then(Lockstep::heard) {
                    // A stamp beyond the last message does not count: that message was not published.
                    let heard = Time::from_nanos(heard).min(self.last_due);
                    self.in_step = heard.max(self.in_step);
                    // A stamp is from before the message was recorded.
                    self.unanswered &= heard.saturating_add(*window) < self.last_due;
                }
                // With everything answered, time runs to the next message, however far away that is.
                let ahead = self.in_step.saturating_add(*window);
                Some(if self.unanswered {
                    ahead
                } else {
                    ahead.max(due)
                })
            }
        }
    }

    /// Whether a message with this lateness is dropped.
    pub(super) fn drops(&self, late: Duration) -> bool {
        matches!(&self.pace, Pace::Drop { tolerance } if late > *tolerance)
    }

    /// Playing continues at another position: acknowledgements from before do not count.
    pub(super) fn moved_to(&mut self, due: Time<Ros>) {
        self.last_due = due;
        self.in_step = due;
        self.unanswered = false;
        self.arrived = due;
        if let Some(lockstep) = &self.lockstep {
            lockstep.forget();
        }
    }

    /// The time that the last jump went to.
    pub(super) fn arrived(&self) -> Time<Ros> {
        self.arrived
    }

    pub(super) fn set_arrived(&mut self, time: Time<Ros>) {
        self.arrived = time;
    }

    /// A message that was due at this time is published or dropped.
    pub(super) fn passed(&mut self, due: Time<Ros>) {
        self.last_due = due;
        self.unanswered = true;
    }

    /// Subscribes to the topic that time waits for, once it has a publisher: before the first message asks for it.
    pub(super) fn listen(&mut self) {
        if let Some(lockstep) = &mut self.lockstep {
            lockstep.subscribe();
        }
    }

    /// A message was published on a topic.
    pub(super) fn published(&mut self, topic: TopicId) {
        if self.pace == Pace::WaitAcked {
            self.unacknowledged = Some(topic);
        }
    }

    /// The topic whose acknowledgement time waits for.
    pub(super) fn unacknowledged(&self) -> Option<TopicId> {
        self.unacknowledged
    }

    pub(super) fn acknowledged(&mut self) {
        self.unacknowledged = None;
    }
}
