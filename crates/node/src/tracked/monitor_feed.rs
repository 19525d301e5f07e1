//! One topic of lineage, or one plain topic, on its way into the engine.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use timeloom_msg::StampProgram;
use timeloom_time::Time;
use timeloom_trace::{AnyTag, Engine, Linker, Moment, PlainMessage, PublishedTime, TagView};
use timeloom_wire::{LossTracker, Receiver, Sample, SequenceStep};

use super::publisher::stamp_of;
use super::times::Times;

/// Wild tags cannot make more names than this.
const MOST_HEARD: usize = 1 << 16;

/// What all topics share.
pub(super) struct Heart {
    pub(super) engine: Mutex<State>,
    pub(super) times: Times,
}

pub(super) struct State {
    pub(super) engine: Engine,
    pub(super) linker: Option<Linker>,
    pub(super) header_only: u64,
    pub(super) broken: u64,
    pub(super) lost_in_transport: u64,
    /// Main topics that have tags: nothing else says more of them.
    pub(super) tagged: BTreeSet<String>,
    /// Main topics that are listened to themselves.
    pub(super) plain: BTreeSet<String>,
}

impl State {
    /// A message of a main topic, with links if somebody knows any.
    fn plain(&mut self, plain: &PlainMessage<'_>, now: i64) {
        match &mut self.linker {
            Some(linker) if !self.tagged.contains(plain.topic) => {
                linker.feed(plain, &mut self.engine, now);
            }
            linker => {
                // What is made of it may have no tag.
                let _linked = linker.as_mut().map(|linker| linker.link(plain));
                let (topic, stamp) = (plain.topic, plain.stamp);
                self.engine.message(topic, stamp, plain.published, now);
            }
        }
    }

    fn note(&mut self, main: &str, note: PublishedTime, now: i64) {
        let heard = self.tagged.contains(main) || self.plain.contains(main);
        if heard || self.linker.is_none() {
            return self.engine.published_time(main, note, now);
        }
        let plain = PlainMessage {
            topic: main,
            stamp: Some(note.stamp),
            published: Moment {
                ros: note.published,
                ..Moment::UNKNOWN
            },
        };
        self.plain(&plain, now);
    }

    fn tag(&mut self, tag: &TagView<'_>, now: i64) {
        if !self.tagged.contains(tag.topic) && self.tagged.len() < MOST_HEARD {
            self.tagged.insert(tag.topic.to_owned());
        }
        self.engine.tag(tag, now);
    }
}

impl Heart {
    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a topic carries.
pub(super) enum Content {
    Tags,
    /// Publish times of this main topic.
    Notes(String),
    Messages(Option<StampProgram>),
}

pub(super) struct TopicFeed {
    pub(super) topic: String,
    pub(super) content: Content,
    pub(super) heart: Arc<Heart>,
    pub(super) losses: Mutex<LossTracker>,
}

impl Receiver for TopicFeed {
    fn sample(&self, sample: Sample) {
        let now = self.heart.times.now().steady.nanos();
        let missing = {
            let mut losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
            match sample
                .sequence
                .map(|sequence| losses.sample(sample.writer, sequence))
            {
                Some(SequenceStep::Gap(missing) | SequenceStep::Earlier(missing)) => (missing, 0),
                Some(SequenceStep::Late) => (0, 1),
                _ => (0, 0),
            }
        };
        let mut state = self.heart.lock();
        state.lost_in_transport = (state.lost_in_transport + missing.0).saturating_sub(missing.1);
        match &self.content {
            Content::Tags => match AnyTag::parse(&sample.payload) {
                Ok(AnyTag::Full(tag)) => state.tag(&tag, now),
                Ok(AnyTag::HeaderOnly { .. }) => state.header_only += 1,
                Err(_) => state.broken += 1,
            },
            Content::Notes(main) => match PublishedTime::decode(&sample.payload) {
                Ok(note) => state.note(main, note, now),
                Err(_) => state.broken += 1,
            },
            Content::Messages(program) => {
                let sent = sample.source_time.unwrap_or(sample.receive_time);
                let plain = PlainMessage {
                    topic: &self.topic,
                    stamp: stamp_of(program.as_ref(), &sample.payload),
                    published: Moment {
                        ros: Time::from_nanos(sent.nanos()),
                        ..Moment::UNKNOWN
                    },
                };
                state.plain(&plain, now);
            }
        }
    }
}
