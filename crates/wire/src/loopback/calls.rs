//! Callbacks of a participant's thread, made with no lock held.

use std::sync::Arc;

use super::member::{Due, MemberState, Target, Todo};
use super::service::ServerHandle;
use super::shared::Shared;
use super::state::State;
use crate::event::{EndpointEvent, EventObserver};
use crate::gid::Gid;
use crate::graph::{GraphEvent, GraphObserver};
use crate::sample::Sample;
use crate::service::{Reply, ReplyReceiver, Request, RequestHandler};
use crate::subscription::Receiver;

/// One call of user code.
pub(super) enum Call {
    Sample(Arc<dyn Receiver>, Sample),
    Pause(Arc<dyn Receiver>),
    Event(Arc<dyn Receiver>, EndpointEvent),
    Observe(EventObserver, EndpointEvent),
    Graph(Arc<GraphObserver>, GraphEvent),
    Request(Arc<dyn RequestHandler>, Request, Gid, String),
    Reply(Arc<dyn ReplyReceiver>, Reply),
}

/// After this many samples in a row another reader gets its turn.
const MOST_IN_A_ROW: usize = 128;

impl Call {
    pub(super) fn run(self, shared: &Arc<Shared>) {
        match self {
            Self::Sample(receiver, sample) => receiver.sample(sample),
            Self::Pause(receiver) => receiver.pause(),
            Self::Event(receiver, event) => receiver.event(event),
            Self::Observe(observer, event) => observer(event),
            Self::Graph(observer, event) => observer(&event),
            Self::Request(handler, request, gid, service) => {
                let server = ServerHandle::new(shared, gid, service);
                handler.request(request, &server);
            }
            Self::Reply(receiver, reply) => receiver.reply(reply),
        }
    }
}

impl State {
    /// The next call of a member's thread; marks its target as running.
    pub(super) fn next_call(&mut self, member: u32, now: i64) -> Option<Call> {
        loop {
            let known = self.members.get_mut(&member)?;
            if known.life != MemberState::Alive {
                return None;
            }
            let todo = known.todo.pop_front()?;
            let target = todo.target();
            if let Some(call) = self.resolve(member, todo, now) {
                if let Some(known) = self.members.get_mut(&member) {
                    known.running = Some(target);
                }
                return Some(call);
            }
        }
    }

    /// The member's thread has returned from its call.
    pub(super) fn returned(&mut self, member: u32) {
        if let Some(known) = self.members.get_mut(&member) {
            known.running = None;
            for event in known.waiting.drain(..) {
                event.set();
            }
        }
    }

    /// The call for a pending task; `None` if its target is gone.
    fn resolve(&mut self, member: u32, todo: Todo, now: i64) -> Option<Call> {
        let receiver = |state: &Self, gid| {
            let reader = state.readers.get(&gid)?;
            Some(Arc::clone(&reader.receiver))
        };
        let observer = |state: &Self, gid| {
            let writer = state.writers.get(&gid)?;
            Some(Arc::clone(&writer.observer))
        };
        Some(match todo {
            Todo::Samples(gid) => return self.next_sample(member, gid, now),
            Todo::Pause(gid) => Call::Pause(receiver(self, gid)?),
            Todo::ReaderEvent(gid, event) => Call::Event(receiver(self, gid)?, event),
            Todo::WriterEvent(gid, event) => Call::Observe(observer(self, gid)?, event),
            Todo::ReaderDeadline(gid) => {
                let event = self.readers.get_mut(&gid)?.deadline.as_mut()?.take_event();
                Call::Event(receiver(self, gid)?, event)
            }
            Todo::WriterDeadline(gid) => {
                let event = self.writers.get_mut(&gid)?.deadline.as_mut()?.take_event();
                Call::Observe(observer(self, gid)?, event)
            }
            Todo::Graph(number) => {
                let watcher = self.members.get_mut(&member)?.watchers.get_mut(&number)?;
                let event = watcher.events.pop_front()?;
                Call::Graph(Arc::clone(&watcher.observer), event)
            }
            Todo::Request(gid, request) => {
                let server = self.servers.get(&gid)?;
                let service = server.info.topic.clone();
                Call::Request(Arc::clone(&server.handler), request, gid, service)
            }
            Todo::Reply(gid, reply) => {
                Call::Reply(Arc::clone(&self.clients.get(&gid)?.receiver), reply)
            }
        })
    }

    /// One sample of a reader, or its pause when no more is pending.
    fn next_sample(&mut self, member: u32, gid: Gid, now: i64) -> Option<Call> {
        loop {
            let reader = self.readers.get_mut(&gid)?;
            let receiver = Arc::clone(&reader.receiver);
            let Some(arrived) = reader.queue.pop() else {
                reader.listed = false;
                self.members.get_mut(&member)?.streak = 0;
                return Some(Call::Pause(receiver));
            };
            let key = (arrived.sample.writer, gid);
            if arrived.expires.is_some_and(|expires| expires <= now) {
                self.lose(key, |account| &mut account.expired);
                continue;
            }
            if let Some(link) = self.links.get_mut(&key) {
                link.account.delivered += 1;
                link.account.waiting -= 1;
            }
            self.after_sample(member, gid, key, now);
            return Some(Call::Sample(receiver, arrived.sample));
        }
    }

    /// Decides when the reader's next sample is delivered.
    fn after_sample(&mut self, member: u32, gid: Gid, key: (Gid, Gid), now: i64) {
        match self.writers.get_mut(&key.0) {
            Some(writer) => writer.wake(),
            None => self.finish(key),
        }
        let slow = self.slowness(key);
        let (Some(reader), Some(known)) =
            (self.readers.get_mut(&gid), self.members.get_mut(&member))
        else {
            return;
        };
        if slow > 0 {
            reader.busy_until = now.saturating_add_unsigned(slow);
            reader.listed = false;
            known.streak = 0;
            known.todo.push_front(Todo::Pause(gid));
            let at = reader.busy_until;
            return self.plan(member, at, Due::Resume(gid));
        }
        known.streak += 1;
        if known.streak >= MOST_IN_A_ROW {
            known.streak = 0;
            known.todo.push_back(Todo::Samples(gid));
        } else {
            known.todo.push_front(Todo::Samples(gid));
        }
    }

    fn slowness(&self, key: (Gid, Gid)) -> u64 {
        if self.rules.is_empty() {
            return 0;
        }
        let topic = self
            .readers
            .get(&key.1)
            .map_or("", |reader| reader.info.topic.as_str());
        super::faults::nanos(self.faults(key, topic).slow_receiver)
    }
}

impl Todo {
    fn target(&self) -> Target {
        match self {
            Self::Graph(number) => Target::Watcher(*number),
            Self::Samples(gid)
            | Self::Pause(gid)
            | Self::ReaderEvent(gid, _)
            | Self::WriterEvent(gid, _)
            | Self::ReaderDeadline(gid)
            | Self::WriterDeadline(gid)
            | Self::Request(gid, _)
            | Self::Reply(gid, _) => Target::Endpoint(*gid),
        }
    }
}
