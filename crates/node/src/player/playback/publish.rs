use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use timeloom_bag::TopicId;
use timeloom_time::{Ros, Time};

use super::super::board::add;
use super::super::control::Answer;
use super::super::options::Pace;
use super::super::outlet::Sent;
use super::super::source::{Item, Part};
use super::Playback;

/// In a burst the clock moves along with every so many messages, unless `/clock` is published.
const CLOCK_STEP: u64 = 256;

impl Playback {
    /// Publishes the message at the front, whose time has come.
    pub(super) fn publish_due(&mut self, due: Time<Ros>) {
        let late = self.clock.now() - due;
        let Some(item) = self.pop() else { return };
        if late.nanos() > self.board.latest.load(Ordering::Relaxed) {
            self.board.latest.store(late.nanos(), Ordering::Relaxed);
        }
        let too_late = matches!(&self.options.pace, Pace::Drop { tolerance } if late > *tolerance);
        if too_late {
            if let Some(counters) = self.board.topics.get(item.topic.index()) {
                add(&counters.dropped, 1);
            }
        } else {
            self.publish(&item);
        }
        self.state.last_due = due;
    }

    /// Takes the front; playing is behind it from now on.
    pub(super) fn pop(&mut self) -> Option<Item> {
        let item = self.state.block.items.pop_front()?;
        if let (Some(run), Part::Lap(_)) = (&mut self.state.run, item.part) {
            run.position = item.after();
        }
        Some(item)
    }

    /// Publishes a message now; false if the middleware refused it, or it was not meant to go out.
    pub(super) fn publish(&mut self, item: &Item) -> bool {
        let Some(outlet) = self.outlets.get_mut(item.topic) else {
            return false;
        };
        if let (true, Some(clock)) = (outlet.triggers_clock, &self.clock_publisher) {
            clock.publish();
        }
        if let Some(file) = item.file {
            self.splits.at(file);
        }
        outlet.last = Some(item.time);
        let sent = outlet.publish(item.data.clone(), &self.reporter);
        if let Some(counters) = self.board.topics.get(item.topic.index()) {
            match sent {
                Sent::Yes => {
                    add(&counters.played, 1);
                    add(&counters.bytes, item.data.len() as u64);
                }
                Sent::No => add(&counters.failed, 1),
                Sent::NotMeant => {}
            }
        }
        self.was_published(item.topic);
        sent == Sent::Yes
    }

    /// Publishes the state of a latched topic from before the place where playing goes on.
    pub(super) fn publish_latched(&mut self) {
        if let Some(item) = self.pop() {
            self.publish(&item);
        }
    }

    /// Forgets latched messages of topics whose newest one is the last that was published: everybody has it.
    pub(super) fn drop_known_latched(&mut self) {
        let mut newest: BTreeMap<TopicId, i64> = BTreeMap::new();
        for item in &self.state.block.items {
            if let Part::Latched(_) = item.part {
                newest.insert(item.topic, item.time);
            }
        }
        for (topic, time) in newest {
            let last = self.outlets.get_mut(topic).and_then(|outlet| outlet.last);
            if last == Some(time) {
                self.state
                    .block
                    .items
                    .retain(|item| item.topic != topic || !matches!(item.part, Part::Latched(_)));
            }
        }
    }

    /// Publishes the next message of a burst.
    pub(super) fn burst_one(&mut self, due: Time<Ros>) {
        let Some(item) = self.pop() else { return };
        let Some(burst) = self.state.run.as_ref().and_then(|run| run.burst.as_ref()) else {
            return;
        };
        let last = burst.left == Some(1);
        let moves =
            last || self.clock_publisher.is_some() || burst.played.is_multiple_of(CLOCK_STEP);
        if moves && due > self.clock.now() {
            self.jump_along(due);
        }
        let sent = self.publish(&item);
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
        self.jumps.along(|| {
            // Only a controlled clock gets here.
            let _moved = clock.jump(time);
        });
    }
}
