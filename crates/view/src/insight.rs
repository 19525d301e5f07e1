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

/// Messages in the queue.
const MOST_WAITING: usize = 10_000;

/// Queues messages of two types, and decodes them later, on the thread that asks.
#[derive(Default)]
pub(crate) struct Insight {
    subjects: Mutex<BTreeMap<ChannelId, Subject>>,
    waiting: Mutex<VecDeque<Noted>>,
    sight: Mutex<Sight>,
}

#[derive(Clone)]
enum Subject {
    Diagnostics(Arc<Schema>),
    /// Their layout is fixed.
    Tag,
}

#[derive(Clone, Copy)]
enum SubjectKind {
    Diagnostics,
    Tag,
}

/// What the messages said so far.
#[derive(Default)]
struct Sight {
    sync: SyncPlot,
    lineage: Lineage,
    skipped: u64,
}

struct Noted {
    subject: Subject,
    time_ns: i64,
    payload: Bytes,
}

/// What was found so far.
#[derive(Clone, Default, Serialize)]
pub(crate) struct Found {
    /// Clock sync, by sensor.
    sync: SyncPlot,
    /// Which topics are made of which.
    lineage: Hops,
    /// Messages that could not be looked at: too many at once, or not as their type says.
    skipped: u64,
}

impl Insight {
    /// Whether messages of a type are looked at.
    pub(crate) fn wants(type_name: &str) -> bool {
        kind_of(type_name).is_some()
    }

    /// Remembers a channel if its messages are of interest.
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
            Err(_) => lock(&self.sight).skipped += 1,
        }
    }

    pub(crate) fn forget(&self, id: ChannelId) {
        lock(&self.subjects).remove(&id);
    }

    /// Notes a message if it is of interest; takes no longer than a lock.
    pub(crate) fn offer(&self, id: ChannelId, time_ns: i64, payload: &Bytes) {
        let Some(subject) = lock(&self.subjects).get(&id).cloned() else {
            return;
        };
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= MOST_WAITING {
            waiting.pop_front();
            lock(&self.sight).skipped += 1;
        }
        waiting.push_back(Noted {
            subject,
            time_ns,
            payload: payload.clone(),
        });
    }

    /// Processes the messages that wait; all results. `hops` replace those of the tags that passed.
    pub(crate) fn found(&self, hops: Option<Vec<HopReport>>) -> Found {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        let mut sight = lock(&self.sight);
        for noted in waiting {
            let is_taken = sight.take(&noted);
            sight.skipped += u64::from(!is_taken);
        }
        Found {
            sync: sight.sync.clone(),
            lineage: hops.map_or_else(|| sight.lineage.hops(), Hops),
            skipped: sight.skipped,
        }
    }
}

impl Sight {
    /// Looks at a message; false when it is not as its type says.
    fn take(&mut self, noted: &Noted) -> bool {
        match &noted.subject {
            Subject::Diagnostics(schema) => match schema.decode(&noted.payload) {
                Ok(value) => {
                    self.sync.take(noted.time_ns, &value);
                    true
                }
                Err(_) => false,
            },
            Subject::Tag => self.lineage.take(noted.time_ns, &noted.payload),
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
    fn messages_of_other_types_are_not_kept() {
        let insight = Insight::default();
        let (other, _) = channel("std_msgs/msg/String");
        insight.meet(ChannelId(1), &other);
        insight.offer(ChannelId(1), 0, &Bytes::from_static(b"x"));
        assert!(lock(&insight.waiting).is_empty());
        assert!(!Insight::wants("std_msgs/msg/String") && Insight::wants(TAG_TYPE));
    }

    #[test]
    fn a_broken_message_is_counted() {
        let insight = Insight::default();
        let (tags, schema) = channel(TAG_TYPE);
        insight.meet(ChannelId(1), &tags);
        insight.offer(ChannelId(1), 0, &Bytes::from_static(b"x"));
        let whole = schema.encode(&schema.default_value().unwrap()).unwrap();
        insight.offer(ChannelId(1), 0, &whole.into());
        assert_eq!(insight.found(None).skipped, 1);
        assert_eq!(insight.found(None).skipped, 1);
    }

    #[test]
    fn more_than_fits_is_counted() {
        let insight = Insight::default();
        let (tags, schema) = channel(TAG_TYPE);
        insight.meet(ChannelId(1), &tags);
        let whole: Bytes = schema
            .encode(&schema.default_value().unwrap())
            .unwrap()
            .into();
        for _ in 0..MOST_WAITING + 3 {
            insight.offer(ChannelId(1), 0, &whole);
        }
        assert_eq!(insight.found(None).skipped, 3);
    }
}
