//! Decodes messages for the page: clock sync from diagnostics, lineage from tags.

mod lineage;
mod sync;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use serde::Serialize;
use timeloom_msg::{Schema, StoredDefinition, TypeRequest, TypeResolver};
use timeloom_trace::{HopReport, TAG_TYPE};

use self::lineage::{Hops, Lineage};
use self::sync::SyncPlot;
use crate::channel::{Channel, ChannelId};
use crate::peer::lock;

const DIAGNOSTICS: &str = "diagnostic_msgs/msg/DiagnosticArray";

/// Limit for queued messages.
const MOST_WAITING: usize = 10_000;

/// Queues messages of two types and decodes them later, on the thread that reads the report.
#[derive(Default)]
pub(crate) struct PageData {
    subjects: Mutex<BTreeMap<ChannelId, Subject>>,
    waiting: Mutex<VecDeque<Queued>>,
    decoded: Mutex<Decoded>,
}

#[derive(Clone)]
enum Subject {
    Diagnostics(Arc<Schema>),
    /// Tags have a fixed layout.
    Tag,
}

#[derive(Clone, Copy)]
enum SubjectKind {
    Diagnostics,
    Tag,
}

/// Results of the messages decoded so far.
#[derive(Default)]
struct Decoded {
    sync: SyncPlot,
    lineage: Lineage,
    skipped: u64,
}

struct Queued {
    subject: Subject,
    time_ns: i64,
    payload: Bytes,
}

/// The decoded data for the page.
#[derive(Clone, Default, Serialize)]
pub(crate) struct PageReport {
    /// Clock sync, by sensor.
    sync: SyncPlot,
    /// The links between topics.
    lineage: Hops,
    /// Messages that were not decoded: the queue was full, or the message is malformed.
    skipped: u64,
}

impl PageData {
    /// Whether messages of a type are decoded.
    pub(crate) fn wants(type_name: &str) -> bool {
        kind_of(type_name).is_some()
    }

    /// Registers a channel if its type is decoded.
    pub(crate) fn meet(&self, id: ChannelId, channel: &Channel) {
        let Some(kind) = kind_of(&channel.type_name) else {
            return;
        };
        if let SubjectKind::Tag = kind {
            lock(&self.subjects).insert(id, Subject::Tag);
            return;
        }
        let mut request = TypeRequest::new(&channel.type_name);
        request.stored = Some(StoredDefinition {
            encoding: "ros2msg",
            text: &channel.definition,
        });
        match TypeResolver::default().resolve(&request) {
            Ok(schema) => {
                let subject = Subject::Diagnostics(Arc::new(schema));
                lock(&self.subjects).insert(id, subject);
            }
            Err(_) => lock(&self.decoded).skipped += 1,
        }
    }

    pub(crate) fn forget(&self, id: ChannelId) {
        lock(&self.subjects).remove(&id);
    }

    /// Queues a message if its channel is registered; holds a lock only briefly.
    pub(crate) fn offer(&self, id: ChannelId, time_ns: i64, payload: &Bytes) {
        let Some(subject) = lock(&self.subjects).get(&id).cloned() else {
            return;
        };
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= MOST_WAITING {
            waiting.pop_front();
            lock(&self.decoded).skipped += 1;
        }
        waiting.push_back(Queued {
            subject,
            time_ns,
            payload: payload.clone(),
        });
    }

    /// Decodes the queued messages and returns all results. `hops` replace the links found by tags.
    pub(crate) fn found(&self, hops: Option<Vec<HopReport>>) -> PageReport {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        let mut decoded = lock(&self.decoded);
        for queued in waiting {
            let is_taken = decoded.take(&queued);
            decoded.skipped += u64::from(!is_taken);
        }
        PageReport {
            sync: decoded.sync.clone(),
            lineage: hops.map_or_else(|| decoded.lineage.hops(), Hops),
            skipped: decoded.skipped,
        }
    }
}

impl Decoded {
    /// Decodes a message; false when it is malformed.
    fn take(&mut self, queued: &Queued) -> bool {
        match &queued.subject {
            Subject::Diagnostics(schema) => match schema.decode(&queued.payload) {
                Ok(value) => {
                    self.sync.take(queued.time_ns, &value);
                    true
                }
                Err(_) => false,
            },
            Subject::Tag => self.lineage.take(queued.time_ns, &queued.payload),
        }
    }
}

fn kind_of(type_name: &str) -> Option<SubjectKind> {
    match type_name {
        DIAGNOSTICS => Some(SubjectKind::Diagnostics),
        TAG_TYPE => Some(SubjectKind::Tag),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Retention;
    use timeloom_msg::Definitions;

    /// A channel of a built-in type, and an encoder for its messages.
    fn channel(type_name: &str) -> (Channel, Schema) {
        let schema = Definitions::builtin().schema(type_name).unwrap();
        let channel = Channel {
            topic: "/x".into(),
            type_name: type_name.into(),
            definition: schema.ros2msg().unwrap(),
            retention: Retention::None,
        };
        (channel, schema)
    }

    #[test]
    fn messages_of_other_types_are_not_queued() {
        let page_data = PageData::default();
        let (other, _) = channel("std_msgs/msg/String");
        page_data.meet(ChannelId(1), &other);
        page_data.offer(ChannelId(1), 0, &Bytes::from_static(b"x"));
        assert!(lock(&page_data.waiting).is_empty());
        assert!(!PageData::wants("std_msgs/msg/String") && PageData::wants(TAG_TYPE));
    }

    #[test]
    fn a_malformed_message_is_counted() {
        let page_data = PageData::default();
        let (tags, schema) = channel(TAG_TYPE);
        page_data.meet(ChannelId(1), &tags);
        page_data.offer(ChannelId(1), 0, &Bytes::from_static(b"x"));
        let whole = schema.encode(&schema.default_value().unwrap()).unwrap();
        page_data.offer(ChannelId(1), 0, &whole.into());
        assert_eq!(page_data.found(None).skipped, 1);
        assert_eq!(page_data.found(None).skipped, 1);
    }

    #[test]
    fn messages_beyond_the_queue_limit_are_counted() {
        let page_data = PageData::default();
        let (tags, schema) = channel(TAG_TYPE);
        page_data.meet(ChannelId(1), &tags);
        let whole: Bytes = schema
            .encode(&schema.default_value().unwrap())
            .unwrap()
            .into();
        for _ in 0..MOST_WAITING + 3 {
            page_data.offer(ChannelId(1), 0, &whole);
        }
        assert_eq!(page_data.found(None).skipped, 3);
    }
}
