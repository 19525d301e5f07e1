use std::sync::Arc;

use timeloom_msg::{Schema, StampProgram, Value};
use timeloom_time::{Ros, Time};
use timeloom_trace::{Received, TrackedInput, Used};
use timeloom_wire::{EndpointEvent, Receiver, Sample, Subscription, TopicSpec};

use super::publisher::stamp_of;
use super::times::Times;
use crate::{Result, RosNode};

/// The callback for a tracked message.
pub(super) type Callback = Box<dyn Fn(&TrackedMessage<'_>) + Send + Sync>;

/// A subscription whose messages are recorded before the callback runs. Dropping it ends it.
pub struct TrackedSubscription {
    input: Arc<TrackedInput>,
    subscription: Box<dyn Subscription>,
}

/// A received message, as the callback sees it.
#[derive(Debug)]
pub struct TrackedMessage<'a> {
    sample: &'a Sample,
    used: Used,
    schema: &'a Schema,
}

impl TrackedMessage<'_> {
    /// The message as received.
    pub fn sample(&self) -> &Sample {
        self.sample
    }

    /// The message decoded.
    ///
    /// # Errors
    /// When the payload does not fit its type.
    pub fn value(&self) -> Result<Value> {
        Ok(self.schema.decode(&self.sample.payload)?)
    }

    /// Its stamp, if it has one.
    pub fn stamp(&self) -> Option<Time<Ros>> {
        self.used.received().stamp
    }

    /// The entry for an [`InputSet`](timeloom_trace::InputSet) of a message made of it.
    pub fn used(&self) -> Used {
        self.used
    }
}

struct TrackedReceiver {
    input: Arc<TrackedInput>,
    times: Times,
    stamp: Option<StampProgram>,
    schema: Arc<Schema>,
    callback: Callback,
}

impl Receiver for TrackedReceiver {
    fn sample(&self, sample: Sample) {
        let received = Received {
            at: self.times.now(),
            stamp: stamp_of(self.stamp.as_ref(), &sample.payload),
        };
        let used = self.input.received(received);
        (self.callback)(&TrackedMessage {
            sample: &sample,
            used,
            schema: &self.schema,
        });
    }

    fn event(&self, _event: EndpointEvent) {}
}

impl TrackedSubscription {
    pub(super) fn new(
        node: &RosNode,
        input: Arc<TrackedInput>,
        times: Times,
        spec: &TopicSpec,
        schema: &Arc<Schema>,
        callback: Callback,
    ) -> Result<Self> {
        let receiver = Arc::new(TrackedReceiver {
            input: Arc::clone(&input),
            times,
            stamp: StampProgram::compile(schema),
            schema: Arc::clone(schema),
            callback,
        });
        Ok(Self {
            subscription: node.wire().subscribe(spec, receiver)?,
            input,
        })
    }

    /// The recorded messages.
    pub fn input(&self) -> &TrackedInput {
        &self.input
    }

    /// The underlying subscription.
    pub fn wire(&self) -> &dyn Subscription {
        &*self.subscription
    }
}

impl std::fmt::Debug for TrackedSubscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TrackedSubscription({})", self.input.topic())
    }
}
