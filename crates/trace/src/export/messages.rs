//! The messages of an export and their links, as the analysis finds them.

use std::collections::HashMap;

use crate::analysis::{Engine, EngineOptions, Evidence, LinkRecord, Names, RecordKind};
use crate::feed::Sink;

/// Messages and their links, for Perfetto and OpenTelemetry: pass it to a [`Feed`](crate::Feed) or a
/// [`BagFeed`](crate::BagFeed), then write it with [`chrome`](Self::chrome) or [`otlp`](Self::otlp).
///
/// The links are those of the analysis: an arrow is drawn where the report counts a hop.
#[derive(Debug)]
pub struct MessageTrace {
    engine: Engine,
    names: Names,
    pub(super) all: Vec<TracedMessage>,
    /// The index of the message of a number in `all`.
    places: HashMap<u64, usize>,
}

/// One message. Times are nanoseconds of ROS time, so that hosts share one axis.
#[derive(Debug)]
pub(super) struct TracedMessage {
    topic: u32,
    node: u32,
    pub(super) stamp: Option<i64>,
    pub(super) sequence: Option<i64>,
    /// The start of the callback that published: that of the last input.
    pub(super) start: i64,
    pub(super) published: i64,
    pub(super) inputs: Vec<TracedInput>,
}

/// One input of a message.
#[derive(Debug)]
pub(super) struct TracedInput {
    topic: u32,
    message: Option<u64>,
    /// Zero if it is not known.
    pub(super) received: i64,
    pub(super) evidence: Evidence,
}

impl Default for MessageTrace {
    fn default() -> Self {
        Self::new(EngineOptions::default())
    }
}

impl MessageTrace {
    /// An empty trace whose links are found with these options.
    pub fn new(options: EngineOptions) -> Self {
        Self {
            engine: Engine::new(EngineOptions {
                records: RecordKind::Links,
                ..options
            }),
            names: Names::default(),
            all: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Ends the analysis: messages without inputs and links that were not found are added.
    pub(super) fn finish(&mut self) {
        self.engine.finish();
        self.taken();
    }

    fn add(&mut self, record: &LinkRecord) {
        let published = record.published.ros.nanos();
        let next = self.all.len();
        let place = match record.message {
            Some(number) => *self.places.entry(number).or_insert(next),
            None => next,
        };
        if place == next {
            self.all.push(TracedMessage {
                topic: self.names.number(&record.topic),
                node: self.names.number(&record.node),
                stamp: record.stamp_ns,
                sequence: record.sequence,
                start: published,
                published,
                inputs: Vec::new(),
            });
        }
        let (Some(entry), Some(input)) = (self.all.get_mut(place), &record.input) else {
            return;
        };
        entry.inputs.push(TracedInput {
            topic: self.names.number(&input.topic),
            message: input.message,
            received: input.received.ros.nanos(),
            evidence: input.evidence,
        });
        let received = entry.inputs.iter().map(|input| input.received);
        let start = received.filter(|received| *received != 0).max();
        entry.start = start.map_or(published, |start| start.min(published));
    }

    pub(super) fn topic(&self, entry: &TracedMessage) -> &str {
        self.names.name(entry.topic)
    }

    pub(super) fn node(&self, entry: &TracedMessage) -> &str {
        self.names.name(entry.node)
    }

    pub(super) fn input_topic(&self, input: &TracedInput) -> &str {
        self.names.name(input.topic)
    }

    /// The indices of all messages in the order of publication.
    pub(super) fn by_publication(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        order.sort_by_key(|place| self.all.get(*place).map(|entry| entry.published));
        order
    }

    /// The index of the message of an input.
    pub(super) fn find(&self, input: &TracedInput) -> Option<usize> {
        self.places.get(&input.message?).copied()
    }
}

impl Sink for MessageTrace {
    fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    fn taken(&mut self) {
        for record in self.engine.take_links() {
            self.add(&record);
        }
    }
}
