use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::alarm::Alarm;
use super::link::{Content, LinkKey};
use crate::event::EndpointEvent;
use crate::gid::Gid;
use crate::graph::{GraphEvent, GraphObserver};
use crate::node_name::NodeName;
use crate::service::{Reply, Request};

/// A participant as the network sees it.
pub(super) struct Member {
    pub(super) label: String,
    pub(super) alarm: Alarm,
    pub(super) life: Life,
    /// Nobody holds it any more: its thread ends, unless others still believe in it.
    pub(super) left: bool,
    pub(super) next_entity: u32,
    pub(super) nodes: Vec<NodeName>,
    /// What happens later, in order.
    pub(super) due: BTreeMap<(i64, u64), Due>,
    /// What its thread has to do now, in order.
    pub(super) todo: VecDeque<Todo>,
    pub(super) watchers: BTreeMap<u64, Watcher>,
    /// Whose call its thread is in.
    pub(super) running: Option<Target>,
    /// Who waits for that call to end.
    pub(super) waiting: Vec<timeloom_time::Event>,
    /// How many samples of one reader were given in a row.
    pub(super) streak: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    Alive,
    /// Killed: silent, but still believed to be there.
    Silent,
    /// Killed, and its lease is over.
    Gone,
}

/// What happens at a time.
#[derive(Debug)]
pub(super) enum Due {
    Arrival(LinkKey, Content),
    /// A slow receiver is ready for the next.
    Resume(Gid),
    ReaderDeadline(Gid),
    WriterDeadline(Gid),
    /// The application of a writer should have said that it is alive.
    Liveliness(Gid),
    /// A writer of a dead participant is no longer believed to be alive.
    Silence(Gid),
    /// A dead participant is no longer believed to be there.
    Lease,
}

/// What a participant's thread has to tell somebody.
#[derive(Debug)]
pub(super) enum Todo {
    Samples(Gid),
    Pause(Gid),
    ReaderEvent(Gid, EndpointEvent),
    WriterEvent(Gid, EndpointEvent),
    ReaderDeadline(Gid),
    WriterDeadline(Gid),
    Graph(u64),
    Request(Gid, Request),
    Reply(Gid, Reply),
}

/// Whom a call goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Endpoint(Gid),
    Watcher(u64),
}

pub(super) struct Watcher {
    pub(super) observer: Arc<GraphObserver>,
    pub(super) events: VecDeque<GraphEvent>,
    /// It has been told everything that was there when it came.
    pub(super) replayed: bool,
}

impl Member {
    pub(super) fn new(label: &str, alarm: Alarm) -> Self {
        Self {
            label: label.to_owned(),
            alarm,
            life: Life::Alive,
            left: false,
            next_entity: 0,
            nodes: Vec::new(),
            due: BTreeMap::new(),
            todo: VecDeque::new(),
            watchers: BTreeMap::new(),
            running: None,
            waiting: Vec::new(),
            streak: 0,
        }
    }

    /// Whether its thread has nothing to do for ever.
    pub(super) fn is_over(&self) -> bool {
        self.left && self.life != Life::Silent
    }

    /// When its thread has to look again; none if nothing is planned.
    pub(super) fn next(&self, now: i64) -> Option<i64> {
        if !self.todo.is_empty() || self.is_over() {
            return Some(now);
        }
        self.due.first_key_value().map(|((at, _), _)| *at)
    }
}

/// The members whose threads have to look again.
pub(super) type Stirred = BTreeSet<u32>;
