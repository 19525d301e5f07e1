use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::alarm::Alarm;
use super::endpoints::{Client, Reader, Server, Writer};
use super::faults::{Connection, Faults, LinkPlace, Scope};
use super::link::{Link, LinkAccount, LinkKey};
use super::member::{Due, Member, MemberState, Target, Todo, WakeList, Watcher};
use super::options::LoopbackOptions;
use crate::event::EndpointEvent;
use crate::gid::Gid;
use crate::graph::{Graph, GraphEvent, GraphObserver};
use crate::node_name::NodeName;

/// The whole network: its members, samples in flight, pending notifications. Time is an argument, and no user code runs
/// in here.
pub(super) struct State {
    pub(super) options: LoopbackOptions,
    pub(super) members: BTreeMap<u32, Member>,
    pub(super) writers: BTreeMap<Gid, Writer>,
    pub(super) readers: BTreeMap<Gid, Reader>,
    pub(super) servers: BTreeMap<Gid, Server>,
    pub(super) clients: BTreeMap<Gid, Client>,
    pub(super) links: BTreeMap<LinkKey, Link>,
    /// The accounts of links that have ended.
    pub(super) ended_links: BTreeMap<LinkKey, LinkAccount>,
    /// The last sequence numbers of writers that have left.
    pub(super) last_numbers: BTreeMap<LinkKey, u64>,
    /// Fault rules; the last one that matches applies.
    pub(super) rules: Vec<(Scope, Faults)>,
    pub(super) graph: Graph,
    /// Members whose threads have to check for work.
    pub(super) to_wake: WakeList,
    /// Values to be dropped with no lock held: their drop may run user code.
    pub(super) dropped_later: Vec<Box<dyn Any + Send>>,
    counter: u64,
    last_member: u32,
}

/// The member that an endpoint belongs to.
pub(super) fn member_of(gid: Gid) -> u32 {
    let [.., a, b, c, d, _, _, _, _] = gid.0;
    u32::from_be_bytes([a, b, c, d])
}

impl State {
    pub(super) fn new(options: LoopbackOptions) -> Self {
        Self {
            options,
            members: BTreeMap::new(),
            writers: BTreeMap::new(),
            readers: BTreeMap::new(),
            servers: BTreeMap::new(),
            clients: BTreeMap::new(),
            links: BTreeMap::new(),
            ended_links: BTreeMap::new(),
            last_numbers: BTreeMap::new(),
            rules: Vec::new(),
            graph: Graph::default(),
            to_wake: WakeList::new(),
            dropped_later: Vec::new(),
            counter: 0,
            last_member: 0,
        }
    }

    /// A number that is higher than all before it.
    pub(super) fn count(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    pub(super) fn join(&mut self, label: &str, alarm: Alarm) -> u32 {
        // Ids are never reused, so that a gid always means one endpoint.
        self.last_member += 1;
        let id = self.last_member;
        let member = Member::new(label, alarm.placed(id));
        self.members.insert(id, member);
        id
    }

    pub(super) fn new_gid(&mut self, member: u32) -> Gid {
        let entity = self.members.get_mut(&member).map_or(0, |member| {
            member.next_entity += 1;
            member.next_entity
        });
        let mut gid = *b"tloop\0\0\0\0\0\0\0\0\0\0\0";
        gid[8..12].copy_from_slice(&member.to_be_bytes());
        gid[12..].copy_from_slice(&entity.to_be_bytes());
        Gid(gid)
    }

    /// Whether the member is killed and its lease is still running: its endpoints stay when they are dropped.
    pub(super) fn is_silent(&self, member: u32) -> bool {
        self.members
            .get(&member)
            .is_some_and(|member| member.life == MemberState::Silent)
    }

    pub(super) fn is_alive(&self, member: u32) -> bool {
        self.members
            .get(&member)
            .is_some_and(|member| member.life == MemberState::Alive)
    }

    /// Queues a notification for a member's thread.
    pub(super) fn add_task(&mut self, member: u32, todo: Todo) {
        if let Some(known) = self.members.get_mut(&member)
            && known.life == MemberState::Alive
        {
            known.todo.push_back(todo);
            self.to_wake.insert(member);
        }
    }

    pub(super) fn notify_reader(&mut self, reader: Gid, event: EndpointEvent) {
        self.add_task(member_of(reader), Todo::ReaderEvent(reader, event));
    }

    pub(super) fn notify_writer(&mut self, writer: Gid, event: EndpointEvent) {
        self.add_task(member_of(writer), Todo::WriterEvent(writer, event));
    }

    /// Plans something for a member's thread.
    pub(super) fn plan(&mut self, member: u32, at: i64, due: Due) {
        let number = self.count();
        if let Some(known) = self.members.get_mut(&member) {
            known.due.insert((at, number), due);
            self.to_wake.insert(member);
        }
    }

    pub(super) fn faults(&self, key: LinkKey, topic: &str) -> Faults {
        if self.rules.is_empty() {
            return Faults::NONE;
        }
        let label = |gid| {
            self.members
                .get(&member_of(gid))
                .map_or("", |member| member.label.as_str())
        };
        let place = LinkPlace {
            topic,
            from: label(key.0),
            to: label(key.1),
            writer: key.0,
            reader: key.1,
        };
        self.rules
            .iter()
            .rev()
            .find(|(scope, _)| scope.covers(&place))
            .map_or(Faults::NONE, |(_, faults)| *faults)
    }

    /// The last sequence number in a heartbeat of the writer to the reader, while the connection is up.
    pub(super) fn heartbeat(&self, key: LinkKey) -> Option<u64> {
        let link = self.links.get(&key).filter(|link| link.reliable)?;
        let known = self.writers.get(&key.0)?;
        let up = self.faults(key, &link.topic).connection == Connection::Up;
        up.then(|| known.sequence.saturating_sub(known.batch.len() as u64))
    }

    pub(super) fn add_node(&mut self, member: u32, name: &NodeName) {
        if let Some(known) = self.members.get_mut(&member) {
            known.nodes.push(name.clone());
        }
        self.change_graph(GraphEvent::NodeAdded(name.clone()));
    }

    pub(super) fn remove_node(&mut self, member: u32, name: &NodeName) {
        let Some(known) = self.members.get_mut(&member) else {
            return;
        };
        // A killed participant sends no farewell: its nodes are removed when the lease expires.
        let at = known.nodes.iter().position(|node| node == name);
        let Some(at) = at.filter(|_| known.life != MemberState::Silent) else {
            return;
        };
        known.nodes.remove(at);
        self.change_graph(GraphEvent::NodeRemoved(name.clone()));
    }

    /// Changes the graph and notifies all watchers.
    #[expect(clippy::needless_pass_by_value, reason = "an event happens once")]
    pub(super) fn change_graph(&mut self, event: GraphEvent) {
        if !self.graph.apply(&event) {
            return;
        }
        for (id, member) in &mut self.members {
            if member.life != MemberState::Alive {
                continue;
            }
            for (number, watcher) in &mut member.watchers {
                watcher.events.push_back(event.clone());
                if watcher.replayed {
                    member.todo.push_back(Todo::Graph(*number));
                    self.to_wake.insert(*id);
                }
            }
        }
    }

    /// Adds a watcher; returns the events that it gets first.
    pub(super) fn watch(
        &mut self,
        member: u32,
        observer: Arc<GraphObserver>,
    ) -> (u64, Vec<GraphEvent>) {
        let number = self.count();
        let watcher = Watcher {
            observer,
            events: std::collections::VecDeque::new(),
            replayed: false,
        };
        if let Some(member) = self.members.get_mut(&member) {
            member.watchers.insert(number, watcher);
        }
        (number, self.graph.replay())
    }

    /// The watcher has got the initial graph; its thread delivers the changes since then.
    pub(super) fn replayed(&mut self, member: u32, number: u64) {
        let Some(known) = self.members.get_mut(&member) else {
            return;
        };
        if let Some(watcher) = known.watchers.get_mut(&number) {
            watcher.replayed = true;
            let waiting = watcher.events.iter().map(|_| Todo::Graph(number));
            known.todo.extend(waiting);
            self.to_wake.insert(member);
        }
    }

    pub(super) fn unwatch(&mut self, member: u32, number: u64) -> Option<Watcher> {
        self.members.get_mut(&member)?.watchers.remove(&number)
    }

    /// An event to wait for while the member's thread is in a call of `target`; `None` if it is not.
    pub(super) fn running(
        &mut self,
        target: Target,
        member: u32,
        event: impl FnOnce() -> timeloom_time::Event,
    ) -> Option<timeloom_time::Event> {
        let known = self.members.get_mut(&member)?;
        (known.running == Some(target)).then(|| {
            let event = event();
            known.waiting.push(event.clone());
            event
        })
    }

    /// Wakes the threads that have to check for work.
    pub(super) fn wake_threads(&mut self, now: i64) {
        for id in std::mem::take(&mut self.to_wake) {
            if let Some(member) = self.members.get_mut(&id)
                && let Some(at) = member.next(now)
            {
                member.alarm.set(at, now);
            }
        }
    }

    /// The participant leaves; its endpoints and nodes are already removed.
    pub(super) fn leave(&mut self, member: u32) {
        if let Some(known) = self.members.get_mut(&member) {
            known.left = true;
            self.to_wake.insert(member);
        }
    }
}
