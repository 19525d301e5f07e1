//! Feeds payloads of bags and of the wire to the analysis.

mod bag;
mod content;
mod sink;
mod survey;

pub use bag::{BagFeed, BagObserver, Intake, LinkSearch};
pub use content::Content;
pub use sink::Sink;

use std::collections::HashSet;

use timeloom_time::{Ros, Time};

use crate::infer::{Linker, NodeModel, PlainMessage};
use crate::moment::Moment;
use crate::published_time::PublishedTime;
use crate::tag::AnyTag;

/// Limit of topic names, against corrupt tags.
const MOST_NAMES: usize = 1 << 16;

/// Decodes tags, Autoware's publish times and messages, and feeds them to the engine of a [`Sink`].
///
/// Messages without tags are linked by a [`Linker`], if there is one.
///
/// ```
/// use timeloom_time::Time;
/// use timeloom_trace::{Arrival, Content, Engine, EngineOptions, Feed, MessageTrackingTag, OutputInfo, TAG_TYPE};
///
/// let output = OutputInfo { topic: "/image".into(), ..OutputInfo::default() };
/// let tag = MessageTrackingTag { header_stamp: Time::ZERO, output, inputs: Vec::new() };
/// let (mut feed, mut engine) = (Feed::default(), Engine::new(EngineOptions::default()));
/// let topic = "/image/message_tracking_tag";
/// let arrival = Arrival { topic, payload: &tag.encode(), sent: Time::ZERO, now: 0 };
/// feed.take(&Content::of_lineage(topic, TAG_TYPE).expect("tags"), &arrival, &mut engine);
/// assert_eq!(engine.report().tags, 1);
/// ```
#[derive(Debug, Default)]
pub struct Feed {
    linker: Option<Linker>,
    scope: LinkScope,
    plain_messages: PlainMessages,
    /// Main topics that have tags; they are not linked otherwise.
    tagged: HashSet<String>,
    /// Main topics whose messages are fed.
    heard: HashSet<String>,
    counts: FeedCounts,
}

/// The messages that a linker links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LinkScope {
    /// All that have no tags.
    #[default]
    Untagged,
    /// Of these, only those that a node of the model publishes.
    Modelled,
}

/// Whether messages without tags and links are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PlainMessages {
    #[default]
    Take,
    /// The tags are in another time.
    Leave,
}

/// A received payload.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Its topic.
    pub topic: &'a str,
    /// The message, with its encapsulation header.
    pub payload: &'a [u8],
    /// The source time of the transport, or the publish time of the bag.
    pub sent: Time<Ros>,
    /// The time of reception on the engine's time line.
    pub now: i64,
}

/// Counts of payloads that a feed could not use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedCounts {
    /// Tags of `tilde_lite`, which name no inputs.
    pub header_only: u64,
    /// Payloads that could not be decoded.
    pub broken: u64,
}

impl Feed {
    /// A feed that links messages without tags.
    pub fn with_linker(linker: Linker) -> Self {
        Self {
            linker: Some(linker),
            ..Self::default()
        }
    }

    /// Declares that the messages of a main topic are fed; Autoware's publish times then only refine them.
    pub fn hears(&mut self, topic: &str) {
        self.heard.insert(topic.to_owned());
    }

    /// Replaces the model, for example after a change of the graph; earlier messages are kept.
    pub fn set_model(&mut self, model: NodeModel) {
        self.linker.get_or_insert_default().set_model(model);
    }

    /// Whether there is a linker.
    pub fn has_linker(&self) -> bool {
        self.linker.is_some()
    }

    /// Payloads that could not be used so far.
    pub fn counts(&self) -> FeedCounts {
        self.counts
    }

    /// Messages with several possible inputs, which were not linked.
    pub fn not_known(&self) -> u64 {
        self.linker.as_ref().map_or(0, Linker::not_known)
    }

    /// Takes a payload of a topic with this content.
    pub fn take(&mut self, content: &Content, arrival: &Arrival<'_>, sink: &mut dyn Sink) {
        if let Some(linker) = &mut self.linker {
            linker.at(arrival.now);
        }
        match content {
            Content::Tags => self.tag(arrival, sink),
            Content::PublishedTimes(main) => match PublishedTime::decode(arrival.payload) {
                Ok(note) => self.note(main, note, arrival.now, sink),
                Err(_) => self.counts.broken += 1,
            },
            Content::Messages(_) => {
                let stamp = content.stamp(arrival.payload);
                self.message(arrival.topic, stamp, arrival.sent, arrival.now, sink);
            }
        }
    }

    /// Takes a message of a main topic whose stamp was read before, for callers that do not keep its payload.
    pub fn message(
        &mut self,
        topic: &str,
        stamp: Option<Time<Ros>>,
        sent: Time<Ros>,
        now: i64,
        sink: &mut dyn Sink,
    ) {
        if let Some(linker) = &mut self.linker {
            linker.at(now);
        }
        let published = Moment {
            ros: sent,
            ..Moment::UNKNOWN
        };
        let plain = PlainMessage {
            topic,
            stamp,
            published,
        };
        self.plain(&plain, now, sink);
    }

    fn tag(&mut self, arrival: &Arrival<'_>, sink: &mut dyn Sink) {
        match AnyTag::parse(arrival.payload) {
            Ok(AnyTag::Full(tag)) => {
                if !self.tagged.contains(tag.topic) && self.tagged.len() < MOST_NAMES {
                    self.tagged.insert(tag.topic.to_owned());
                }
                tag.with_publication(|it| sink.engine().tagged_publication(it, arrival.now));
                sink.taken();
            }
            Ok(AnyTag::HeaderOnly { .. }) => self.counts.header_only += 1,
            Err(_) => self.counts.broken += 1,
        }
    }

    fn note(&mut self, main: &str, note: PublishedTime, now: i64, sink: &mut dyn Sink) {
        let is_known = self.tagged.contains(main) || self.heard.contains(main);
        if is_known || self.linker.is_none() || self.scope == LinkScope::Modelled {
            return sink.engine().published_time(main, note, now);
        }
        let plain = PlainMessage {
            topic: main,
            stamp: Some(note.stamp),
            published: Moment {
                ros: note.published,
                ..Moment::UNKNOWN
            },
        };
        self.plain(&plain, now, sink);
    }

    /// A message of a main topic, with links if the linker finds any.
    fn plain(&mut self, plain: &PlainMessage<'_>, now: i64, sink: &mut dyn Sink) {
        if self.plain_messages == PlainMessages::Leave {
            return;
        }
        let is_tagged = self.tagged.contains(plain.topic);
        match &mut self.linker {
            Some(linker)
                if !is_tagged
                    && (self.scope == LinkScope::Untagged || linker.publishes(plain.topic)) =>
            {
                linker.publication(plain, |publication| {
                    sink.engine().publication(publication, now);
                });
                sink.taken();
            }
            linker => {
                // Its outputs may be linked to it.
                let _linked = linker.as_mut().map(|linker| linker.link(plain));
                let engine = sink.engine();
                engine.message(plain.topic, plain.stamp, plain.published, now);
                sink.taken();
            }
        }
    }
}
