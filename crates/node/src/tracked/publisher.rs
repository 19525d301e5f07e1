use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::{Bytes, BytesMut};
use timeloom_msg::{Definitions, QosProfile, Schema, StampProgram, Value};
use timeloom_time::{Ros, Time};
use timeloom_trace::{InputSet, TAG_TYPE, TrackedOutput, Tracker, tag_topic};
use timeloom_wire::backend::lock;
use timeloom_wire::{PublishOptions, Publisher, TopicSpec};

use super::times::Times;
use crate::ros_node::Warnings;
use crate::{Result, RosNode};

/// A publisher that sends a tag before each message, as TILDE does.
///
/// A tag that the middleware refuses does not stop its message: it is [counted](Self::refused_tags), with a warning.
///
/// Clones are the same publisher, which ends with the last of them. Any thread may publish.
#[derive(Clone)]
pub struct TrackedPublisher(Arc<Inner>);

struct Inner {
    main: Box<dyn Publisher>,
    tags: Box<dyn Publisher>,
    output: TrackedOutput,
    times: Times,
    schema: Arc<Schema>,
    stamp: Option<StampProgram>,
    buffers: Mutex<Buffers>,
    /// Number of tags that the middleware refused.
    refused: AtomicU64,
    warn: Warnings,
}

/// Memory that is reused for each tag.
#[derive(Default)]
struct Buffers {
    tag: Vec<u8>,
    payload: BytesMut,
}

/// The last one, reliable, volatile.
fn tag_qos() -> QosProfile {
    QosProfile {
        depth: 1,
        ..QosProfile::DEFAULT
    }
}

impl TrackedPublisher {
    pub(super) fn new(
        node: &RosNode,
        tracker: &Arc<Tracker>,
        times: Times,
        spec: &TopicSpec,
        schema: &Arc<Schema>,
    ) -> Result<Self> {
        let tag_schema = Arc::new(Definitions::builtin().schema(TAG_TYPE)?);
        node.register_type(&tag_schema);
        let tags = TopicSpec {
            name: tag_topic(&spec.name),
            type_name: tag_schema.name().clone(),
            type_hash: tag_schema.type_hash().ok(),
            qos: tag_qos(),
        };
        Ok(Self(Arc::new(Inner {
            main: node.wire().publish(spec)?,
            tags: node.wire().publish(&tags)?,
            output: tracker.output(&spec.name),
            times,
            stamp: StampProgram::compile(schema),
            schema: Arc::clone(schema),
            buffers: Mutex::default(),
            refused: AtomicU64::new(0),
            warn: node.warnings(),
        })))
    }

    /// A message with the defaults of its definition, to be filled.
    ///
    /// # Errors
    /// When the fixed arrays of the type need more than 64 MiB.
    pub fn message(&self) -> Result<Value> {
        Ok(self.0.schema.default_value()?)
    }

    /// Publishes a value, made of the latest message of each input, or of the [explicit
    /// inputs](Self::add_explicit_input). Returns the sequence number of the message, if there is one.
    ///
    /// # Errors
    /// When the value is of another type, or the middleware refuses the message.
    pub fn publish(&self, value: &Value) -> Result<Option<u64>> {
        self.publish_payload(Bytes::from(self.0.schema.encode(value)?))
    }

    /// Publishes a value that is made of exactly these messages.
    ///
    /// # Errors
    /// When the value is of another type, or the middleware refuses the message.
    pub fn publish_made_of(&self, value: &Value, inputs: &InputSet) -> Result<Option<u64>> {
        let payload = Bytes::from(self.0.schema.encode(value)?);
        self.publish_payload_made_of(payload, inputs)
    }

    /// Publishes a serialised message, with its encapsulation header; otherwise as [`publish`](Self::publish).
    ///
    /// # Errors
    /// When the middleware refuses the message.
    pub fn publish_payload(&self, payload: Bytes) -> Result<Option<u64>> {
        self.send(payload, |tag, stamp| {
            self.0.output.tag(self.0.times.now(), stamp, tag)
        })
    }

    /// Publishes a serialised message that is made of exactly these messages.
    ///
    /// # Errors
    /// When the middleware refuses the message.
    pub fn publish_payload_made_of(
        &self,
        payload: Bytes,
        inputs: &InputSet,
    ) -> Result<Option<u64>> {
        self.send(payload, |tag, stamp| {
            self.0.output.tag_of(self.0.times.now(), stamp, inputs, tag)
        })
    }

    fn send(
        &self,
        payload: Bytes,
        write: impl FnOnce(&mut Vec<u8>, Option<Time<Ros>>) -> bool,
    ) -> Result<Option<u64>> {
        let inner = &*self.0;
        if inner.output.tracker().is_enabled() {
            let stamp = stamp_of(inner.stamp.as_ref(), &payload);
            let tag = {
                let mut buffers = lock(&inner.buffers);
                let Buffers { tag, payload } = &mut *buffers;
                write(tag, stamp).then(|| {
                    // Reuses memory that the transport has released.
                    payload.extend_from_slice(tag);
                    payload.split().freeze()
                })
            };
            let sent = tag.map(|tag| inner.tags.publish(tag, PublishOptions::default()));
            if let Some(Err(error)) = sent {
                self.refuse_tag(&error);
            }
        }
        Ok(inner.main.publish(payload, PublishOptions::default())?)
    }

    /// Counts a tag that was not sent, and logs it the first time and at each doubling.
    #[cold]
    fn refuse_tag(&self, error: &timeloom_wire::Error) {
        let refused = self.0.refused.fetch_add(1, Ordering::Relaxed) + 1;
        if refused.is_power_of_two() {
            let topic = self.topic();
            (self.0.warn)(&format!(
                "{refused} tags of {topic} were not sent, its messages were: {error}"
            ));
        }
    }

    /// Number of tags that the middleware refused. Their messages were sent nevertheless, or have errors of their own.
    pub fn refused_tags(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// Adds an input of the next message by its topic's full name and its stamp, for nodes that buffer.
    ///
    /// As in TILDE, it is a state of the publisher: from the first call on, tags list only explicit inputs.
    /// [`publish_made_of`](Self::publish_made_of) has no such state. False when the node has no such input.
    pub fn add_explicit_input(&self, topic: &str, stamp: Time<Ros>) -> bool {
        let now = self.0.times.now();
        self.0.output.add_explicit_input(topic, stamp, now)
    }

    /// The full name of the topic.
    pub fn topic(&self) -> &str {
        self.0.output.topic()
    }

    /// The layout of its messages.
    pub fn schema(&self) -> &Schema {
        &self.0.schema
    }

    /// The underlying publisher of the messages.
    pub fn wire(&self) -> &dyn Publisher {
        &*self.0.main
    }

    /// The underlying publisher of the tags.
    pub fn tag_wire(&self) -> &dyn Publisher {
        &*self.0.tags
    }
}

/// The stamp of a payload; `None` if the type has none or the payload is truncated.
pub(super) fn stamp_of(program: Option<&StampProgram>, payload: &[u8]) -> Option<Time<Ros>> {
    let stamp = program?.read(payload).ok()?;
    Some(Time::from_nanos(stamp.nanos()))
}

impl std::fmt::Debug for TrackedPublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TrackedPublisher({})", self.topic())
    }
}
