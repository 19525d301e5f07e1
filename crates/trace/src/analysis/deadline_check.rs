//! Deadlines of targets that came.

use timeloom_time::{Duration, Time};

use super::clocks::Point;
use super::deadline::{DeadlineEvent, FoundBy, SourceTiming};
use super::engine::Engine;
use super::walk::Walk;

impl Engine {
    /// Checks all deadlines of a target's message for the sources that are new, and tells which were missed.
    pub(super) fn check_deadlines(
        &mut self,
        number: u64,
        topic: u32,
        new: &[u64],
        walk: &Walk,
        by: FoundBy,
    ) {
        let Some(end) = self.published(number) else {
            return;
        };
        for at in 0..self.watches.len() {
            let watched = self.watches.get(at).filter(|watch| watch.target == topic);
            let Some((source, limit)) = watched.map(|watch| (watch.source, watch.limit)) else {
                continue;
            };
            let fresh = self.timings(new, source, limit, end);
            if fresh.is_empty() {
                continue;
            }
            let late = fresh.iter().filter(|(_, timing)| timing.is_overrun);
            let late: Vec<u64> = late.map(|(number, _)| *number).collect();
            let sources = self.timings(&walk.sources, source, limit, end);
            let stamp = self.store.get(number).and_then(|message| message.stamp);
            let Some(watch) = self.watches.get_mut(at) else {
                continue;
            };
            let given_up = late.iter().filter(|late| watch.given_up.remove(late));
            if given_up.count() > 0 {
                watch.came_after_all(by);
            } else {
                watch.note((!late.is_empty()).then_some(by));
            }
            if !late.is_empty() {
                let event = DeadlineEvent {
                    deadline: watch.deadline.name.clone(),
                    target: watch.deadline.target.clone(),
                    limit: watch.deadline.limit,
                    found_by: by,
                    stamp: stamp.map(Time::from_nanos),
                    at: end.moment.ros,
                    sources: sources.into_iter().map(|(_, timing)| timing).collect(),
                    missing_hop: None,
                };
                self.emit(event);
            }
        }
    }

    /// How long each of these sources took, as far as its clock can be believed.
    fn timings(
        &self,
        numbers: &[u64],
        only: Option<u32>,
        limit: u64,
        end: Point,
    ) -> Vec<(u64, SourceTiming)> {
        let timings = numbers.iter().filter_map(|number| {
            let message = self.store.get(*number)?;
            if only.is_some_and(|topic| topic != message.topic) {
                return None;
            }
            let elapsed = self.clocks.elapsed(Self::point(message), end).ok()?.nanos;
            let timing = SourceTiming {
                topic: self.topics.name(message.topic).to_owned(),
                stamp: message.stamp.map(Time::from_nanos),
                elapsed: Duration::from_nanos(i64::try_from(elapsed).unwrap_or(i64::MAX)),
                is_overrun: elapsed >= limit,
            };
            Some((*number, timing))
        });
        timings.collect()
    }
}
