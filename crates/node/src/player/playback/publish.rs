use std::sync::atomic::Ordering;

use timeloom_time::{Ros, Time};

use super::super::control::Answer;
use super::super::live_status::add;
use super::super::output::Sent;
use super::super::source::{Item, Part};
use super::Playback;

/// In a burst the clock moves along once in this many messages, unless `/clock` is published.
const CLOCK_STEP: u64 = 256;

impl Playback {
    /// Publishes the message at the front, which is due.
    pub(super) fn publish_due(&mut self, due: Time<Ros>) {
        let late = self.clock.now() - due;
        let Some(item) = self.pop() else { return };
        if late.nanos() > self.live.latest.load(Ordering::Relaxed) {
            self.live.latest.store(late.nanos(), Ordering::Relaxed);
        }
        if self.pacing.drops(late) {
            if let Some(counters) = self.live.topics.get(item.topic.index()) {
                add(&counters.dropped, 1);
            }
        } else {
            self.publish(item);
        }
        self.pacing.passed(due);
    }

    /// Removes the next message; the position is behind it from now on.
    pub(super) fn pop(&mut self) -> Option<Item> {
        let item = self.feed.pop()?;
        if let (Some(run), Part::Lap(_)) = (&mut self.state.run, item.part) {
            run.position = item.after();
        }
        Some(item)
    }

    /// Publishes a message now; false if the middleware refused it, or it is not to be sent.
    pub(super) fn publish(&mut self, item: Item) -> bool {
        let Some(output) = self.outputs.get_mut(item.topic) else {
            return false;
        };
        if let (true, Some(clock)) = (output.triggers_clock, self.clock_output.publisher()) {
            clock.publish();
        }
        if let Some(file) = item.file {
            self.splits.at(file);
        }
        output.last = Some(item.time);
        let bytes = item.data.len() as u64;
        let sent = output.publish(item.data, &self.reporter);
        if let Some(counters) = self.live.topics.get(item.topic.index()) {
            match sent {
                Sent::Yes => {
                    add(&counters.played, 1);
                    add(&counters.bytes, bytes);
                }
                Sent::No => add(&counters.failed, 1),
                Sent::Ignored => {}
            }
        }
        self.pacing.published(item.topic);
        sent == Sent::Yes
    }

    /// Publishes the state of a latched topic from before the position.
    pub(super) fn publish_latched(&mut self) {
        if let Some(item) = self.pop() {
            self.publish(item);
        }
    }

    /// Publishes the next messages of a burst, the first at `time`: those at hand, until there is something else to do.
    ///
    /// What playing checks before each message is checked before each such run.
    pub(super) fn burst(&mut self, mut time: i64) {
        while let Some(run) = self.state.run.as_ref().filter(|run| run.burst.is_some()) {
            let (due, lap) = (run.due(time), run.lap);
            self.burst_one(due);
            if self.mailbox.has_news() || self.pacing.unacknowledged().is_some() {
                return;
            }
            let Some(next) = self.feed.at_hand(lap) else {
                return;
            };
            time = next;
        }
    }

    /// Publishes the next message of a burst.
    fn burst_one(&mut self, due: Time<Ros>) {
        let Some(item) = self.pop() else { return };
        let Some(burst) = self.state.run.as_ref().and_then(|run| run.burst.as_ref()) else {
            return;
        };
        let last = burst.left == Some(1);
        let moves = last
            || self.clock_output.publisher().is_some()
            || burst.played.is_multiple_of(CLOCK_STEP);
        if moves && due > self.clock.now() {
            self.jump_along(due);
        }
        let sent = self.publish(item);
        self.pass_arrival();
        let Some(burst) = self.state.run.as_mut().and_then(|run| run.burst.as_mut()) else {
            return;
        };
        if sent {
            burst.played += 1;
            burst.left = burst.left.map(|left| left.saturating_sub(1));
        }
        if burst.left == Some(0) {
            self.finish_burst();
        }
    }

    /// Ends a burst and answers it; false if there was none.
    pub(super) fn finish_burst(&mut self) -> bool {
        let Some(run) = &mut self.state.run else {
            return false;
        };
        let Some(burst) = run.burst.take() else {
            return false;
        };
        let behind = run.due(run.position.time);
        if burst.played > 0 && self.clock.now() < behind {
            self.jump_along(behind);
        }
        (burst.reply)(Ok(Answer::Played(burst.played)));
        true
    }

    /// Moves the clock along with the messages.
    pub(super) fn jump_along(&self, time: Time<Ros>) {
        let clock = &self.clock;
        self.restart.along(|| {
            // Only a controlled clock gets here.
            let _moved = clock.jump(time);
        });
    }
}
