//! Deadlines of targets that arrived.

use std::collections::HashSet;

use timeloom_time::{Duration, Time};

use super::Engine;
use super::walk::Walk;
use crate::analysis::clocks::Point;
use crate::analysis::deadline::{DeadlineEvent, FoundBy, SourceTiming};
use crate::analysis::message::NO_MESSAGE;
use crate::analysis::waiting::Pending;

impl Engine {
    /// Checks all deadlines of a target's message for its new sources, and emits missed ones.
    pub(super) fn check_deadlines(
        &mut self,
        number: u64,
        place: usize,
        new: &[u64],
        walk: &Walk,
        pending: &mut Pending,
        by: FoundBy,
    ) {
        let Some(end) = self.store.get(number) else {
            return;
        };
        let (topic, stamp, end) = (end.topic, end.stamp, end.point());
        for at in 0..self.deadlines.len() {
            let Some(watch) = self.deadlines.get(at).filter(|it| it.target() == topic) else {
                continue;
            };
            let limit = watch.limit();
            let (sources, fresh) = match watch.source() {
                Some(source) => {
                    let sources = self.sources_via(number, place, source, watch.via());
                    let checked = pending.checked.entry(at).or_default();
                    let fresh = sources.iter().filter(|source| !checked.contains(source));
                    let fresh: Vec<u64> = fresh.copied().collect();
                    checked.extend(&fresh);
                    (sources, fresh)
                }
                None => (walk.sources.clone(), new.to_vec()),
            };
            self.reach(at, &fresh, &walk.named);
            let fresh = self.timings(&fresh, limit, end);
            if fresh.is_empty() {
                continue;
            }
            let late = fresh.iter().filter(|(_, timing)| timing.is_overrun);
            let late: Vec<u64> = late.map(|(number, _)| *number).collect();
            let sources = self.timings(&sources, limit, end);
            let Some(watch) = self.deadlines.get_mut(at) else {
                continue;
            };
            watch.check(&late, by);
            if !late.is_empty() {
                let event = DeadlineEvent {
                    stamp: stamp.map(Time::from_nanos),
                    sources: sources.into_iter().map(|(_, timing)| timing).collect(),
                    ..watch.event(by, end.moment.ros)
                };
                self.deadlines.emit(event);
            }
        }
    }

    /// Records for a deadline which sources a target was made of.
    fn reach(&mut self, at: usize, sources: &[u64], named: &[u64]) {
        let Some(watch) = self.deadlines.get_mut(at) else {
            return;
        };
        let named = named.iter().filter(|_| watch.via().is_empty());
        let all: Vec<u64> = sources.iter().chain(named).copied().collect();
        for number in all {
            if let Some(message) = self.store.get(number) {
                watch.reach(message.topic, (message.order, number));
            }
        }
    }

    /// The messages of a topic that a target's message was made of through these topics, in this order.
    fn sources_via(&self, start: u64, place: usize, source: u32, via: &[u32]) -> Vec<u64> {
        let mut found = Vec::new();
        // A message, and the number of topics in between that were not met yet.
        let mut stack = vec![(start, via.len())];
        let mut seen = HashSet::new();
        while let Some((number, mut left)) = stack.pop() {
            let Some(message) = self
                .store
                .get(number)
                .filter(|_| seen.insert((number, left)))
            else {
                continue;
            };
            if message.topic == source && number != start {
                if left == 0 && !found.contains(&number) {
                    found.push(number);
                }
                continue;
            }
            if left > 0 && via.get(left - 1) == Some(&message.topic) {
                left -= 1;
            }
            let target = self.targets.get(place);
            let links = message.links.iter().filter(|link| {
                let is_cut = target.is_some_and(|it| it.is_cut(link.topic, message.topic));
                link.message != NO_MESSAGE && !is_cut
            });
            let is_end = self.scope.ends().contains(&message.topic) && number != start;
            if !is_end {
                stack.extend(links.map(|link| (link.message, left)));
            }
        }
        found
    }

    /// The duration of each of these sources, if its clock is consistent.
    fn timings(&self, numbers: &[u64], limit: u64, end: Point) -> Vec<(u64, SourceTiming)> {
        let timings = numbers.iter().filter_map(|number| {
            let message = self.store.get(*number)?;
            let elapsed = self.clocks.elapsed(message.point(), end).ok()?.nanos;
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
