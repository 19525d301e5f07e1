//! Deadlines of paths that never complete.

use timeloom_time::{Duration, Time};

use super::deadline::{DeadlineEvent, FoundBy, SourceTiming};
use super::engine::Engine;

/// So many sources wait for a target at most; the oldest is given up.
const MOST_WAITING: usize = 10_000;

impl Engine {
    /// Starts the time of a source's message.
    pub(super) fn watch_source(&mut self, topic: u32, number: u64) {
        if self.watches.is_empty() || !self.is_source(topic) {
            return;
        }
        for at in 0..self.watches.len() {
            let Some((source, target)) = self
                .watches
                .get(at)
                .map(|watch| (watch.source, watch.target))
            else {
                continue;
            };
            let leads = match source {
                Some(source) => source == topic,
                None => self
                    .targets
                    .iter()
                    .any(|known| known.topic == target && known.sources.contains(&topic)),
            };
            if let (true, Some(watch)) = (leads, self.watches.get_mut(at)) {
                watch.waiting.push_back(number);
                if watch.waiting.len() > MOST_WAITING {
                    watch.waiting.pop_front();
                    self.counters.unwatched += 1;
                }
            }
        }
    }

    /// Says which sources had no target in time, and where they got stuck.
    pub(super) fn run_timers(&mut self) {
        for at in 0..self.watches.len() {
            while let Some(number) = self.due(at) {
                self.time_out(at, number);
            }
        }
    }

    /// Takes the first source out whose time is over.
    fn due(&mut self, at: usize) -> Option<u64> {
        let watch = self.watches.get_mut(at)?;
        let number = *watch.waiting.front()?;
        let arrived = self.store.get(number).map(|message| message.arrived);
        let limit = i64::try_from(watch.limit).unwrap_or(i64::MAX);
        let over = arrived.is_none_or(|arrived| self.now.saturating_sub(arrived) >= limit);
        if over {
            watch.waiting.pop_front();
        }
        over.then_some(number)
    }

    fn time_out(&mut self, at: usize, number: u64) {
        let Some((watch, message)) = self.watches.get(at).zip(self.store.get(number)) else {
            return;
        };
        let place = self
            .targets
            .iter()
            .position(|target| target.topic == watch.target);
        let newest = place
            .and_then(|place| self.targets.get(place))
            .and_then(|target| target.newest_reached.get(&message.topic));
        // It or a newer one arrived: nothing is stuck.
        if newest.is_some_and(|newest| *newest >= number) {
            return;
        }
        let missing = place.and_then(|place| self.where_it_ended(number, place).1);
        let missing = missing.unwrap_or(watch.target);
        let elapsed = Duration::from_nanos(self.now.saturating_sub(message.arrived));
        let event = DeadlineEvent {
            deadline: watch.deadline.name.clone(),
            target: watch.deadline.target.clone(),
            limit: watch.deadline.limit,
            found_by: FoundBy::Timer,
            stamp: None,
            at: message.published.ros.saturating_add(elapsed),
            sources: vec![SourceTiming {
                topic: self.topics.name(message.topic).to_owned(),
                stamp: message.stamp.map(Time::from_nanos),
                elapsed,
                is_overrun: true,
            }],
            missing_hop: Some(self.topics.name(missing).to_owned()),
        };
        if let Some(watch) = self.watches.get_mut(at) {
            watch.note(Some(FoundBy::Timer));
            watch.given_up.insert(number);
            if watch.given_up.len() > MOST_WAITING {
                watch.given_up.pop_first();
            }
        }
        self.emit(event);
    }
}
