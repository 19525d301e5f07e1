//! Work that is due as time passes: arrivals, deadlines, liveliness, leases.

use super::endpoints::{Deadline, Lease, nanos};
use super::faults::nanos as fault_nanos;
use super::link::{Content, LinkKey};
use super::member::{Due, MemberState, Todo};
use super::state::{State, member_of};
use super::transmit::Now;
use crate::event::EndpointEvent;
use crate::gid::Gid;
use crate::graph::GraphEvent;

impl State {
    /// Executes all due work of a member.
    pub(super) fn advance(&mut self, member: u32, now: Now) {
        while let Some((at, due)) = self.pop_due(member, now.steady) {
            self.happen(member, at, due, now);
        }
    }

    fn pop_due(&mut self, member: u32, now: i64) -> Option<(i64, Due)> {
        let known = self.members.get_mut(&member)?;
        let entry = known.due.first_entry()?;
        if entry.key().0 > now {
            return None;
        }
        let ((at, _), due) = entry.remove_entry();
        Some((at, due))
    }

    fn happen(&mut self, member: u32, at: i64, due: Due, now: Now) {
        match due {
            Due::Arrival(key, content) => self.arrival(key, content, at, now),
            Due::Resume(reader) => self.list(reader, now.steady),
            Due::ReaderDeadline(gid) => self.reader_deadline(gid, at),
            Due::WriterDeadline(gid) => self.writer_deadline(gid, at),
            Due::Liveliness(gid) => self.check_lease(gid, at),
            Due::Silence(gid) => self.set_alive(gid, false),
            Due::Lease => self.forget(member, now),
        }
    }

    fn arrival(&mut self, key: LinkKey, content: Content, at: i64, now: Now) {
        self.arrived(key, content, at, now);
        if !self.writers.contains_key(&key.0) && self.readers.contains_key(&key.1) {
            self.finish(key);
        }
    }

    /// A writer sent a sample.
    pub(super) fn published(&mut self, gid: Gid, now: i64) {
        self.assert_liveliness(gid, now);
        let first = self
            .writers
            .get_mut(&gid)
            .and_then(|writer| writer.deadline.as_mut())
            .and_then(|deadline| deadline.begin(now));
        if let Some(at) = first {
            self.plan(member_of(gid), at, Due::WriterDeadline(gid));
        }
    }

    /// A reader got a sample.
    pub(super) fn received(&mut self, gid: Gid, now: i64) {
        let reader = self.readers.get_mut(&gid);
        let deadline = reader.and_then(|reader| reader.deadline.as_mut());
        if let Some(at) = deadline.and_then(|deadline| deadline.begin(now)) {
            self.plan(member_of(gid), at, Due::ReaderDeadline(gid));
        }
    }

    fn reader_deadline(&mut self, gid: Gid, at: i64) {
        let reader = self.readers.get_mut(&gid);
        let deadline = reader.and_then(|reader| reader.deadline.as_mut());
        if let Some((next, missed)) = deadline.map(|deadline| deadline.check(at)) {
            self.plan(member_of(gid), next, Due::ReaderDeadline(gid));
            if missed {
                self.add_task(member_of(gid), Todo::ReaderDeadline(gid));
            }
        }
    }

    fn writer_deadline(&mut self, gid: Gid, at: i64) {
        let writer = self.writers.get_mut(&gid);
        let deadline = writer.and_then(|writer| writer.deadline.as_mut());
        if let Some((next, missed)) = deadline.map(|deadline| deadline.check(at)) {
            self.plan(member_of(gid), next, Due::WriterDeadline(gid));
            if missed {
                self.add_task(member_of(gid), Todo::WriterDeadline(gid));
            }
        }
    }

    fn lease_of(&mut self, gid: Gid) -> Option<&mut Lease> {
        let writer = self.writers.get_mut(&gid);
        writer.and_then(|writer| writer.lease.as_mut())
    }

    /// The application of a writer asserts its liveliness.
    pub(super) fn assert_liveliness(&mut self, gid: Gid, now: i64) {
        let Some(lease) = self.lease_of(gid) else {
            return;
        };
        lease.asserted = now;
        if !std::mem::replace(&mut lease.alive, true) {
            let at = now.saturating_add(lease.duration);
            self.plan(member_of(gid), at, Due::Liveliness(gid));
            self.set_alive(gid, true);
        }
    }

    fn check_lease(&mut self, gid: Gid, at: i64) {
        let Some(lease) = self.lease_of(gid) else {
            return;
        };
        let ends = lease.asserted.saturating_add(lease.duration);
        if ends > at {
            return self.plan(member_of(gid), ends, Due::Liveliness(gid));
        }
        lease.alive = false;
        self.set_alive(gid, false);
        let event = EndpointEvent::LivelinessChanged { alive: 0, dead: 1 };
        self.notify_writer(gid, event);
    }

    /// Notifies the readers of a writer that its liveliness changed.
    fn set_alive(&mut self, gid: Gid, alive: bool) {
        let Some(writer) = self.writers.get(&gid) else {
            return;
        };
        for reader in writer.readers.clone() {
            let changed = self
                .readers
                .get_mut(&reader)
                .and_then(|reader| reader.writers.insert(gid, alive))
                .is_some_and(|was| was != alive);
            if changed {
                self.notify_liveliness(reader);
            }
        }
    }

    /// The member becomes silent without a farewell.
    pub(super) fn kill(&mut self, member: u32, now: i64) {
        let lease = fault_nanos(self.options.lease);
        let Some(known) = self.members.get_mut(&member) else {
            return;
        };
        if known.life != MemberState::Alive {
            return;
        }
        known.life = MemberState::Silent;
        known.todo.clear();
        let end = now.saturating_add_unsigned(lease);
        let leases: Vec<_> = self
            .writers
            .values()
            .filter(|writer| member_of(writer.info.gid) == member)
            .filter_map(|writer| {
                let limit = writer.info.qos.liveliness_lease_duration.limit()?;
                Some((writer.info.gid, now.saturating_add(nanos(limit)).min(end)))
            })
            .collect();
        for (gid, at) in leases {
            self.plan(member, at, Due::Silence(gid));
        }
        self.plan(member, end, Due::Lease);
    }

    /// The lease of a killed member has expired: removes all that belongs to it.
    fn forget(&mut self, member: u32, now: Now) {
        fn of<T>(map: &std::collections::BTreeMap<Gid, T>, member: u32) -> Vec<Gid> {
            let own = |gid: &&Gid| member_of(**gid) == member;
            map.keys().filter(own).copied().collect()
        }
        for gid in of(&self.writers, member) {
            if let Some(writer) = self.writers.get_mut(&gid) {
                // A batch that was not sent before the kill is never sent.
                writer.batch.clear();
            }
            let writer = self.remove_writer(gid, now);
            self.dropped_later.push(Box::new(writer));
        }
        for gid in of(&self.readers, member) {
            let reader = self.remove_reader(gid);
            self.dropped_later.push(Box::new(reader));
        }
        for gid in of(&self.servers, member) {
            let server = self.remove_server(gid);
            self.dropped_later.push(Box::new(server));
        }
        for gid in of(&self.clients, member) {
            let client = self.remove_client(gid);
            self.dropped_later.push(Box::new(client));
        }
        let Some(known) = self.members.get_mut(&member) else {
            return;
        };
        known.life = MemberState::Gone;
        known.due.clear();
        for name in std::mem::take(&mut known.nodes) {
            self.change_graph(GraphEvent::NodeRemoved(name));
        }
    }
}

impl Deadline {
    /// Restarts the deadline; returns the time of the first check, if this was the first sample.
    fn begin(&mut self, now: i64) -> Option<i64> {
        let first = self.since.is_none();
        self.since = Some(now);
        first.then(|| now.saturating_add(self.period))
    }

    /// The event to report.
    pub(super) fn take_event(&mut self) -> EndpointEvent {
        self.reported = true;
        EndpointEvent::DeadlineMissed { total: self.missed }
    }

    /// Checks for a miss at `at`; returns the time of the next check, and whether there is a new event to report.
    fn check(&mut self, at: i64) -> (i64, bool) {
        let ends = self.since.unwrap_or(at).saturating_add(self.period);
        if ends > at {
            return (ends, false);
        }
        self.since = Some(at);
        self.missed += 1;
        let news = std::mem::replace(&mut self.reported, false);
        (at.saturating_add(self.period), news)
    }
}
