use timeloom_time::{Ros, Time};

use super::clocks::{Placed, Point};
use super::evidence::Evidence;
use super::reached::Reached;
use crate::moment::Moment;

/// A published message and its known inputs.
#[derive(Clone, Debug)]
pub struct Publication<'a> {
    /// The full name of the topic.
    pub topic: &'a str,
    /// The full name of the node; may be empty.
    pub node: &'a str,
    /// The publisher's number of the message, if it has one.
    pub sequence: Option<i64>,
    /// The message's stamp, if it has one.
    pub stamp: Option<Time<Ros>>,
    /// The time of its publication.
    pub published: Moment,
    /// Its inputs.
    pub inputs: &'a [Input<'a>],
}

/// An input of a publication.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The full name of the topic.
    pub topic: &'a str,
    /// The message's stamp, if it has one.
    pub stamp: Option<Time<Ros>>,
    /// The start of its callback; may be unknown.
    pub received: Moment,
    /// Its arrival from the transport, if it is known apart from the callback.
    pub arrived: Option<Moment>,
    /// The evidence of the link.
    pub evidence: Evidence,
}

/// The number of no message.
pub(super) const NO_MESSAGE: u64 = u64::MAX;

/// The position of a message among those of its topic: the time of publication on the engine's time line, then its
/// number.
pub(super) type Key = (i64, u64);

/// A message in the store.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) topic: u32,
    pub(super) node: u32,
    pub(super) domain: u32,
    pub(super) epoch: u32,
    pub(super) stamp: Option<i64>,
    /// The publisher's number; [`UNNUMBERED`] if it has none.
    pub(super) sequence: i64,
    pub(super) published: Moment,
    /// The time of publication on the engine's time line.
    pub(super) order: i64,
    /// The time of reception on the engine's time line.
    pub(super) arrived: i64,
    pub(super) links: Box<[Link]>,
    records: Records,
    usage: Usage,
    /// The targets that it reached.
    reached: Reached,
    /// An earlier message of the same topic and stamp.
    pub(super) namesake: u64,
    /// The last walk that visited it.
    pub(super) walk: u64,
}

/// The number of a message whose publisher has no numbers.
pub(super) const UNNUMBERED: i64 = i64::MIN;

/// A kind of record of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum SeenAs {
    /// By its tag, or with inferred links.
    Tag = 1,
    /// By itself.
    Message = 2,
    /// By Autoware's publish time.
    PublishTime = 4,
}

/// The records of a message, as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Records(u8);

impl Records {
    /// Known only as an input of another message.
    pub(super) const NAMED_ONLY: Self = Self(0);
    /// Of a topic without tags and messages: its publish time is that of its first reception.
    pub(super) const ASSUMED: Self = Self(SeenAs::Message as u8 | ASSUMED);

    pub(super) fn of(seen_as: SeenAs) -> Self {
        Self(seen_as as u8)
    }

    pub(super) fn contains(self, seen_as: SeenAs) -> bool {
        self.0 & seen_as as u8 != 0
    }

    /// Adds a record; the time in a tag replaces an assumed one.
    fn add(&mut self, seen_as: SeenAs) {
        self.0 |= seen_as as u8;
        if seen_as == SeenAs::Tag {
            self.0 &= !ASSUMED;
        }
    }
}

/// The bit of an assumed publish time, beside those of [`SeenAs`].
const ASSUMED: u8 = 8;

/// The use of a message as an input.
#[derive(Clone, Copy, Debug)]
struct Usage {
    /// The last message that was made of it.
    child: u64,
    /// The time of that.
    at: i64,
}

impl Message {
    /// A message without outputs.
    pub(super) fn new(
        topic: u32,
        placed: Placed,
        published: Moment,
        arrived: i64,
        records: Records,
    ) -> Self {
        Self {
            topic,
            node: 0,
            domain: placed.domain,
            epoch: placed.epoch,
            stamp: None,
            sequence: UNNUMBERED,
            published,
            order: placed.order,
            arrived,
            links: Box::default(),
            records,
            usage: Usage {
                child: NO_MESSAGE,
                at: i64::MIN,
            },
            reached: Reached::default(),
            namesake: NO_MESSAGE,
            walk: 0,
        }
    }

    /// Takes the data of another record of the same message, except its order, which the store keeps.
    pub(super) fn take_over(&mut self, other: Self) {
        self.published = other.published;
        self.node = other.node;
        self.domain = other.domain;
        self.epoch = other.epoch;
        self.sequence = other.sequence;
        self.links = other.links;
    }

    /// The time of its publication, with its clock.
    pub(super) fn point(&self) -> Point {
        Point {
            moment: self.published,
            domain: self.domain,
            epoch: self.epoch,
        }
    }

    /// Whether its publish time is that of its first reception.
    pub(super) fn is_assumed(&self) -> bool {
        self.records.0 & ASSUMED != 0
    }

    pub(super) fn is_named_only(&self) -> bool {
        self.records == Records::NAMED_ONLY
    }

    pub(super) fn is_tagged(&self) -> bool {
        self.is_seen_as(SeenAs::Tag)
    }

    /// Whether there is a record of this kind.
    pub(super) fn is_seen_as(&self, seen_as: SeenAs) -> bool {
        self.records.contains(seen_as)
    }

    /// Adds a record of this kind.
    pub(super) fn add_record(&mut self, seen_as: SeenAs) {
        self.records.add(seen_as);
    }

    /// Notes that an output was made of it.
    pub(super) fn use_for(&mut self, output: u64, now: i64) {
        self.usage = Usage {
            child: output,
            at: now,
        };
    }

    /// The last message that was made of it.
    pub(super) fn child(&self) -> u64 {
        self.usage.child
    }

    /// The time of its arrival or of its last use.
    pub(super) fn last_used(&self) -> i64 {
        self.arrived.max(self.usage.at)
    }

    /// Notes that it reached a target.
    pub(super) fn reach(&mut self, target: usize) {
        self.reached.insert(target);
    }

    pub(super) fn has_reached(&self, target: usize) -> bool {
        self.reached.contains(target)
    }
}

/// An input of a message in the store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) topic: u32,
    pub(super) stamp: Option<i64>,
    pub(super) received: Moment,
    pub(super) arrived: Option<Moment>,
    pub(super) evidence: Evidence,
    pub(super) message: u64,
    /// Whether it is counted as not found.
    pub(super) missed: bool,
}

impl Link {
    /// Resolves the link.
    pub(super) fn found(&mut self, message: u64) {
        self.message = message;
        self.missed = false;
    }

    /// Counts the link as not found, until it is.
    pub(super) fn miss(&mut self) {
        self.missed = true;
    }
}
