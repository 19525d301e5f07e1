use timeloom_time::{Duration, Ros, Time};

use super::super::source::Part;
use super::{Front, Playback};

/// Messages that are later than this are not made up for when time leaves the place: the player has fallen behind.
const LATE: Duration = Duration::from_millis(100);
/// Nor are more than this.
const MOST: usize = 1000;
/// How long the next message may take to be read.
const READING: Duration = Duration::from_millis(100);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(1);
pub(super) const NANOSECOND: Duration = Duration::from_nanos(1);

/// Whether time runs on after a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Runs,
    Stands,
}

impl Playback {
    /// Publishes `/clock` at once, after a change.
    pub(super) fn tell_time(&self) {
        if let (Some(publisher), Some(_)) = (&self.clock_publisher, &self.state.ticker) {
            self.pass_arrival();
            publisher.publish();
        }
    }

    /// Moves time on by a nanosecond if it stands where a jump took it and a message at this time is out.
    ///
    /// Followers publish a message when time runs to it or past it, not when time is moved onto it: so they publish
    /// nothing for a leader that is paused there.
    pub(super) fn pass_arrival(&self) {
        let now = self.clock.now();
        let is_out = self.state.run.as_ref().is_some_and(|run| {
            run.position.skip > 0 && run.due(run.position.time) == self.state.arrived
        });
        if self.state.ticker.is_some() && is_out && now == self.state.arrived {
            self.jump_along(now.saturating_add(NANOSECOND));
        }
    }

    /// Stops time to leave this place, publishes what is due here and tells the time on `/clock`: those who follow
    /// publish the same. Without `/clock` nothing happens.
    pub(super) fn leave(&mut self) -> Flow {
        let stands = self.state.ticker.is_none() || self.clock.is_paused();
        if !stands {
            // Only a controlled clock is published, and it takes every order.
            let _paused = self.clock.pause();
            self.publish_all_due();
        }
        self.tell_time();
        if stands { Flow::Stands } else { Flow::Runs }
    }

    /// Announces to followers that time is about to be moved.
    pub(super) fn announce_jump(&self, to: Time<Ros>) {
        match (&self.clock_publisher, &self.state.ticker) {
            (Some(publisher), Some(_)) => publisher.announce_jump(to),
            (Some(publisher), None) => publisher.log_unpublished_jump(to),
            (None, _) => {}
        }
    }

    /// Publishes the time after a jump exactly, and lets it run on.
    pub(super) fn arrive(&self, flow: Flow) {
        self.tell_time();
        if flow == Flow::Runs {
            let _resumed = self.clock.resume();
            self.tell_departure();
        }
    }

    /// Publishes that time runs on from where a jump took it, so that followers publish the messages at that time.
    pub(super) fn tell_departure(&self) {
        if self.clock.now() > self.state.arrived {
            self.tell_time();
        }
    }

    fn publish_all_due(&mut self) {
        let now = self.clock.now();
        for _ in 0..MOST {
            let Some(due) = self.next_due(now) else {
                return;
            };
            self.publish_due(due);
        }
    }

    /// When the next message of this lap is due, if that is now or was a moment ago.
    fn next_due(&mut self, now: Time<Ros>) -> Option<Time<Ros>> {
        let mut front = self.front();
        let patience = self.steady.now().saturating_add(READING);
        while matches!(front, Front::Starved) && self.steady.now() < patience {
            // After a seek the first message may be due before it is read.
            let _woke = self.steady.sleep_for(LOOK);
            front = self.front();
        }
        let Front::Message(time, Part::Lap(lap)) = front else {
            return None;
        };
        let run = self.state.run.as_ref()?;
        let due = run.due(time);
        let is_due = due <= now && now - due <= LATE;
        (is_due && lap == run.lap && run.burst.is_none()).then_some(due)
    }
}
