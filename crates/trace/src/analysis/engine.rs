use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use timeloom_time::{Duration, Ros, Time};

use super::clocks::Clocks;
use super::closed_loop::closed_loops;
use super::deadline::{DeadlineEvent, Watch};
use super::graph::TopicGraph;
use super::ledger::Ledger;
use super::message::{Message, Publication, Told};
use super::names::{Names, index};
use super::options::{AccountOf, AccountScope, EngineOptions, RecorderAccount};
use super::outcome::Occasion;
use super::path::Known;
use super::records::{FlowRecord, LinkRecord, Records};
use super::sequence::Sequences;
use super::store::Store;
use super::targets::{Target, Targets};
use super::waiting::Waiting;
use crate::moment::Moment;
use crate::published_time::PublishedTime;
use crate::tag::TagView;

/// Events that nobody takes are dropped beyond this, and counted.
const MOST_EVENTS: usize = 10_000;
/// Old messages are looked through each time so many were added.
const SWEEP: u64 = 1024;
/// Up to so many links between topics, closed loops are looked for at each new one; beyond, at every eighth part more.
const FEW_LINKS: u64 = 1024;

/// The analysis: publications in, in any order; a report, deadlines and outcomes out.
///
/// It holds a bounded number of messages, whatever comes. Times "on our own time line" are nanoseconds of any clock
/// that goes forward: the steady clock when live, the log time of a bag.
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
    pub(super) options: EngineOptions,
    pub(super) topics: Names,
    pub(super) nodes: Names,
    pub(super) clocks: Clocks,
    pub(super) store: Store,
    pub(super) graph: TopicGraph,
    pub(super) sequences: Sequences,
    /// Topics that something was published on.
    pub(super) seen: Vec<bool>,
    /// Topics that have tags.
    pub(super) tagged: Vec<bool>,
    /// Topics that paths do not go through.
    pub(super) ends: HashSet<u32>,
    /// What a topic without tags is made of, by equal stamps.
    pub(super) skips: HashMap<u32, u32>,
    pub(super) ignored: HashSet<u32>,
    pub(super) wanted: HashSet<u32>,
    /// Segments that are wanted: from, to.
    pub(super) segments: Vec<(u32, u32)>,
    /// Topics from which wanted segments begin.
    pub(super) begins: HashSet<u32>,
    /// The ends of loops that nothing leaves, and the topics of each.
    pub(super) loop_ends: BTreeMap<u32, Vec<u32>>,
    loops_version: u64,
    pub(super) targets: Targets,
    /// The places of targets at which paths really end, as of this version of the graph and number of targets.
    ends_at: Vec<usize>,
    ends_version: (u64, usize),
    pub(super) waiting: Waiting,
    pub(super) ledger: Ledger,
    pub(super) watches: Vec<Watch>,
    events: VecDeque<DeadlineEvent>,
    pub(super) records: Records,
    pub(super) counters: Counters,
    pub(super) now: i64,
    pub(super) started: Option<i64>,
    pub(super) walks: u64,
}

/// What happened, in numbers.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counters {
    pub(super) tags: u64,
    pub(super) messages: u64,
    pub(super) expired: u64,
    pub(super) events_dropped: u64,
    pub(super) repeated: u64,
    pub(super) unnamed: u64,
    pub(super) assumed: u64,
    pub(super) duplicates: u64,
    pub(super) unwatched: u64,
}

impl Engine {
    /// An engine that has heard nothing yet.
    pub fn new(options: EngineOptions) -> Self {
        let mut topics = Names::default();
        let mut numbers = |names: &[String]| -> HashSet<u32> {
            names.iter().map(|name| topics.number(name)).collect()
        };
        let mut ends = numbers(&options.sources);
        ends.extend(numbers(&options.stops));
        let (ignored, wanted) = (numbers(&options.ignored), numbers(&options.targets));
        let segments = options.segments.iter();
        let segments: Vec<(u32, u32)> = segments
            .map(|(from, to)| (topics.number(from), topics.number(to)))
            .collect();
        let skips = options.skips.iter();
        let skips: HashMap<u32, u32> = skips
            .map(|(output, input)| (topics.number(output), topics.number(input)))
            .collect();
        let real = options
            .deadlines
            .iter()
            .filter(|deadline| deadline.limit > Duration::ZERO);
        let watches = real.map(|deadline| {
            let source = deadline.source.as_deref().map(|name| topics.number(name));
            let via = deadline.via.iter().map(|name| topics.number(name));
            let via = via.collect();
            Watch::new(deadline, source, via, topics.number(&deadline.target))
        });
        Self {
            watches: watches.collect(),
            clocks: Clocks::new(&options.domains),
            topics,
            ends,
            skips,
            ignored,
            wanted,
            begins: segments.iter().map(|(from, _)| *from).collect(),
            segments,
            records: Records::new(options.records),
            options,
            nodes: Names::default(),
            store: Store::default(),
            graph: TopicGraph::default(),
            sequences: Sequences::default(),
            seen: Vec::new(),
            tagged: Vec::new(),
            loop_ends: BTreeMap::new(),
            loops_version: 0,
            targets: Targets::default(),
            ends_at: Vec::new(),
            ends_version: (0, 0),
            waiting: Waiting::default(),
            ledger: Ledger::default(),
            events: VecDeque::new(),
            counters: Counters::default(),
            now: i64::MIN,
            started: None,
            walks: 0,
        }
    }

    /// Takes a tag that came at `now` on our own time line.
    pub fn tag(&mut self, tag: &TagView<'_>, now: i64) {
        tag.with_publication(|publication| self.tagged_publication(publication, now));
    }

    /// The same for a tag that was made a publication already.
    pub fn tagged_publication(&mut self, publication: &Publication<'_>, now: i64) {
        self.counters.tags += 1;
        self.publication(publication, now);
    }

    /// Takes what was published, with its links, at `now` on our own time line.
    pub fn publication(&mut self, publication: &Publication<'_>, now: i64) {
        self.advance(now);
        self.insert(publication, Told::Tag);
    }

    /// Takes a message of a main topic that is known by itself only: it may have a tag, or not.
    pub fn message(&mut self, topic: &str, stamp: Option<Time<Ros>>, published: Moment, now: i64) {
        self.counters.messages += 1;
        self.advance(now);
        let publication = Publication {
            topic,
            node: "",
            sequence: None,
            stamp,
            published,
            inputs: &[],
        };
        self.insert(&publication, Told::Message);
    }

    /// Takes Autoware's note of when a message of a main topic was published.
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
        self.insert(&publication, Told::Note);
    }

    /// Says that something of a topic will come: what is made of it before then waits for it. Without, a topic that
    /// only ever appears as an input counts from its reception.
    pub fn expect_topic(&mut self, topic: &str) {
        let topic = self.topics.number(topic);
        set(&mut self.seen, topic);
    }

    /// Says that a subscriber did not get a message, as sequence gaps tell.
    pub fn lost_in_transport(&mut self, topic: &str, stamp: Time<Ros>) {
        let topic = self.topics.number(topic);
        let found = self.store.with_stamp(topic, stamp.nanos()).next();
        if let Some(number) = found {
            self.ledger.lose(number);
        }
    }

    /// Says what a recorder noted of a main topic: of its messages, or of its tags.
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

    /// Says what time it is on our own time line: deadlines run out, and old messages are forgotten.
    pub fn advance(&mut self, now: i64) {
        self.started.get_or_insert(now);
        self.now = self.now.max(now);
        self.run_timers();
        self.retire();
    }

    /// Takes the deadlines that were missed since the last call.
    pub fn take_events(&mut self) -> Vec<DeadlineEvent> {
        self.events.drain(..).collect()
    }

    /// Says that the data has ended: flows that wait for late tags are counted, and links that were not found are
    /// recorded. A report needs no such end; records do.
    pub fn finish(&mut self) {
        self.find_closed_loops(Effort::Full);
        for place in 0..self.targets.len() {
            self.refresh(place);
            let topic = self.targets.get(place).map(Target::topic);
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

    /// How many messages are remembered now.
    pub fn remembered(&self) -> usize {
        self.store.len()
    }

    pub(super) fn emit(&mut self, event: DeadlineEvent) {
        if self.events.len() >= MOST_EVENTS {
            self.events.pop_front();
            self.counters.events_dropped += 1;
        }
        self.events.push_back(event);
    }

    pub(super) fn is_source(&self, topic: u32) -> bool {
        self.ends.contains(&topic) || self.graph.inputs(topic).is_empty()
    }

    pub(super) fn is_target(&self, topic: u32) -> bool {
        if !self.wanted.is_empty() {
            return self.wanted.contains(&topic);
        }
        let watched = self.watches.iter().any(|watch| watch.target() == topic);
        let is_end = !self.graph.is_used(topic) && !self.graph.inputs(topic).is_empty();
        watched || is_end || self.loop_ends.contains_key(&topic)
    }

    /// The places of the targets at which paths end; others were only taken for ends until something was made of them.
    pub(super) fn ends_at(&mut self) -> Vec<usize> {
        let version = (self.graph.version, self.targets.len());
        if self.ends_version != version {
            self.ends_version = version;
            let all = self.targets.iter().enumerate();
            let ends = all.filter(|(_, target)| self.is_target(target.topic()));
            self.ends_at = ends.map(|(place, _)| place).collect();
        }
        std::mem::take(&mut self.ends_at)
    }

    /// Gives the places back.
    pub(super) fn keep_ends(&mut self, ends: Vec<usize>) {
        self.ends_at = ends;
    }

    /// Looks for loops that nothing leaves, if the graph has changed: paths end in them.
    pub(super) fn find_closed_loops(&mut self, effort: Effort) {
        let (version, last) = (self.graph.version, self.loops_version);
        let is_due = version < FEW_LINKS || version >= last + last / 8;
        if version == last || (effort == Effort::Bounded && !is_due) {
            return;
        }
        self.loops_version = version;
        let loops = closed_loops(&self.graph).into_iter();
        self.loop_ends = loops.map(|one| (one.end, one.topics)).collect();
    }

    /// Forgets what is old and not in use, or too much; each message is judged once, before it goes.
    fn retire(&mut self) {
        let keep = self.options.keep.nanos();
        let is_old = |message: &Message, now: i64| {
            let used = message.arrived.max(message.used_at);
            now.saturating_sub(used) > keep
        };
        while let Some((number, message)) = self.store.oldest() {
            let too_many = self.store.len() > self.options.messages;
            let old = self.now.saturating_sub(message.arrived) > keep;
            if !old && !too_many {
                break;
            }
            let newest = self.store.newest(message.topic) == Some(number);
            let in_use = newest || (old && !is_old(message, self.now));
            let room = self.store.old_len() < self.options.messages / 4;
            if !old {
                self.counters.expired += 1;
            }
            let occasion = if old { Occasion::Old } else { Occasion::NoRoom };
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

    /// Forgets old messages that nothing is made of any more, and what waits for nothing.
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

    /// Remembers a message that was judged without having come itself: its tag may come later than all that is kept.
    fn remember_stand_in(&mut self, number: u64) {
        let message = self.store.get(number);
        let stand_in = message.filter(|it| it.is_named_only() || it.is_assumed());
        if let Some((topic, stamp)) = stand_in.and_then(|it| Some((it.topic, it.stamp?))) {
            self.ledger.remember_stand_in(topic, stamp);
        }
    }
}

/// How hard to look for something at every new link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// Not at each of very many.
    Bounded,
    /// Always.
    Full,
}

/// Sets the mark of a topic.
pub(super) fn set(marks: &mut Vec<bool>, topic: u32) {
    let place = index(topic);
    if marks.len() <= place {
        marks.resize(place + 1, false);
    }
    if let Some(mark) = marks.get_mut(place) {
        *mark = true;
    }
}
