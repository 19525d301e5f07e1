use std::collections::VecDeque;

use timeloom_time::Duration;

use super::deadline::{Deadline, DeadlineEvent, Watch};
use super::names::Names;
use super::report::DeadlineReport;

/// Limit of the queued events; older ones are dropped and counted.
const MOST_EVENTS: usize = 10_000;

/// All deadlines, and the events that were not taken yet.
#[derive(Debug)]
pub(super) struct Deadlines {
    watches: Vec<Watch>,
    events: VecDeque<DeadlineEvent>,
    dropped: u64,
    unwatched: u64,
}

impl Deadlines {
    pub(super) fn new(deadlines: &[Deadline], names: &mut Names) -> Self {
        let real = deadlines.iter().filter(|it| it.limit > Duration::ZERO);
        let watches = real.map(|deadline| {
            let source = deadline.source.as_deref().map(|name| names.number(name));
            let via = deadline.via.iter().map(|name| names.number(name));
            let via = via.collect();
            Watch::new(deadline, source, via, names.number(&deadline.target))
        });
        Self {
            watches: watches.collect(),
            events: VecDeque::new(),
            dropped: 0,
            unwatched: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.watches.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&Watch> {
        self.watches.get(at)
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Watch> {
        self.watches.get_mut(at)
    }

    pub(super) fn has_target(&self, topic: u32) -> bool {
        self.watches.iter().any(|watch| watch.target() == topic)
    }

    /// Starts the time of a source's message for each deadline that it belongs to.
    pub(super) fn start(&mut self, number: u64, belongs: impl Fn(&Watch) -> bool) {
        for watch in self.watches.iter_mut().filter(|watch| belongs(watch)) {
            self.unwatched += u64::from(!watch.start(number));
        }
    }

    pub(super) fn emit(&mut self, event: DeadlineEvent) {
        if self.events.len() >= MOST_EVENTS {
            self.events.pop_front();
            self.dropped += 1;
        }
        self.events.push_back(event);
    }

    pub(super) fn take_events(&mut self) -> Vec<DeadlineEvent> {
        self.events.drain(..).collect()
    }

    pub(super) fn reports(&self) -> Vec<DeadlineReport> {
        self.watches.iter().map(Watch::report).collect()
    }

    /// Events that were dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Messages of sources that were not watched, because there were too many.
    pub(super) fn unwatched(&self) -> u64 {
        self.unwatched
    }
}
