use std::sync::Arc;

use bytes::Bytes;
use timeloom_time::Duration;
use timeloom_wire::{
    EndpointEvent, Error, EventObserver, Gid, PublishOptions, Publisher, Result, TopicSpec,
};

use crate::dispatcher::{Dispatch, EventHandler};
use crate::node::{AnnouncedEndpoints, NodeCore, topic_names};
use crate::own_nodes::EndpointGids;
use crate::shared::refused;
use crate::sys::{EndpointListener, Qos, RawWriter, ReturnCode, Written};
use crate::user_data;

pub(crate) struct DdsPublisher {
    writer: RawWriter,
    announced: AnnouncedEndpoints,
    topic: String,
}

/// The longest message: Cyclone counts in 32 bits and adds to it.
const LONGEST: usize = i32::MAX as usize;
const ENCAPSULATION: usize = 4;

impl DdsPublisher {
    pub(crate) fn new(
        node: &Arc<NodeCore>,
        topic: &TopicSpec,
        observer: EventObserver,
    ) -> Result<Self> {
        let (name, type_name) = topic_names(topic)?;
        let shared = &node.shared;
        let qos = Qos::writer(&topic.qos, &user_data::endpoint(topic.type_hash));
        let listener = Arc::new(Listener {
            observer: Arc::new(Observer(observer)),
            dispatch: shared.dispatch().clone(),
        });
        let writer = RawWriter::new(shared.domain(), &name, &type_name, &qos, listener)
            .map_err(|code| refused(format!("publish on `{}`", topic.name), code))?;
        let ends = EndpointGids {
            readers: Vec::new(),
            writers: vec![Gid(writer.guid())],
        };
        Ok(Self {
            writer,
            announced: AnnouncedEndpoints::new(node, ends),
            topic: topic.name.clone(),
        })
    }

    fn refused(&self, what: &str, code: ReturnCode) -> Error {
        refused(format!("{what} `{}`", self.topic), code)
    }
}

impl Publisher for DdsPublisher {
    fn gid(&self) -> Gid {
        Gid(self.writer.guid())
    }

    fn publish(&self, payload: Bytes, options: PublishOptions) -> Result<Option<u64>> {
        let length = payload.len();
        if length < ENCAPSULATION {
            return Err(Error::NoEncapsulation {
                topic: self.topic.clone(),
                length,
            });
        }
        if !is_known_encoding(&payload) {
            let action = format!("publish on `{}`", self.topic);
            return Err(refused(
                action,
                format_args!("the encapsulation {:02x?} is unknown", &payload[..2]),
            ));
        }
        if length > LONGEST {
            let action = format!("publish {length} bytes on `{}`", self.topic);
            return Err(refused(
                action,
                format_args!("a message has {LONGEST} at most"),
            ));
        }
        let now = || self.announced.shared().clock.now();
        let written = Written {
            source_time: options.source_time.unwrap_or_else(now).nanos(),
            related: None,
            flush: !options.batch,
        };
        let sequence = self
            .writer
            .write(payload, &written)
            .map_err(|code| self.refused("publish on", code))?;
        Ok((sequence > 0).then_some(sequence))
    }

    fn flush(&self) -> Result<()> {
        self.writer
            .flush()
            .map_err(|code| self.refused("flush", code))
    }

    fn wait_for_acknowledgements(&self, timeout: Duration) -> Result<bool> {
        let acknowledged = self.writer.wait_for_acks(timeout.nanos().max(0));
        acknowledged.map_err(|code| self.refused("wait for acknowledgements on", code))
    }

    fn assert_liveliness(&self) -> Result<()> {
        let asserted = self.writer.assert_liveliness();
        asserted.map_err(|code| self.refused("assert liveliness on", code))
    }

    fn matched(&self) -> usize {
        self.writer.matched()
    }
}

impl Drop for DdsPublisher {
    fn drop(&mut self) {
        // The rest of the batch was accepted, so it is sent; an error can no longer be reported.
        self.writer.flush().ok();
    }
}

/// A reliable stream stops forever at a sample that Cyclone DDS on the other side considers malformed.
fn is_known_encoding(payload: &[u8]) -> bool {
    matches!(payload, [0, 0..=3 | 6..=0x0b, ..])
}

/// Passes events to the participant's own thread.
struct Listener {
    observer: Arc<Observer>,
    dispatch: Dispatch,
}

struct Observer(EventObserver);

impl EventHandler for Observer {
    fn handle_event(&self, event: EndpointEvent) {
        tracing::debug!(?event, "publisher");
        (self.0)(event);
    }
}

impl EndpointListener for Listener {
    fn event(&self, event: EndpointEvent) {
        self.dispatch.event(Arc::clone(&self.observer) as _, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_that_stop_a_stream_are_refused() {
        for known in [[0, 1], [0, 0], [0, 3], [0, 7], [0, 0x0b]] {
            assert!(is_known_encoding(&known));
        }
        for unknown in [[0, 4], [0, 0x0c], [0x80, 1], [1, 0]] {
            assert!(!is_known_encoding(&unknown));
        }
    }
}
