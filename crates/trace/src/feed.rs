//! From payloads to the analysis, the same way for bags and for the wire.

mod content;
mod recording;
mod sink;
mod survey;

pub use content::Content;
pub use recording::{Intake, LinkSearch, Pass, RecordedMessage, Recording, RecordingFeed};
pub use sink::Sink;

use std::collections::HashSet;

use timeloom_time::{Ros, Time};

use crate::infer::{Linker, NodeModel, PlainMessage};
use crate::moment::Moment;
use crate::published_time::PublishedTime;
use crate::tag::AnyTag;

/// Wild tags cannot make more names than this.
const MOST_NAMES: usize = 1 << 16;

/// Reads the payloads of tags, of Autoware's publish times and of messages, and tells a [`Sink`] what they say.
///
/// Messages that say nothing about their inputs are linked by a [`Linker`], if there is one and no tag says more.
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
    /// Main topics that have tags: nothing else says more of them.
    tagged: HashSet<String>,
    /// Main topics whose messages come themselves.
    heard: HashSet<String>,
    counts: FeedCounts,
}

/// Which messages a linker links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LinkScope {
    /// All that have no tags.
    #[default]
    Untagged,
    /// Of these, only those that a node of the model publishes.
    Modelled,
}

/// What is done with messages that have neither tags nor links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PlainMessages {
    #[default]
    Take,
    /// They are in another time than the tags.
    Leave,
}

/// A payload that came.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The topic it came on.
    pub topic: &'a str,
    /// The message, with its encapsulation header.
    pub payload: &'a [u8],
    /// When it was sent, as the transport or the bag says.
    pub sent: Time<Ros>,
    /// When it came, on the engine's own time line.
    pub now: i64,
}

/// What a feed could not use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedCounts {
    /// Tags of `tilde_lite`: they name no inputs.
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

    /// Says that the messages of a main topic come themselves, so that Autoware's publish times only make them exact.
    pub fn hears(&mut self, topic: &str) {
        self.heard.insert(topic.to_owned());
    }

    /// Takes another model, as when the graph has changed; messages that came are remembered.
    pub fn set_model(&mut self, model: NodeModel) {
        self.linker.get_or_insert_default().set_model(model);
    }

    /// Whether messages are linked.
    pub fn has_linker(&self) -> bool {
        self.linker.is_some()
    }

    /// What could not be used so far.
    pub fn counts(&self) -> FeedCounts {
        self.counts
    }

    /// Of how many messages it could not be said which of several possible inputs they were made of.
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
            Content::Messages(stamp) => {
                let plain = PlainMessage {
                    topic: arrival.topic,
                    stamp: stamp.as_ref().and_then(|program| {
                        let stamp = program.read(arrival.payload).ok()?;
                        Some(Time::from_nanos(stamp.nanos()))
                    }),
                    published: Moment {
                        ros: arrival.sent,
                        ..Moment::UNKNOWN
                    },
                };
                self.plain(&plain, arrival.now, sink);
            }
        }
    }

    fn tag(&mut self, arrival: &Arrival<'_>, sink: &mut dyn Sink) {
        match AnyTag::parse(arrival.payload) {
            Ok(AnyTag::Full(tag)) => {
                if !self.tagged.contains(tag.topic) && self.tagged.len() < MOST_NAMES {
                    self.tagged.insert(tag.topic.to_owned());
                }
                tag.with_publication(|publication| sink.tag(publication, arrival.now));
            }
            Ok(AnyTag::HeaderOnly { .. }) => self.counts.header_only += 1,
            Err(_) => self.counts.broken += 1,
        }
    }

    fn note(&mut self, main: &str, note: PublishedTime, now: i64, sink: &mut dyn Sink) {
        let is_known = self.tagged.contains(main) || self.heard.contains(main);
        if is_known || self.linker.is_none() || self.scope == LinkScope::Modelled {
            return sink.published_time(main, note, now);
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

    /// A message of a main topic, with links if anything tells them.
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
                linker.publication(plain, |publication| sink.linked(publication, now));
            }
            linker => {
                // What is made of it may be linked.
                let _linked = linker.as_mut().map(|linker| linker.link(plain));
                sink.message(plain.topic, plain.stamp, plain.published, now);
            }
        }
    }
}
