use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use timeloom_time::{Ros, Time};

use super::input_set::{InputSet, Used};
use super::ring::Received;
use super::tracker::{Inputs, Tracker};
use crate::moment::Moment;
use crate::tag::{Head, HeadBlock};

/// Number of inputs that are looked up once per tag; those beyond it twice.
const AT_ONCE: usize = 32;

/// A topic that a node publishes; it writes the tags.
#[derive(Debug)]
pub struct TrackedOutput {
    tracker: Arc<Tracker>,
    topic: Box<str>,
    head: HeadBlock,
    sequence: AtomicI64,
    is_explicit: AtomicBool,
    explicit: Mutex<Vec<Used>>,
}

impl TrackedOutput {
    pub(super) fn new(tracker: Arc<Tracker>, topic: &str) -> Self {
        Self {
            head: HeadBlock::new(topic, &tracker.node),
            topic: topic.into(),
            tracker,
            sequence: AtomicI64::new(0),
            is_explicit: AtomicBool::new(false),
            explicit: Mutex::default(),
        }
    }

    /// The full name of the topic.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// Its tracker.
    pub fn tracker(&self) -> &Arc<Tracker> {
        &self.tracker
    }

    /// Adds an input of the next message by its stamp, as TILDE's `add_explicit_input_info` does.
    ///
    /// As there, it is a state of the publisher: from the first call on, its tags list only the inputs added since the
    /// last message. [`tag_of`](Self::tag_of) has no such state. Returns false without a change if the node has no
    /// input of that topic.
    pub fn add_explicit_input(&self, topic: &str, stamp: Time<Ros>, now: Moment) -> bool {
        let Some(used) = self.tracker.find(topic, stamp, now) else {
            return false;
        };
        let mut explicit = self.explicit.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_explicit.store(true, Ordering::Relaxed);
        explicit.push(used);
        true
    }

    /// Writes the tag of a message that is published now, made of the latest message of every input, or of the inputs
    /// added by [`add_explicit_input`](Self::add_explicit_input). Returns false with an empty payload while tracking is
    /// off.
    ///
    /// `payload` is overwritten; it grows once and is then reused.
    #[inline]
    pub fn tag(&self, now: Moment, stamp: Option<Time<Ros>>, payload: &mut Vec<u8>) -> bool {
        payload.clear();
        if !self.tracker.is_enabled() {
            return false;
        }
        if self.is_explicit.load(Ordering::Relaxed) {
            let mut explicit = self.explicit.lock().unwrap_or_else(PoisonError::into_inner);
            self.write(now, stamp, &explicit, payload);
            explicit.clear();
        } else {
            self.write_latest(now, stamp, payload);
        }
        true
    }

    /// Writes the tag of a message that is made of exactly these inputs. Returns false with an empty payload while
    /// tracking is off.
    #[inline]
    pub fn tag_of(
        &self,
        now: Moment,
        stamp: Option<Time<Ros>>,
        inputs: &InputSet,
        payload: &mut Vec<u8>,
    ) -> bool {
        payload.clear();
        if !self.tracker.is_enabled() {
            return false;
        }
        self.write(now, stamp, &inputs.used, payload);
        true
    }

    fn head(&self, now: Moment, stamp: Option<Time<Ros>>, inputs: usize) -> Head {
        Head {
            header_stamp: now.ros,
            sequence: self.sequence.fetch_add(1, Ordering::Relaxed),
            published: now,
            stamp,
            inputs,
        }
    }

    #[inline]
    fn write_latest(&self, now: Moment, stamp: Option<Time<Ros>>, payload: &mut Vec<u8>) {
        let inputs = self.tracker.read();
        let mut latest = [None::<Received>; AT_ONCE];
        if inputs.by_name.len() > AT_ONCE {
            return self.write_many(now, stamp, &inputs, payload);
        }
        let (mut length, mut count) = (self.head.len(), 0);
        for (input, latest) in inputs.by_name.iter().zip(&mut latest) {
            *latest = input.latest();
            if latest.is_some() {
                length += input.block.len();
                count += 1;
            }
        }
        payload.resize(length, 0);
        let mut rest = self.head.write(payload, &self.head(now, stamp, count));
        for (input, latest) in inputs.by_name.iter().zip(&latest) {
            if let Some(received) = latest {
                rest = input.block.write(rest, received.at, received.stamp);
            }
        }
    }

    /// The same for nodes with very many inputs.
    fn write_many(
        &self,
        now: Moment,
        stamp: Option<Time<Ros>>,
        inputs: &Inputs,
        payload: &mut Vec<u8>,
    ) {
        let used: Vec<Used> = inputs
            .by_name
            .iter()
            .filter_map(|input| {
                let received = input.latest()?;
                Some(Used {
                    input: input.number,
                    received,
                })
            })
            .collect();
        self.write_used(now, stamp, inputs, &used, payload);
    }

    fn write(&self, now: Moment, stamp: Option<Time<Ros>>, used: &[Used], payload: &mut Vec<u8>) {
        let inputs = self.tracker.read();
        self.write_used(now, stamp, &inputs, used, payload);
    }

    fn write_used(
        &self,
        now: Moment,
        stamp: Option<Time<Ros>>,
        inputs: &Inputs,
        used: &[Used],
        payload: &mut Vec<u8>,
    ) {
        let input = |used: &Used| {
            let number = usize::try_from(used.input).ok()?;
            inputs.by_number.get(number)
        };
        // A set of another node's tracker may have inputs that do not exist here; they are left out.
        let known = used.iter().filter_map(|used| Some((input(used)?, used)));
        let lengths = known.clone().map(|(input, _)| input.block.len());
        payload.resize(self.head.len() + lengths.sum::<usize>(), 0);
        let head = self.head(now, stamp, known.clone().count());
        let mut rest = self.head.write(payload, &head);
        for (input, used) in known {
            rest = input
                .block
                .write(rest, used.received.at, used.received.stamp);
        }
    }
}
