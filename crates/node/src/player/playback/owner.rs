use timeloom_time::{Duration, Ros, Time};

use super::super::external_jumps::NANOSECOND;
use super::super::source::Part;
use super::Playback;
use super::feed::NextMessage;

/// Number of messages that are published before a jump: a player that is further behind skips the rest.
const MAX_DUE: usize = 1000;
/// The longest wait for the next message to be read.
const READING: Duration = Duration::from_secs(1);
/// The interval of polling for it.
const LOOK: Duration = Duration::from_millis(1);

/// Whether time runs after a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Runs,
    Stands,
}

impl Playback {
    /// Publishes `/clock` at once, after a change.
    pub(super) fn publish_time(&self) {
        if let Some(publisher) = self.clock_output.running() {
            self.pass_arrival();
            publisher.publish();
        }
    }

    /// Advances time by a nanosecond if it is stopped where a jump went and a message at this time is published.
    ///
    /// Followers publish a message when time runs to it or past it, not when time is moved onto it: so they publish
    /// nothing for a leader that is paused there.
    pub(super) fn pass_arrival(&self) {
        if self.clock_output.running().is_none() {
            return;
        }
        let (now, arrived) = (self.clock.now(), self.pacing.arrived());
        let is_out = self
            .state
            .run
            .as_ref()
            .is_some_and(|run| run.position.skip > 0 && run.due(run.position.time) == arrived);
        if is_out && now == arrived {
            self.jump_along(now.saturating_add(NANOSECOND));
        }
    }

    /// Prepares a jump: stops time, publishes the messages that are due, and publishes the time on `/clock`, so that
    /// followers publish the same messages. Does nothing without `/clock`.
    pub(super) fn leave(&mut self) -> Flow {
        let stands = self.clock_output.running().is_none() || self.clock.is_paused();
        if !stands {
            // Only a controlled clock is published, and it accepts every control.
            let _paused = self.clock.pause();
            self.publish_all_due();
        }
        self.publish_time();
        if stands { Flow::Stands } else { Flow::Runs }
    }

    /// Publishes the time after a jump exactly, and resumes it.
    pub(super) fn arrive(&self, flow: Flow) {
        self.publish_time();
        if flow == Flow::Runs {
            let _resumed = self.clock.resume();
            self.publish_departure();
        }
    }

    /// Publishes that time runs from where a jump went, so that followers publish the messages at that time.
    pub(super) fn publish_departure(&self) {
        if self.clock.now() > self.pacing.arrived() {
            self.publish_time();
        }
    }

    fn publish_all_due(&mut self) {
        let now = self.clock.now();
        for _ in 0..MAX_DUE {
            let Some(due) = self.next_due(now) else {
                return;
            };
            self.publish_due(due);
        }
    }

    /// The due time of the next message of this lap, if it is now or was a moment ago.
    fn next_due(&mut self, now: Time<Ros>) -> Option<Time<Ros>> {
        let mut front = self.front();
        let patience = self.steady.now().saturating_add(READING);
        while matches!(front, NextMessage::Starved) && self.steady.now() < patience {
            // After a seek the first message may be due before it is read.
            let _woke = self.steady.sleep_for(LOOK);
            front = self.front();
        }
        let NextMessage::Message(time, Part::Lap(lap)) = front else {
            return None;
        };
        let run = self.state.run.as_ref()?;
        let due = run.due(time);
        (due <= now && lap == run.lap && run.burst.is_none()).then_some(due)
    }
}
