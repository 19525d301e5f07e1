//! What an export remembers of each message, and which message each link means.

use std::collections::HashMap;

use crate::analysis::{Evidence, Names, Publication};

/// Messages in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Messages {
    names: Names,
    pub(super) all: Vec<Note>,
}

/// One message. Times are nanoseconds of ROS time, so that hosts stand side by side.
#[derive(Debug)]
pub(super) struct Note {
    topic: u32,
    node: u32,
    pub(super) stamp: Option<i64>,
    pub(super) sequence: Option<i64>,
    /// The callback that published: that of the input that came last.
    pub(super) start: i64,
    pub(super) published: i64,
    pub(super) inputs: Box<[NotedInput]>,
}

/// One input of a message.
#[derive(Debug)]
pub(super) struct NotedInput {
    topic: u32,
    stamp: Option<i64>,
    /// Zero when nobody knows.
    pub(super) received: i64,
    pub(super) evidence: Evidence,
}

impl Messages {
    pub(super) fn add(&mut self, publication: &Publication<'_>) {
        let published = publication.published.ros.nanos();
        let inputs: Box<[NotedInput]> = publication
            .inputs
            .iter()
            .map(|input| NotedInput {
                topic: self.names.number(input.topic),
                stamp: input.stamp.map(timeloom_time::Time::nanos),
                received: input.received.ros.nanos(),
                evidence: input.evidence,
            })
            .collect();
        let received = inputs.iter().map(|input| input.received);
        let start = received.filter(|received| *received != 0).max();
        self.all.push(Note {
            topic: self.names.number(publication.topic),
            node: self.names.number(publication.node),
            stamp: publication.stamp.map(timeloom_time::Time::nanos),
            sequence: publication.sequence,
            start: start.map_or(published, |start| start.min(published)),
            published,
            inputs,
        });
    }

    pub(super) fn topic(&self, note: &Note) -> &str {
        self.names.name(note.topic)
    }

    pub(super) fn node(&self, note: &Note) -> &str {
        self.names.name(note.node)
    }

    pub(super) fn input_topic(&self, input: &NotedInput) -> &str {
        self.names.name(input.topic)
    }

    /// The places of all messages, in the order in which they were published.
    pub(super) fn by_publication(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        order.sort_by_key(|place| self.all.get(*place).map(|note| note.published));
        order
    }

    /// For finding messages by topic and stamp; those without stamp by topic alone.
    pub(super) fn index(&self) -> Index<'_> {
        let mut places: HashMap<(u32, Option<i64>), Vec<usize>> = HashMap::new();
        for place in self.by_publication() {
            if let Some(note) = self.all.get(place) {
                let key = (note.topic, note.stamp);
                places.entry(key).or_default().push(place);
            }
        }
        Index {
            messages: self,
            places,
        }
    }
}

/// Messages by topic and stamp, each in the order of publication.
pub(super) struct Index<'a> {
    messages: &'a Messages,
    places: HashMap<(u32, Option<i64>), Vec<usize>>,
}

impl Index<'_> {
    /// The place of the message that an input means: of several, the newest that was there already.
    pub(super) fn find(&self, input: &NotedInput) -> Option<usize> {
        let places = self.places.get(&(input.topic, input.stamp))?;
        let before = places.partition_point(|place| {
            let note = self.messages.all.get(*place);
            note.is_some_and(|note| note.published <= input.received)
        });
        // One with that stamp is meant even if clocks disagree; one without stamp is known by its time only.
        let fallback = input.stamp.and(places.first());
        let found = before.checked_sub(1).and_then(|last| places.get(last));
        found.or(fallback).copied()
    }
}
