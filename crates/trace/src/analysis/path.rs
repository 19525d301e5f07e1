//! The statistics of one path.

use std::collections::VecDeque;

use super::clocks::{Clocks, Elapsed, Point};
use super::flow::{Flow, FlowStep};
use super::histogram::Histogram;
use super::hop::nanos;
use super::message::{Key, Message};
use super::names::Names;
use super::records::{FlowRecord, Records};
use super::store::Store;

/// Flows are counted in the order of their targets' publication: they wait this long for tags out of order.
const REORDER: i64 = 2_000_000_000;
/// Limit of the waiting flows.
const MOST_HELD: usize = 256;

/// Tables that are used while flows are counted.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) store: &'a Store,
    pub(super) clocks: &'a Clocks,
    pub(super) topics: &'a Names,
    pub(super) nodes: &'a Names,
}

/// The statistics of one path: a sequence of topics from a source to a target.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    topics: Vec<u32>,
    /// CARET's best case: from a source's message to the first target that is made of it.
    pub(super) best: Histogram,
    /// CARET's worst case: from the oldest message since the one before, dropped on the way or not.
    pub(super) worst: Histogram,
    /// CARET's worst case with the external latency, also the reaction time: from the message before.
    pub(super) reaction: Histogram,
    /// All of a source's messages, each to the first target that is made of it.
    pub(super) all: Histogram,
    /// The age of the data in each target's message.
    pub(super) age: Histogram,
    /// The age of the data when the next target replaces it.
    pub(super) age_at_end: Histogram,
    /// The largest known error bound of a latency between hosts.
    pub(super) bound: u64,
    /// Latencies between hosts without a clock comparison.
    pub(super) unbounded: u64,
    /// Number of latencies that were negative or across a jump.
    pub(super) suspicious: u64,
    hops: Vec<HopSums>,
    /// Flows that are not counted yet, by the publication of their targets.
    held: VecDeque<Completed>,
    last_target: Option<Key>,
    last_source: Option<(Key, Point)>,
    slowest: Option<(u64, Flow)>,
    slowest_seen: u64,
}

/// A target's message whose path is known.
#[derive(Clone, Debug)]
pub(super) struct Completed {
    pub(super) target: Key,
    pub(super) end: Point,
    pub(super) source: Key,
    pub(super) start: Point,
    pub(super) elapsed: Elapsed,
    /// From the oldest of several messages of the source.
    pub(super) oldest: Option<u64>,
    /// The messages from target to source, and the link that leads on from each.
    pub(super) chain: Vec<(u64, usize)>,
}

/// The total durations of one hop of a path.
#[derive(Clone, Copy, Debug, Default)]
struct HopSums {
    total: Sum,
    transport: Sum,
    queue: Sum,
    node: Sum,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    nanos: u64,
    count: u64,
}

/// The average durations of one hop of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HopMeans {
    pub(super) total: Option<u64>,
    pub(super) transport: Option<u64>,
    pub(super) queue: Option<u64>,
    pub(super) node: Option<u64>,
}

impl Sum {
    fn add(&mut self, nanos: u64) {
        self.nanos = self.nanos.saturating_add(nanos);
        self.count += 1;
    }

    fn mean(self) -> Option<u64> {
        self.nanos.checked_div(self.count)
    }
}

impl Path {
    pub(super) fn new(topics: Vec<u32>) -> Self {
        Self {
            hops: vec![HopSums::default(); topics.len().saturating_sub(1)],
            topics,
            ..Self::default()
        }
    }

    pub(super) fn topics(&self) -> &[u32] {
        &self.topics
    }

    pub(super) fn source(&self) -> Option<u32> {
        self.topics.first().copied()
    }

    /// The longest latency so far, including flows that are not counted yet.
    pub(super) fn slowest_seen(&self) -> u64 {
        self.slowest_seen
    }

    pub(super) fn slowest(&self) -> Option<&Flow> {
        self.slowest.as_ref().map(|(_, flow)| flow)
    }

    pub(super) fn hops(&self) -> impl Iterator<Item = HopMeans> + '_ {
        self.hops.iter().map(|sums| HopMeans {
            total: sums.total.mean(),
            transport: sums.transport.mean(),
            queue: sums.queue.mean(),
            node: sums.node.mean(),
        })
    }

    /// Adds a flow, and counts those that need not wait any longer.
    pub(super) fn add(
        &mut self,
        completed: Completed,
        now: i64,
        known: Known<'_>,
        records: &mut Records,
    ) {
        match completed.elapsed.bound {
            Some(bound) => self.bound = self.bound.max(bound),
            None => self.unbounded += 1,
        }
        self.age.add(completed.elapsed.nanos);
        self.slowest_seen = self.slowest_seen.max(completed.elapsed.nanos);
        let place = if self
            .held
            .back()
            .is_none_or(|last| last.target < completed.target)
        {
            self.held.len()
        } else {
            self.held
                .partition_point(|other| other.target < completed.target)
        };
        self.held.insert(place, completed);
        self.flush(now.saturating_sub(REORDER), MOST_HELD, known, records);
    }

    /// Counts all flows that wait.
    pub(super) fn finish(&mut self, known: Known<'_>, records: &mut Records) {
        self.flush(i64::MAX, 0, known, records);
    }

    /// A copy in which all flows are counted.
    pub(super) fn finished(&self, known: Known<'_>) -> Self {
        let mut copy = self.clone();
        copy.finish(known, &mut Records::default());
        copy
    }

    /// Counts the flows up to a time, and those above the limit.
    fn flush(&mut self, until: i64, most: usize, known: Known<'_>, records: &mut Records) {
        while let Some(next) = self.held.front() {
            if next.target.0 > until && self.held.len() <= most {
                return;
            }
            if let Some(next) = self.held.pop_front() {
                let is_first = self.count(&next, known);
                records.flow(|| self.record(&next, is_first, known));
            }
        }
    }

    /// Counts a flow; true if its target is the first that is made of its source's message.
    fn count(&mut self, flow: &Completed, known: Known<'_>) -> bool {
        // A target that was resolved late changes nothing after it.
        if self.last_target.is_some_and(|last| last >= flow.target) {
            return false;
        }
        self.last_target = Some(flow.target);
        let since = |start: Point| Some(known.clocks.elapsed(start, flow.end).ok()?.nanos);
        let last = self.last_source;
        let since_last = last.and_then(|(_, start)| since(start));
        if let Some(age) = since_last {
            self.age_at_end.add(age);
        }
        if last.is_some_and(|(last, _)| last >= flow.source) {
            return false;
        }
        self.last_source = Some((flow.source, flow.start));
        self.best.add(flow.elapsed.nanos);
        self.all.add(flow.elapsed.nanos);
        if let Some((last, _)) = last {
            let topic = self.topics.first().copied().unwrap_or_default();
            let oldest = known.store.next_of_topic(topic, last);
            let oldest = oldest.filter(|oldest| *oldest < flow.source);
            let oldest = oldest.and_then(|(_, number)| known.store.get(number));
            let start = oldest.map_or(flow.start, Message::point);
            if let Some(worst) = since(start) {
                self.worst.add(worst);
            }
        }
        if let Some(reaction) = since_last {
            self.reaction.add(reaction);
        }
        // Several messages of one topic: the others are flows too.
        if let Some(oldest) = flow.oldest {
            self.all.add(oldest);
        }
        self.count_hops(&flow.chain, known);
        let is_slowest = |(slowest, _): &(u64, Flow)| flow.elapsed.nanos > *slowest;
        if self.slowest.as_ref().is_none_or(is_slowest) {
            self.slowest = Some((flow.elapsed.nanos, steps(&flow.chain, known)));
        }
        true
    }

    fn count_hops(&mut self, chain: &[(u64, usize)], known: Known<'_>) {
        for (sums, pair) in self.hops.iter_mut().zip(chain.windows(2).rev()) {
            let &[(reader, at), (writer, _)] = pair else {
                continue;
            };
            let Some((message, from)) = known.store.get(reader).zip(known.store.get(writer)) else {
                continue;
            };
            let Some(link) = message.links.get(at) else {
                continue;
            };
            let parts = link.parts(message, Some(from), known.clocks);
            for (sum, part) in [
                (&mut sums.total, parts.total),
                (&mut sums.transport, parts.transport),
                (&mut sums.queue, parts.queue),
                (&mut sums.node, parts.node),
            ] {
                if let Some(nanos) = nanos(part) {
                    sum.add(nanos);
                }
            }
        }
    }

    fn record(&self, flow: &Completed, is_first: bool, known: Known<'_>) -> FlowRecord {
        let stamp = |number: u64| known.store.get(number).and_then(|message| message.stamp);
        let source = known.store.get(flow.source.1);
        FlowRecord {
            topics: names(&self.topics, known.topics),
            source_stamp_ns: stamp(flow.source.1),
            target_stamp_ns: stamp(flow.target.1),
            published: flow.end.moment,
            latency_ns: flow.elapsed.nanos,
            is_first,
            from_reception: source.is_some_and(Message::is_assumed),
        }
    }
}

fn names(topics: &[u32], names: &Names) -> Vec<String> {
    let names = topics.iter().map(|topic| names.name(*topic).to_owned());
    names.collect()
}

/// The messages of a chain as a flow, the source's first.
fn steps(chain: &[(u64, usize)], known: Known<'_>) -> Flow {
    let steps = chain.iter().rev().filter_map(|(number, at)| {
        let message = known.store.get(*number)?;
        let link = message.links.get(*at);
        Some(FlowStep {
            topic: known.topics.name(message.topic).to_owned(),
            node: known.nodes.name(message.node).to_owned(),
            stamp_ns: message.stamp,
            received: link.map(|link| link.received).unwrap_or_default(),
            published: message.published,
            evidence: link.map(|link| link.evidence),
        })
    });
    Flow {
        steps: steps.collect(),
    }
}
