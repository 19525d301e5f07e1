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
    /// The kinds of records of it: the bits of [`SeenAs`].
    pub(super) seen_as: u8,
    /// The last message that was made of this one.
    pub(super) child: u64,
    /// The targets that it reached.
    pub(super) reached: Reached,
    /// The time at which an output was last made of it.
    pub(super) used_at: i64,
    /// An earlier message of the same topic and stamp.
    pub(super) namesake: u64,
    /// The last walk that visited it.
    pub(super) walk: u64,
}

/// The number of a message whose publisher has no numbers.
pub(super) const UNNUMBERED: i64 = i64::MIN;

/// The kind of record of a message. The values are bits.
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

impl SeenAs {
    pub(super) fn bit(self) -> u8 {
        self as u8
    }
}

/// Known only as an input of another message.
pub(super) const NAMED_ONLY: u8 = 0;
/// Of a topic without tags and messages: its publish time is that of its first reception.
pub(super) const ASSUMED: u8 = 8;

impl Message {
    /// A message without outputs.
    pub(super) fn new(topic: u32, placed: Placed, published: Moment, arrived: i64) -> Self {
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
            seen_as: NAMED_ONLY,
            child: NO_MESSAGE,
            reached: Reached::default(),
            used_at: i64::MIN,
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
        self.seen_as & ASSUMED != 0
    }

    pub(super) fn is_named_only(&self) -> bool {
        self.seen_as == NAMED_ONLY
    }

    pub(super) fn is_tagged(&self) -> bool {
        self.seen_as & SeenAs::Tag.bit() != 0
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
