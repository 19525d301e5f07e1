//! How a publication gets into the store, and how its links find their messages.

use super::clocks::{Point, Suspicion};
use super::engine::{Engine, set};
use super::evidence::Evidence;
use super::message::{Link, Message, NAMED_ONLY, NOBODY, Publication, Told};
use super::names::index;
use crate::moment::Moment;

impl Engine {
    /// Files a publication; links are looked up, waiting targets looked at
    /// again, and a target is evaluated.
    pub(super) fn insert(&mut self, publication: &Publication<'_>, told: Told) {
        let tagged = told == Told::Tag;
        let topic = self.topics.number(publication.topic);
        if self.ignored.contains(&topic) {
            return;
        }
        let node = self.nodes.number(publication.node);
        if let Some(sequence) = publication.sequence {
            self.sequences.add(topic, node, sequence);
        }
        // TILDE does not say who it is: then the topic stands for the node.
        let (key, name) = if publication.node.is_empty() {
            (topic | 1 << 31, publication.topic)
        } else {
            (node, publication.node)
        };
        let (domain, epoch) = self
            .clocks
            .place(key, name, publication.published, self.now);
        set(&mut self.seen, topic);
        let links = self.links(publication, topic, node);
        let mut message = Message {
            topic,
            node,
            domain,
            epoch,
            stamp: publication.stamp.map(timeloom_time::Time::nanos),
            published: publication.published,
            arrived: self.now,
            links,
            told: told.bit(),
            child: NOBODY,
            reached: 0,
            used_at: i64::MIN,
            namesake: NOBODY,
            walk: 0,
        };
        if tagged {
            set(&mut self.tagged, topic);
        }
        for place in 0..message.links.len() {
            self.resolve(&mut message, place, None);
        }
        let Some(number) = self.file(message, told) else {
            return;
        };
        self.adopt(number);
        if tagged && self.is_target(topic) {
            self.evaluate(number);
        }
        self.wake(topic, number);
        self.watch_source(topic, number);
    }

    /// Puts a message into the store, or joins it with what is known of it already; none when nothing is new.
    fn file(&mut self, message: Message, told: Told) -> Option<u64> {
        let Some(stamp) = message.stamp else {
            return Some(self.store.push(message));
        };
        let twin = self.store.with_stamp(message.topic, stamp).find(|number| {
            let other = self.store.get(*number);
            other.is_some_and(|other| {
                let same_time = other.is_named_only() || other.epoch == message.epoch;
                other.told & told.bit() == 0 && same_time
            })
        });
        let Some(twin) = twin else {
            if self.store.with_stamp(message.topic, stamp).next().is_some() {
                self.counters.duplicates += 1;
            }
            return Some(self.store.push(message));
        };
        let known = self.store.get_mut(twin)?;
        let is_tagged = known.is_tagged();
        let is_new = known.is_named_only();
        known.told |= told.bit();
        if is_new {
            known.published = message.published;
            known.node = message.node;
            known.domain = message.domain;
            known.epoch = message.epoch;
            known.links = message.links;
            return Some(twin);
        }
        match told {
            Told::Tag => {
                known.links = message.links;
                known.published = message.published;
                known.node = message.node;
                known.domain = message.domain;
                Some(twin)
            }
            Told::Note if !is_tagged => {
                known.published = message.published;
                None
            }
            // A tag says more.
            Told::Note | Told::Message => None,
        }
    }

    fn links(&mut self, publication: &Publication<'_>, topic: u32, node: u32) -> Box<[Link]> {
        let mut links = Vec::with_capacity(publication.inputs.len());
        for input in publication.inputs {
            let named = self.topics.number(input.topic);
            let skipped = self.skips.get(&named).filter(|_| input.stamp.is_some());
            let (from, evidence) = match skipped {
                Some(from) => (*from, Evidence::Declared),
                None => (named, input.evidence),
            };
            if from == topic || self.ignored.contains(&from) {
                continue;
            }
            let edge = self.graph.edge(from, topic);
            *edge.evidence.entry(evidence).or_default() += 1;
            edge.nodes.insert(node);
            let stamp = input.stamp.map(timeloom_time::Time::nanos);
            if !self.seen.get(index(from)).copied().unwrap_or(false) {
                self.assume(
                    from,
                    stamp,
                    input.received,
                    publication,
                    Told::Message.bit(),
                );
            } else if stamp.is_some() && self.is_source(from) {
                // Its tag or its record may still come; if not, it is known to have been.
                self.assume(from, stamp, input.received, publication, NAMED_ONLY);
            }
            links.push(Link {
                topic: from,
                stamp,
                received: input.received,
                arrived: input.arrived,
                evidence,
                message: NOBODY,
            });
        }
        links.into()
    }

    /// A message that is known only because something was made of it: it is taken to be published when it was received
    /// first. `told` is how much that is worth.
    fn assume(
        &mut self,
        topic: u32,
        stamp: Option<i64>,
        received: Moment,
        publication: &Publication<'_>,
        told: u8,
    ) {
        let known = match stamp {
            Some(stamp) => self.store.with_stamp(topic, stamp).next().is_some(),
            None => self.store.newest(topic).is_some_and(|newest| {
                self.store
                    .get(newest)
                    .is_some_and(|message| message.published == received)
            }),
        };
        if known || received.is_unknown() && told != NAMED_ONLY {
            return;
        }
        let node = self.nodes.number("");
        let reader = self.nodes.number(publication.node);
        let (key, name) = if publication.node.is_empty() {
            let output = self.topics.number(publication.topic);
            (output | 1 << 31, publication.topic)
        } else {
            (reader, publication.node)
        };
        let (domain, epoch) = self.clocks.place(key, name, received, self.now);
        self.counters.assumed += u64::from(told != NAMED_ONLY);
        let number = self.store.push(Message {
            topic,
            node,
            domain,
            epoch,
            stamp,
            published: received,
            arrived: self.now,
            links: Box::default(),
            told,
            child: NOBODY,
            reached: 0,
            used_at: i64::MIN,
            namesake: NOBODY,
            walk: 0,
        });
        if told != NAMED_ONLY {
            self.watch_source(topic, number);
        }
    }

    /// Finds the message of a link, if it is there; notes what the hop took. `number` is the message's own, once it
    /// has one.
    pub(super) fn resolve(&mut self, message: &mut Message, place: usize, number: Option<u64>) {
        let Some(link) = message.links.get(place).copied() else {
            return;
        };
        if link.message != NOBODY {
            return;
        }
        // At the latest, it was there when something was made of it.
        let receiver = Point {
            moment: if link.received.is_unknown() {
                message.published
            } else {
                link.received
            },
            ..Self::point(message)
        };
        let found = self.find(&link, receiver);
        let told = |number: &u64| !self.store.get(*number).is_some_and(Message::is_named_only);
        let Some(found) = found.filter(told) else {
            return;
        };
        if let Some(link) = message.links.get_mut(place) {
            link.message = found;
        }
        self.note_hop(message, &link, found);
        if let Some(number) = number {
            self.used(found, number);
        }
    }

    /// The message that a link means: of several with one stamp, the newest that was there already.
    fn find(&self, link: &Link, receiver: Point) -> Option<u64> {
        let before = |number: &u64| {
            let Some(message) = self.store.get(*number) else {
                return false;
            };
            let elapsed = self.clocks.elapsed(Self::point(message), receiver);
            elapsed != Err(Suspicion::Negative)
        };
        match link.stamp {
            Some(stamp) => {
                let mut same = self.store.with_stamp(link.topic, stamp);
                let newest = same.next()?;
                if before(&newest) {
                    return Some(newest);
                }
                Some(same.find(before).unwrap_or(newest))
            }
            None => self.store.of_topic(link.topic).rev().find(before),
        }
    }

    /// What one hop took: transport, queue, node.
    fn note_hop(&mut self, message: &Message, link: &Link, found: u64) {
        let Some(from) = self.store.get(found) else {
            return;
        };
        let published = Self::point(from);
        let reader = Self::point(message);
        let callback = Point {
            moment: link.received,
            ..reader
        };
        if !link.received.is_unknown() {
            let arrival = link.arrived.unwrap_or(link.received);
            let arrival = Point {
                moment: arrival,
                ..reader
            };
            self.clocks.compare(published, arrival, self.now);
        }
        let total = self.clocks.judged(published, reader);
        let edge = self.graph.edge(link.topic, message.topic);
        match total {
            Ok(elapsed) => edge.total.add(elapsed.nanos),
            Err(Suspicion::Negative) => edge.negative += 1,
            Err(_) => {}
        }
        if link.received.is_unknown() {
            return;
        }
        let arrival = link.arrived.map(|moment| Point { moment, ..reader });
        let transport = self.clocks.judged(published, arrival.unwrap_or(callback));
        let queue = arrival.map(|arrival| self.clocks.judged(arrival, callback));
        let node = self.clocks.judged(callback, reader);
        let edge = self.graph.edge(link.topic, message.topic);
        match transport {
            Ok(elapsed) => edge.transport.add(elapsed.nanos),
            Err(Suspicion::Negative) => edge.negative += 1,
            Err(_) => {}
        }
        if let Some(Ok(elapsed)) = queue {
            edge.queue.add(elapsed.nanos);
        }
        if let Ok(elapsed) = node {
            edge.node.add(elapsed.nanos);
        }
    }

    /// What stands for the message of a link that did not come itself.
    pub(super) fn named(&self, link: &Link) -> Option<u64> {
        let mut same = self.store.with_stamp(link.topic, link.stamp?);
        same.find(|number| self.store.get(*number).is_some_and(Message::is_named_only))
    }

    /// Tells the inputs of a new message that something was made of them.
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
            let input = if link.message == NOBODY {
                self.named(&link).unwrap_or(NOBODY)
            } else {
                link.message
            };
            self.used(input, number);
        }
    }

    fn used(&mut self, input: u64, by: u64) {
        let now = self.now;
        if let Some(input) = self.store.get_mut(input) {
            input.child = by;
            input.used_at = now;
        }
    }
}
