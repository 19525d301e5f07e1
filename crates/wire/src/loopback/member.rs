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
    pub(super) life: MemberState,
    /// All handles are dropped: its thread ends, unless its lease is still running.
    pub(super) left: bool,
    pub(super) next_entity: u32,
    pub(super) nodes: Vec<NodeName>,
    /// Future work, in order.
    pub(super) due: BTreeMap<(i64, u64), Due>,
    /// Work that its thread has to do now, in order.
    pub(super) todo: VecDeque<Todo>,
    pub(super) watchers: BTreeMap<u64, Watcher>,
    /// The target of the call that its thread is in.
    pub(super) running: Option<Target>,
    /// Signalled when that call ends.
    pub(super) waiting: Vec<timeloom_time::Event>,
    /// Number of samples of one reader delivered in a row.
    pub(super) streak: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberState {
    Alive,
    /// Killed: silent, but its lease is still running.
    Silent,
    /// Killed, and its lease has expired.
    Gone,
}

/// Work at a certain time.
#[derive(Debug)]
pub(super) enum Due {
    Arrival(LinkKey, Content),
    /// A slow receiver is ready for the next sample.
    Resume(Gid),
    ReaderDeadline(Gid),
    WriterDeadline(Gid),
    /// The application of a writer should have asserted its liveliness.
    Liveliness(Gid),
    /// A writer of a killed participant loses its liveliness.
    Silence(Gid),
    /// The lease of a killed participant expires.
    Lease,
}

/// A notification that a participant's thread has to deliver.
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

/// The target of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Endpoint(Gid),
    Watcher(u64),
}

pub(super) struct Watcher {
    pub(super) observer: Arc<GraphObserver>,
    pub(super) events: VecDeque<GraphEvent>,
    /// It was called with the whole graph of the moment when it was added.
    pub(super) replayed: bool,
}

impl Member {
    pub(super) fn new(label: &str, alarm: Alarm) -> Self {
        Self {
            label: label.to_owned(),
            alarm,
            life: MemberState::Alive,
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

    /// Whether its thread will never have work again.
    pub(super) fn is_over(&self) -> bool {
        self.left && self.life != MemberState::Silent
    }

    /// The next time at which its thread has work; `None` if nothing is planned.
    pub(super) fn next(&self, now: i64) -> Option<i64> {
        if !self.todo.is_empty() || self.is_over() {
            return Some(now);
        }
        self.due.first_key_value().map(|((at, _), _)| *at)
    }
}

/// The members whose threads have to check for work.
pub(super) type WakeList = BTreeSet<u32>;
