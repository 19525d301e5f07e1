//! Deadlines of paths that never complete.

use timeloom_time::{Duration, Time};

use super::Engine;
use crate::analysis::deadline::{DeadlineEvent, FoundBy, SourceTiming};

impl Engine {
    /// Starts the time of a source's message.
    pub(super) fn watch_source(&mut self, topic: u32, number: u64) {
        let is_source = self.is_source(topic);
        let targets = &self.targets;
        self.deadlines.start(number, |watch| {
            if let Some(source) = watch.source() {
                return source == topic;
            }
            let target = targets.find(watch.target());
            let target = target.and_then(|place| targets.get(place));
            is_source && target.is_some_and(|target| target.has_source(topic))
        });
    }

    /// Reports the sources without a target in time, and where they got stuck.
    pub(super) fn run_timers(&mut self) {
        for at in 0..self.deadlines.len() {
            while let Some(number) = self.due(at) {
                self.time_out(at, number);
            }
        }
    }

    fn due(&mut self, at: usize) -> Option<u64> {
        let store = &self.store;
        let arrived = |number| store.get(number).map(|message| message.arrived);
        self.deadlines.get_mut(at)?.due(self.now, arrived)
    }

    fn time_out(&mut self, at: usize, number: u64) {
        let Some((watch, message)) = self.deadlines.get(at).zip(self.store.get(number)) else {
            return;
        };
        // It or a newer one arrived: nothing is stuck.
        if watch.is_reached(message.topic, (message.order, number)) {
            return;
        }
        let place = self.targets.find(watch.target());
        let missing = place.and_then(|place| self.where_it_ended(number, place).1);
        let missing = missing.unwrap_or(watch.target());
        let missing = self.topics.name(missing).to_owned();
        let elapsed = Duration::from_nanos(self.now.saturating_sub(message.arrived));
        let event = DeadlineEvent {
            sources: vec![SourceTiming {
                topic: self.topics.name(message.topic).to_owned(),
                stamp: message.stamp.map(Time::from_nanos),
                elapsed,
                is_overrun: true,
            }],
            missing_hop: Some(missing.clone()),
            ..watch.event(
                FoundBy::Timer,
                message.published.ros.saturating_add(elapsed),
            )
        };
        if let Some(watch) = self.deadlines.get_mut(at) {
            watch.give_up(number, &missing);
        }
        self.deadlines.emit(event);
    }
}
