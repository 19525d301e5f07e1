//! Stores publications and resolves their links.

use super::Engine;
use crate::analysis::clocks::{Placed, Point, Suspicion};
use crate::analysis::closed_loop::Effort;
use crate::analysis::evidence::Evidence;
use crate::analysis::findings::Finding;
use crate::analysis::hop::nanos;
use crate::analysis::message::{
    Link, Message, NO_MESSAGE, Publication, Records, SeenAs, UNNUMBERED,
};
use crate::analysis::names::Names;
use crate::analysis::records::{InputRecord, LinkRecord};
use crate::moment::Moment;

/// Messages without stamp that are searched for an input.
const LOOK_BACK: usize = 4096;

impl Engine {
    /// Stores a publication: resolves its links, evaluates it if it is a target, and evaluates waiting targets again.
    pub(super) fn insert(&mut self, publication: &Publication<'_>, seen_as: SeenAs) {
        let tagged = seen_as == SeenAs::Tag;
        let topic = self.topics.number(publication.topic);
        if self.scope.is_ignored(topic) {
            return;
        }
        let node = self.nodes.number(publication.node);
        let placed = self.place(publication, topic, node, publication.published);
        if tagged && self.is_repeated(publication, topic, node, placed) {
            self.findings.add(Finding::Repeated);
            return;
        }
        if let Some(sequence) = publication.sequence {
            self.sequences.add(topic, node, sequence, placed.order);
        }
        self.marks.publish(topic);
        if tagged {
            self.marks.tag(topic);
        }
        let stamp = publication.stamp.map(timeloom_time::Time::nanos);
        let (published, records) = (publication.published, Records::of(seen_as));
        let mut message = Message::new(topic, placed, published, self.now, records);
        message.node = node;
        message.stamp = stamp;
        message.sequence = publication.sequence.unwrap_or(UNNUMBERED);
        message.links = self.links(publication, topic, node);
        self.loops.refresh(&self.graph, Effort::Bounded);
        let recorded = self.records.links();
        for place in 0..message.links.len() {
            self.note_node(&message, place);
            self.resolve(&mut message, place, None);
        }
        if stamp.is_some_and(|stamp| self.ledger.is_judged(topic, stamp)) {
            // Its outputs arrived before, and its outcome was decided by them.
            return;
        }
        let Some(number) = self.file(message, seen_as) else {
            return;
        };
        self.records.set_message(recorded, number);
        self.adopt(number);
        if tagged && self.is_target(topic) {
            self.evaluate(number);
        }
        self.wake(topic, number);
        self.watch_source(topic, number);
    }

    /// The position in time, by the clocks of the publishing node.
    fn place(
        &mut self,
        publication: &Publication<'_>,
        topic: u32,
        node: u32,
        at: Moment,
    ) -> Placed {
        // Tags of TILDE have no node name: the topic identifies the node.
        let (key, name) = if publication.node.is_empty() {
            (topic | 1 << 31, publication.topic)
        } else {
            (node, publication.node)
        };
        self.clocks.place(key, name, at, self.now)
    }

    /// Whether a tag arrived before: one with its publisher, number, stamp and time is stored, or it is later than all
    /// stored ones and its number is known.
    fn is_repeated(
        &self,
        publication: &Publication<'_>,
        topic: u32,
        node: u32,
        placed: Placed,
    ) -> bool {
        let Some(sequence) = publication.sequence else {
            return false;
        };
        let stamp = publication.stamp.map(timeloom_time::Time::nanos);
        let is_same = |message: &Message| {
            message.is_tagged()
                && (message.node, message.sequence) == (node, sequence)
                && (message.stamp, message.published) == (stamp, publication.published)
        };
        let mut same_time = self.store.at(topic, placed.order);
        let is_here = same_time.any(|number| self.store.get(number).is_some_and(is_same));
        let is_old = placed.late > self.keep;
        is_here || (is_old && self.sequences.has(topic, node, sequence))
    }

    fn push(&mut self, message: Message) -> u64 {
        self.ledger.hear(message.topic);
        self.store.push(message)
    }

    /// Stores a message, or merges it with another record of it; `None` if nothing is new.
    fn file(&mut self, message: Message, seen_as: SeenAs) -> Option<u64> {
        let Some(stamp) = message.stamp else {
            return Some(self.push(message));
        };
        let twin = self.store.with_stamp(message.topic, stamp).find(|number| {
            let other = self.store.get(*number);
            other.is_some_and(|other| {
                let same_time = other.is_named_only() || other.epoch == message.epoch;
                !other.is_seen_as(seen_as) && same_time
            })
        });
        let Some(twin) = twin else {
            if self.store.with_stamp(message.topic, stamp).next().is_some() {
                self.findings.add(Finding::SharedStamp);
            }
            return Some(self.push(message));
        };
        let order = message.order;
        let known = self.store.get_mut(twin)?;
        let is_tagged = known.is_tagged();
        let is_new = known.is_named_only();
        known.add_record(seen_as);
        match seen_as {
            SeenAs::Tag => {
                known.take_over(message);
                self.store.reorder(twin, order);
                Some(twin)
            }
            _ if is_new => {
                known.take_over(message);
                self.store.reorder(twin, order);
                Some(twin)
            }
            SeenAs::PublishTime if !is_tagged => {
                known.published = message.published;
                self.store.reorder(twin, order);
                None
            }
            // A tag has more information.
            SeenAs::PublishTime | SeenAs::Message => None,
        }
    }

    fn links(&mut self, publication: &Publication<'_>, topic: u32, node: u32) -> Box<[Link]> {
        let mut links = Vec::with_capacity(publication.inputs.len());
        for input in publication.inputs {
            let named = self.topics.number(input.topic);
            let skipped = self.scope.skipped(named).filter(|_| input.stamp.is_some());
            let (from, evidence) = match skipped {
                Some(from) => (from, Evidence::Declared),
                None => (named, input.evidence),
            };
            if from == topic || self.scope.is_ignored(from) {
                continue;
            }
            self.graph.edge(from, topic).add_link(evidence, node);
            let stamp = input.stamp.map(timeloom_time::Time::nanos);
            if !self.marks.is_published(from) {
                self.assume(from, stamp, input.received, publication, Records::ASSUMED);
            } else if stamp.is_some() && self.is_source(from) {
                // Its tag or message may still arrive; if not, it counts as published.
                self.assume(
                    from,
                    stamp,
                    input.received,
                    publication,
                    Records::NAMED_ONLY,
                );
            }
            links.push(Link {
                topic: from,
                stamp,
                received: input.received,
                arrived: input.arrived,
                evidence,
                message: NO_MESSAGE,
                missed: false,
            });
        }
        links.into()
    }

    /// Stores a message that is known only as an input; its publish time is that of its first reception.
    fn assume(
        &mut self,
        topic: u32,
        stamp: Option<i64>,
        received: Moment,
        publication: &Publication<'_>,
        records: Records,
    ) {
        let named_only = records == Records::NAMED_ONLY;
        let known = match stamp {
            Some(stamp) => self.store.with_stamp(topic, stamp).next().is_some(),
            None => self.store.newest(topic).is_some_and(|newest| {
                self.store
                    .get(newest)
                    .is_some_and(|message| message.published == received)
            }),
        };
        if known || received.is_unknown() && !named_only {
            return;
        }
        let reader = self.nodes.number(publication.node);
        let output = self.topics.number(publication.topic);
        let placed = self.place(publication, output, reader, received);
        // It was dropped, and its outcome is counted.
        if named_only && placed.late > self.keep {
            self.ledger.name_too_late(topic);
            return;
        }
        if !named_only {
            self.findings.add(Finding::Assumed);
        }
        let mut message = Message::new(topic, placed, received, self.now, records);
        message.stamp = stamp;
        message.node = self.nodes.number("");
        let number = self.push(message);
        if !named_only {
            self.watch_source(topic, number);
        }
    }

    /// Finds the message of a link, if it is stored; records the duration of the hop. `number` is the message's own,
    /// once it has one.
    pub(super) fn resolve(&mut self, message: &mut Message, place: usize, number: Option<u64>) {
        let Some(link) = message.links.get(place).copied() else {
            return;
        };
        if link.message != NO_MESSAGE {
            return;
        }
        // At the latest, it was there when an output was made of it.
        let receiver = Point {
            moment: if link.received.is_unknown() {
                message.published
            } else {
                link.received
            },
            ..message.point()
        };
        let found = self.find(&link, receiver);
        let is_seen = |number: &u64| !self.store.get(*number).is_some_and(Message::is_named_only);
        let Some(found) = found.filter(is_seen) else {
            return;
        };
        if let Some(link) = message.links.get_mut(place) {
            link.found(found);
        }
        if link.missed {
            self.graph.edge(link.topic, message.topic).resolve_late();
        }
        self.note_hop(message, number, &link, found);
        if let Some(number) = number {
            self.used(found, number);
        }
    }

    /// The message of a link: of several with one stamp, the newest that was there already.
    fn find(&self, link: &Link, receiver: Point) -> Option<u64> {
        let before = |number: &u64| {
            let Some(message) = self.store.get(*number) else {
                return false;
            };
            let elapsed = self.clocks.elapsed(message.point(), receiver);
            elapsed != Err(Suspicion::Negative)
        };
        let Some(stamp) = link.stamp else {
            let newest_first = self.store.of_topic(link.topic).rev();
            return newest_first.take(LOOK_BACK).find(before);
        };
        let mut same = self.store.with_stamp(link.topic, stamp);
        let newest = same.next()?;
        if before(&newest) {
            return Some(newest);
        }
        Some(same.find(before).unwrap_or(newest))
    }

    /// Records the time of a node from the callback for an input to its output, whether the input is found or not.
    fn note_node(&mut self, message: &Message, place: usize) {
        let Some(link) = message.links.get(place) else {
            return;
        };
        let node = link.parts(message, None, &self.clocks).node;
        if !self
            .graph
            .edge(link.topic, message.topic)
            .add_node_time(node)
        {
            self.clocks.count_negative(message.domain, message.domain);
        }
    }

    /// Records the durations of one hop: total, transport, queue.
    fn note_hop(&mut self, message: &Message, number: Option<u64>, link: &Link, found: u64) {
        let Some(from) = self.store.get(found) else {
            return;
        };
        let reader = message.point();
        if !link.received.is_unknown() && !from.is_assumed() {
            let arrival = Point {
                moment: link.arrived.unwrap_or(link.received),
                ..reader
            };
            self.clocks.compare(from.point(), arrival, self.now);
        }
        let parts = link.parts(message, Some(from), &self.clocks);
        let edge = self.graph.edge(link.topic, message.topic);
        for _ in 0..edge.add_hop(&parts) {
            self.clocks.count_negative(from.domain, message.domain);
        }
        let (topics, nodes) = (&self.topics, &self.nodes);
        self.records.link(|| LinkRecord {
            message: number,
            input: Some(InputRecord {
                message: Some(found),
                total_ns: nanos(parts.total),
                transport_ns: nanos(parts.transport),
                queue_ns: nanos(parts.queue),
                node_ns: nanos(parts.node),
                ..input_record(link, topics)
            }),
            ..link_record(message, topics, nodes)
        });
    }

    /// Records the links of a message that were not found, and a message without links.
    pub(super) fn record_unresolved(&mut self, number: u64) {
        if !self.records.wants_links() {
            return;
        }
        let Some(message) = self.store.get(number).filter(|message| message.is_tagged()) else {
            return;
        };
        let (topics, nodes, clocks) = (&self.topics, &self.nodes, &self.clocks);
        if message.links.is_empty() {
            self.records.link(|| LinkRecord {
                message: Some(number),
                ..link_record(message, topics, nodes)
            });
        }
        for link in message
            .links
            .iter()
            .filter(|link| link.message == NO_MESSAGE)
        {
            self.records.link(|| LinkRecord {
                message: Some(number),
                input: Some(InputRecord {
                    node_ns: nanos(link.parts(message, None, clocks).node),
                    ..input_record(link, topics)
                }),
                ..link_record(message, topics, nodes)
            });
        }
    }

    /// The stored message of a link that is known only as an input.
    pub(super) fn named(&self, link: &Link) -> Option<u64> {
        let mut same = self.store.with_stamp(link.topic, link.stamp?);
        same.find(|number| self.store.get(*number).is_some_and(Message::is_named_only))
    }

    /// Marks the inputs of a new message as used.
    fn adopt(&mut self, number: u64) {
        let count = self
            .store
            .get(number)
            .map_or(0, |message| message.links.len());
        for place in 0..count {
            let link = self
                .store
                .get(number)
                .and_then(|message| message.links.get(place))
                .copied();
            let Some(link) = link else {
                continue;
            };
            let input = if link.message == NO_MESSAGE {
                self.named(&link).unwrap_or(NO_MESSAGE)
            } else {
                link.message
            };
            self.used(input, number);
        }
    }

    fn used(&mut self, input: u64, by: u64) {
        let now = self.now;
        if let Some(input) = self.store.get_mut(input) {
            input.use_for(by, now);
        }
    }
}

fn link_record(message: &Message, topics: &Names, nodes: &Names) -> LinkRecord {
    LinkRecord {
        message: None,
        heard_ns: message.arrived,
        topic: topics.name(message.topic).to_owned(),
        node: nodes.name(message.node).to_owned(),
        sequence: (message.sequence != UNNUMBERED).then_some(message.sequence),
        stamp_ns: message.stamp,
        published: message.published,
        input: None,
    }
}

fn input_record(link: &Link, topics: &Names) -> InputRecord {
    InputRecord {
        message: None,
        topic: topics.name(link.topic).to_owned(),
        stamp_ns: link.stamp,
        received: link.received,
        evidence: link.evidence,
        total_ns: None,
        transport_ns: None,
        queue_ns: None,
        node_ns: None,
    }
}
