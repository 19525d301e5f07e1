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
            let overrun = fresh.iter().any(|timing| timing.is_overrun);
            let sources = self.timings(&walk.sources, source, limit, end);
            let stamp = self.store.get(number).and_then(|message| message.stamp);
            let Some(watch) = self.watches.get_mut(at) else {
                continue;
            };
            watch.note(overrun.then_some(by));
            if overrun {
                let event = DeadlineEvent {
                    deadline: watch.deadline.name.clone(),
                    target: watch.deadline.target.clone(),
                    limit: watch.deadline.limit,
                    found_by: by,
                    stamp: stamp.map(Time::from_nanos),
                    at: end.moment.ros,
                    sources,
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
    ) -> Vec<SourceTiming> {
        let timings = numbers.iter().filter_map(|number| {
            let message = self.store.get(*number)?;
            if only.is_some_and(|topic| topic != message.topic) {
                return None;
            }
            let elapsed = self.clocks.elapsed(Self::point(message), end).ok()?.nanos;
            Some(SourceTiming {
                topic: self.topics.name(message.topic).to_owned(),
                stamp: message.stamp.map(Time::from_nanos),
                elapsed: Duration::from_nanos(i64::try_from(elapsed).unwrap_or(i64::MAX)),
                is_overrun: elapsed >= limit,
            })
        });
        timings.collect()
    }
}
