use std::sync::Arc;

use bytes::Bytes;
use timeloom_time::{Clock, Duration, Event, Steady, Time};

use super::link::Link;
use super::member::Target;
use super::node::NodePresence;
use super::shared::Shared;
use super::state::member_of;
use crate::error::{Error, Result};
use crate::gid::Gid;
use crate::publisher::{PublishOptions, Publisher};

/// The length of an encapsulation header: no message is shorter.
pub(super) const HEADER: usize = 4;

pub(super) struct LoopbackPublisher {
    node: Arc<NodePresence>,
    gid: Gid,
    topic: String,
    clock: Clock<Steady>,
}

/// The outcome of an attempt to publish.
enum Attempt {
    Sent(u64),
    /// A reader is full; the event is set when it may have room.
    Full(Gid, Event),
    Dead,
}

impl LoopbackPublisher {
    pub(super) fn new(node: Arc<NodePresence>, gid: Gid, topic: String) -> Self {
        let clock = Clock::on(&node.shared().base);
        Self {
            node,
            gid,
            topic,
            clock,
        }
    }

    fn attempt(&self, payload: &Bytes, options: PublishOptions) -> Attempt {
        self.node.shared().with(|state, now| {
            if !state.is_alive(member_of(self.gid)) {
                return Attempt::Dead;
            }
            if let Some(reader) = state.full_reader(self.gid, payload.len()) {
                let event = Event::new(&self.node.shared().base);
                if let Some(writer) = state.writers.get_mut(&self.gid) {
                    writer.waiting.push(event.clone());
                }
                return Attempt::Full(reader, event);
            }
            let source_time = options.source_time.unwrap_or(now.system);
            state
                .publish(self.gid, payload.clone(), source_time, options.batch, now)
                .map_or(Attempt::Dead, Attempt::Sent)
        })
    }

    fn refused(&self, reason: impl Into<String>) -> Error {
        Error::Refused {
            transport: "loopback",
            action: format!("publish on `{}`", self.topic),
            reason: reason.into(),
        }
    }

    /// Time left until `until`; `None` if there is none.
    fn left(&self, until: Time<Steady>) -> Option<Duration> {
        until
            .checked_since(self.clock.now())
            .filter(|left| *left > Duration::from_nanos(0))
    }
}

impl Publisher for LoopbackPublisher {
    fn gid(&self) -> Gid {
        self.gid
    }

    fn publish(&self, payload: Bytes, options: PublishOptions) -> Result<Option<u64>> {
        if payload.len() < HEADER {
            return Err(Error::NoEncapsulation {
                topic: self.topic.clone(),
                length: payload.len(),
            });
        }
        let patience = self
            .node
            .shared()
            .with(|state, _| state.options.max_blocking);
        let until = self.clock.now().saturating_add(patience);
        loop {
            match self.attempt(&payload, options) {
                Attempt::Sent(number) => return Ok(Some(number)),
                Attempt::Dead => return Err(self.refused("the participant is dead")),
                Attempt::Full(reader, room) => {
                    // Its own thread cannot make room while it is in this call.
                    let hopeless = Shared::is_thread_of(member_of(reader));
                    let Some(left) = self.left(until).filter(|_| !hopeless) else {
                        return Err(self.refused(format!(
                            "the subscription {reader} keeps all and had no room for {patience}"
                        )));
                    };
                    room.wait_for(left);
                }
            }
        }
    }

    fn flush(&self) -> Result<()> {
        self.node
            .shared()
            .with(|state, now| state.flush(self.gid, now));
        Ok(())
    }

    fn wait_for_acknowledgements(&self, timeout: Duration) -> Result<bool> {
        let until = self.clock.now().saturating_add(timeout);
        self.flush()?;
        loop {
            let missing = self.node.shared().with(|state, _| {
                let writer = state.writers.get_mut(&self.gid)?;
                let all = writer.readers.iter().all(|reader| {
                    let link = state.links.get(&(self.gid, *reader));
                    link.is_none_or(Link::is_acknowledged)
                });
                (!all).then(|| {
                    let event = Event::new(&self.node.shared().base);
                    writer.waiting.push(event.clone());
                    event
                })
            });
            let Some(missing) = missing else {
                return Ok(true);
            };
            let Some(left) = self.left(until) else {
                return Ok(false);
            };
            missing.wait_for(left);
        }
    }

    fn assert_liveliness(&self) -> Result<()> {
        self.node.shared().with(|state, now| {
            if state.is_alive(member_of(self.gid)) {
                state.assert_liveliness(self.gid, now.steady);
            }
        });
        Ok(())
    }

    fn matched(&self) -> usize {
        self.node.shared().with(|state, _| {
            let writer = state.writers.get(&self.gid);
            writer.map_or(0, |writer| writer.readers.len())
        })
    }
}

impl Drop for LoopbackPublisher {
    fn drop(&mut self) {
        let target = Target::Endpoint(self.gid);
        self.node
            .shared()
            .end(target, member_of(self.gid), |state, now| {
                state.remove_writer(self.gid, now)
            });
    }
}
