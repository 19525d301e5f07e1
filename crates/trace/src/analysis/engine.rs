mod deadline_check;
mod insert;
mod judge;
mod report_build;
mod timers;
mod walk;

use timeloom_time::{Ros, Time};

use super::clocks::{ClockDomain, Clocks};
use super::closed_loop::{Effort, LoopEnds};
use super::deadline::DeadlineEvent;
use super::deadlines::Deadlines;
use super::findings::{Finding, Findings};
use super::graph::TopicGraph;
use super::ledger::Ledger;
use super::message::{Message, Publication, SeenAs};
use super::names::Names;
use super::options::{AccountOf, AccountScope, EngineOptions, RecorderAccount};
use super::outcome::JudgeReason;
use super::path::Known;
use super::records::{FlowRecord, LinkRecord, Records};
use super::scope::Scope;
use super::sequence::Sequences;
use super::store::Store;
use super::targets::Targets;
use super::topic_marks::TopicMarks;
use super::waiting::Waiting;
use crate::moment::Moment;
use crate::published_time::PublishedTime;
use crate::tag::TagView;

/// Old messages are removed each time this many were added.
const SWEEP: u64 = 1024;

/// The analysis: takes publications in any order, and computes latencies, outcomes and missed deadlines.
///
/// It keeps a bounded number of messages. `now` is the engine's time line: nanoseconds of any monotonic clock, such as
/// the steady clock, or the log time of a bag.
///
/// ```
/// use timeloom_time::{Duration, Time};
/// use timeloom_trace::{Engine, EngineOptions, Evidence, Input, Moment, Publication};
///
/// let mut engine = Engine::new(EngineOptions::default());
/// let ms = |ms: i64| Moment::from_nanos(ms * 1_000_000, ms * 1_000_000);
/// for cycle in 1..=10 {
///     let (start, stamp) = (cycle * 100, Some(Time::from_nanos(cycle)));
///     let (node, sequence, published) = ("/camera", None, ms(start));
///     engine.publication(&Publication { topic: "/image", node, sequence, stamp, published, inputs: &[] }, start);
///     let input = Input { topic: "/image", stamp, received: ms(start + 2), arrived: None, evidence: Evidence::Tag };
///     let (node, published) = ("/detector", ms(start + 20));
///     engine.publication(&Publication { topic: "/objects", node, sequence, stamp, published, inputs: &[input] }, start);
/// }
/// let report = engine.report();
/// assert_eq!(report.targets[0].paths[0].best.max_ns, 20_000_000);
/// ```
#[derive(Debug)]
pub struct Engine {
    scope: Scope,
    /// Time for which messages are kept after their last use, in nanoseconds.
    keep: i64,
    most_messages: usize,
    topics: Names,
    nodes: Names,
    clocks: Clocks,
    store: Store,
    graph: TopicGraph,
    marks: TopicMarks,
    sequences: Sequences,
    loops: LoopEnds,
    targets: Targets,
    waiting: Waiting,
    ledger: Ledger,
    deadlines: Deadlines,
    records: Records,
    findings: Findings,
    /// Tags and messages so far.
    received: Received,
    now: i64,
    started: Option<i64>,
}

#[derive(Debug, Default)]
struct Received {
    tags: u64,
    messages: u64,
}

impl Engine {
    /// An engine without messages.
    pub fn new(options: EngineOptions) -> Self {
        let mut topics = Names::default();
        Self {
            scope: Scope::new(&options, &mut topics),
            deadlines: Deadlines::new(&options.deadlines, &mut topics),
            topics,
            keep: options.keep.nanos(),
            most_messages: options.messages,
            clocks: Clocks::new(options.domains),
            records: Records::new(options.records),
            nodes: Names::default(),
            store: Store::default(),
            graph: TopicGraph::default(),
            marks: TopicMarks::default(),
            sequences: Sequences::default(),
            loops: LoopEnds::default(),
            targets: Targets::default(),
            waiting: Waiting::default(),
            ledger: Ledger::default(),
            findings: Findings::default(),
            received: Received::default(),
            now: i64::MIN,
            started: None,
        }
    }

    /// Takes hosts of a merged bag into account, unless the options declare others. Call it before anything else.
    pub(crate) fn declare_hosts(&mut self, hosts: Vec<ClockDomain>) {
        self.clocks.declare(hosts);
    }

    /// Takes a tag that was received at `now`.
    pub fn tag(&mut self, tag: &TagView<'_>, now: i64) {
        tag.with_publication(|publication| self.tagged_publication(publication, now));
    }

    /// Takes the publication of a tag.
    pub(crate) fn tagged_publication(&mut self, publication: &Publication<'_>, now: i64) {
        self.received.tags += 1;
        self.publication(publication, now);
    }

    /// Takes a publication with its links.
    pub fn publication(&mut self, publication: &Publication<'_>, now: i64) {
        self.advance(now);
        self.insert(publication, SeenAs::Tag);
    }

    /// Takes a message of a main topic, which may have a tag or not.
    pub fn message(&mut self, topic: &str, stamp: Option<Time<Ros>>, published: Moment, now: i64) {
        self.received.messages += 1;
        self.advance(now);
        let publication = Publication {
            topic,
            node: "",
            sequence: None,
            stamp,
            published,
            inputs: &[],
        };
        self.insert(&publication, SeenAs::Message);
    }

    /// Takes Autoware's publish time of a message of a main topic.
    pub fn published_time(&mut self, topic: &str, note: PublishedTime, now: i64) {
        self.advance(now);
        let publication = Publication {
            topic,
            node: "",
            sequence: None,
            stamp: Some(note.stamp),
            published: Moment {
                ros: note.published,
                ..Moment::UNKNOWN
            },
            inputs: &[],
        };
        self.insert(&publication, SeenAs::PublishTime);
    }

    /// Declares that messages or tags of a topic will follow: outputs that name them wait. A topic that only appears as
    /// an input counts from its reception.
    pub fn expect_topic(&mut self, topic: &str) {
        let topic = self.topics.number(topic);
        self.marks.publish(topic);
    }

    /// Reports a message that a subscriber did not receive, by a sequence gap.
    pub fn lost_in_transport(&mut self, topic: &str, stamp: Time<Ros>) {
        let topic = self.topics.number(topic);
        let found = self.store.with_stamp(topic, stamp.nanos()).next();
        if let Some(number) = found {
            self.ledger.lose(number);
        }
    }

    /// Adds the account of a recorder for the messages or the tags of a main topic.
    pub fn recorder_account(
        &mut self,
        topic: &str,
        of: AccountOf,
        account: RecorderAccount,
        scope: AccountScope,
    ) {
        let topic = self.topics.number(topic);
        self.ledger.set_account(topic, of, account, scope);
    }

    /// Advances the time line: deadlines expire, and old messages are dropped.
    pub fn advance(&mut self, now: i64) {
        self.started.get_or_insert(now);
        self.now = self.now.max(now);
        self.run_timers();
        self.retire();
    }

    /// Takes the deadlines that were missed since the last call.
    pub fn take_events(&mut self) -> Vec<DeadlineEvent> {
        self.deadlines.take_events()
    }

    /// Ends the data: flows that wait for late tags are counted, and links that were not found are recorded. Records need
    /// it, a report does not.
    pub fn finish(&mut self) {
        self.loops.refresh(&self.graph, Effort::Full);
        for place in 0..self.targets.len() {
            self.refresh(place);
            let topic = self.targets.get(place).map(super::targets::Target::topic);
            if topic.is_some_and(|topic| self.is_target(topic)) {
                self.finish_target(place);
            }
        }
        for number in self.store.young() {
            self.record_unresolved(number);
        }
    }

    fn finish_target(&mut self, place: usize) {
        let known = Known {
            store: &self.store,
            clocks: &self.clocks,
            topics: &self.topics,
            nodes: &self.nodes,
        };
        if let Some(target) = self.targets.get_mut(place) {
            target.finish(known, &mut self.records);
        }
    }

    /// Takes the links that were recorded since the last call.
    pub fn take_links(&mut self) -> Vec<LinkRecord> {
        self.records.take_links()
    }

    /// Takes the flows that were recorded since the last call.
    pub fn take_flows(&mut self) -> Vec<FlowRecord> {
        self.records.take_flows()
    }

    /// Messages in memory.
    pub fn remembered(&self) -> usize {
        self.store.len()
    }

    fn is_source(&self, topic: u32) -> bool {
        self.scope.ends().contains(&topic) || self.graph.inputs(topic).is_empty()
    }

    fn is_target(&self, topic: u32) -> bool {
        is_target(
            &self.scope,
            &self.deadlines,
            &self.graph,
            &self.loops,
            topic,
        )
    }

    fn refresh_ends(&mut self) {
        let (scope, deadlines) = (&self.scope, &self.deadlines);
        let (graph, loops) = (&self.graph, &self.loops);
        let is_target = |topic| is_target(scope, deadlines, graph, loops, topic);
        self.targets.refresh_ends(graph.version(), is_target);
    }

    /// Drops messages that are old and not in use, or too many; the outcome of each is decided before.
    fn retire(&mut self) {
        let keep = self.keep;
        let is_old = |message: &Message, now: i64| now.saturating_sub(message.last_used()) > keep;
        while let Some((number, message)) = self.store.oldest() {
            let too_many = self.store.len() > self.most_messages;
            let old = self.now.saturating_sub(message.arrived) > keep;
            if !old && !too_many {
                break;
            }
            let newest = self.store.newest(message.topic) == Some(number);
            let in_use = newest || (old && !is_old(message, self.now));
            let room = self.store.old_len() < self.most_messages / 4;
            if !old {
                self.findings.add(Finding::Expired);
            }
            let occasion = if old {
                JudgeReason::Old
            } else {
                JudgeReason::NoRoom
            };
            self.judge(number, occasion);
            self.record_unresolved(number);
            self.remember_stand_in(number);
            self.waiting.forget(number);
            self.ledger.forget(number);
            self.store.retire_oldest(in_use && room);
            if number % SWEEP == 0 {
                self.sweep(&is_old);
            }
        }
    }

    /// Drops old messages that are no longer used, and waits for dropped targets.
    fn sweep(&mut self, is_old: &dyn Fn(&Message, i64) -> bool) {
        let gone: Vec<u64> = self
            .store
            .old()
            .filter(|(number, message)| {
                is_old(message, self.now) && self.store.newest(message.topic) != Some(*number)
            })
            .map(|(number, _)| number)
            .collect();
        for number in gone {
            self.store.drop_old(number);
        }
        self.waiting.sweep();
    }

    /// Keeps a message that is known only by its outputs: its tag may still arrive.
    fn remember_stand_in(&mut self, number: u64) {
        let message = self.store.get(number);
        let stand_in = message.filter(|it| it.is_named_only() || it.is_assumed());
        if let Some((topic, stamp)) = stand_in.and_then(|it| Some((it.topic, it.stamp?))) {
            self.ledger.remember_stand_in(topic, stamp);
        }
    }
}

/// Whether paths end at a topic.
fn is_target(
    scope: &Scope,
    deadlines: &Deadlines,
    graph: &TopicGraph,
    loops: &LoopEnds,
    topic: u32,
) -> bool {
    scope.is_target(topic).unwrap_or_else(|| {
        let is_end = !graph.is_used(topic) && !graph.inputs(topic).is_empty();
        is_end || deadlines.has_target(topic) || loops.contains(topic)
    })
}
