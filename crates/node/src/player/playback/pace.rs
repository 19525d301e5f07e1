use timeloom_bag::TopicId;
use timeloom_time::{Duration, Ros, Time};

use super::super::options::{Pace, Repeat};
use super::Playback;

/// How far time may be ahead of a late message before it waits, in real time: less would make every message slow it.
const SLACK: f64 = 10e6;
/// How long a wait for an acknowledgement is deaf to controls.
const ACK_STEP: Duration = Duration::from_millis(5);

impl Playback {
    /// Keeps time from running away from what is to happen at `due`, as the pace asks for.
    pub(super) fn hold(&mut self, due: Time<Ros>) {
        let ceiling = match &self.options.pace {
            Pace::CatchUp | Pace::Drop { .. } => return,
            Pace::KeepOrder | Pace::WaitAcked => {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "rates are at most a million: it is less than a day"
                )]
                let slack = (SLACK * self.state.rate.max(f64::MIN_POSITIVE)).ceil() as i64;
                due.saturating_add(Duration::from_nanos(slack))
            }
            Pace::Lockstep { window, .. } => {
                // Nobody can have dealt with what was not published.
                let heard = self.lockstep.as_mut().and_then(super::Lockstep::heard);
                let heard = heard.map_or(self.state.in_step, |heard| {
                    Time::from_nanos(heard)
                        .min(self.state.last_due)
                        .max(self.state.in_step)
                });
                self.state.in_step = heard;
                heard.saturating_add(*window)
            }
        };
        if !self.is_external() {
            let ceiling = self.lap_end().map_or(ceiling, |end| ceiling.min(end));
            let _held = self.clock.set_ceiling(Some(ceiling));
        }
    }

    /// Time goes as it likes, up to where it jumps back.
    pub(super) fn release(&self) {
        if !matches!(self.options.pace, Pace::CatchUp | Pace::Drop { .. }) {
            self.limit_time();
        }
    }

    /// Time does not pass the end of a lap: it jumps back from exactly there, however late this thread is.
    pub(super) fn limit_time(&self) {
        if !self.is_external() {
            let _limited = self.clock.set_ceiling(self.lap_end());
        }
    }

    /// The time from which the clock jumps back; none if it does not.
    fn lap_end(&self) -> Option<Time<Ros>> {
        let run = self.state.run.as_ref()?;
        let goes_on = match run.repeat {
            Repeat::Monotonic => true,
            Repeat::Once => run.loop_range.is_none(),
            Repeat::JumpBack => false,
        };
        (!goes_on).then(|| run.due(run.lap_range().end))
    }

    /// Playing goes on elsewhere: what others said about the place before does not count.
    pub(super) fn moved_to(&mut self, due: Time<Ros>) {
        self.state.last_due = due;
        self.state.in_step = due;
        self.state.arrived = due;
        self.splits.moved();
        if let Some(lockstep) = &self.lockstep {
            lockstep.forget();
        }
    }

    /// A message was published on a topic.
    pub(super) fn was_published(&mut self, topic: TopicId) {
        if self.options.pace == Pace::WaitAcked {
            self.state.unacknowledged = Some(topic);
        }
    }

    /// Waits for the acknowledgement of the last message, for a little while; true if it is still missing.
    pub(super) fn awaits_acknowledgement(&mut self) -> bool {
        let Some(topic) = self.state.unacknowledged else {
            return false;
        };
        let publisher = self
            .outlets
            .get_mut(topic)
            .filter(|outlet| outlet.reliable)
            .and_then(|outlet| outlet.publisher());
        // A transport without acknowledgements has nothing to wait for.
        let missing = publisher.is_some_and(|publisher| {
            !publisher
                .wait_for_acknowledgements(ACK_STEP)
                .unwrap_or(true)
        });
        if !missing {
            self.state.unacknowledged = None;
        }
        missing
    }
}
