//! Endpoints are added, matched and removed.

use super::endpoints::{Client, Reader, Server, Writer, is_latched, is_reliable};
use super::faults::RandomFaults;
use super::link::{Link, LinkKey};
use super::member::Due;
use super::state::{State, member_of};
use super::transmit::Now;
use crate::endpoint::EndpointInfo;
use crate::event::EndpointEvent;
use crate::gid::Gid;
use crate::graph::GraphEvent;
use crate::qos_match::{Incompatibility, compatible};

impl State {
    fn announce(&mut self, info: &EndpointInfo) {
        self.change_graph(GraphEvent::EndpointChanged(Box::new(info.clone())));
    }

    pub(super) fn add_writer(&mut self, writer: Writer, now: Now) {
        let info = writer.info.clone();
        if let Some(lease) = &writer.lease {
            let at = now.steady.saturating_add(lease.duration);
            self.plan(member_of(info.gid), at, Due::Liveliness(info.gid));
        }
        self.announce(&info);
        self.writers.insert(info.gid, writer);
        for reader in same(self.readers.values().map(|reader| &reader.info), &info) {
            self.match_endpoints(info.gid, reader, now);
        }
    }

    pub(super) fn add_reader(&mut self, reader: Reader, now: Now) {
        let info = reader.info.clone();
        self.announce(&info);
        self.readers.insert(info.gid, reader);
        for writer in same(self.writers.values().map(|writer| &writer.info), &info) {
            self.match_endpoints(writer, info.gid, now);
        }
    }

    /// Matches a writer and a reader of one topic and type.
    fn match_endpoints(&mut self, writer: Gid, reader: Gid, now: Now) {
        if !self.is_alive(member_of(writer)) || !self.is_alive(member_of(reader)) {
            return;
        }
        let (Some(from), Some(to)) = (self.writers.get_mut(&writer), self.readers.get_mut(&reader))
        else {
            return;
        };
        let (offered, requested) = (from.info.qos, to.info.qos);
        let short = compatible(&offered, &requested);
        if !short.is_empty() {
            return self.refuse(writer, reader, &short);
        }
        let alive = from.lease.as_ref().is_none_or(|lease| lease.alive);
        from.readers.insert(reader);
        to.writers.insert(writer, alive);
        let reliable = is_reliable(&offered) && is_reliable(&requested);
        let kept = from.kept_for(&requested, now.steady);
        let topic = to.info.topic.clone();
        self.connect((writer, reader), &topic, reliable);
        self.tell_matched(writer, reader, 1);
        self.notify_liveliness(reader);
        if is_latched(&requested) {
            for sample in kept {
                self.transmit_sample((writer, reader), sample, now);
            }
        }
    }

    fn refuse(&mut self, writer: Gid, reader: Gid, short: &[Incompatibility]) {
        for Incompatibility { policy } in short.iter().copied() {
            let event = |total: &mut u64| {
                *total += 1;
                EndpointEvent::IncompatibleQos {
                    policy,
                    total: *total,
                }
            };
            let counts = self
                .writers
                .get_mut(&writer)
                .map(|known| event(known.incompatible.entry(policy).or_default()));
            if let Some(event) = counts {
                self.notify_writer(writer, event);
            }
            let counts = self
                .readers
                .get_mut(&reader)
                .map(|known| event(known.incompatible.entry(policy).or_default()));
            if let Some(event) = counts {
                self.notify_reader(reader, event);
            }
        }
    }

    fn connect(&mut self, key: LinkKey, topic: &str, reliable: bool) {
        let dice = RandomFaults::new(self.options.seed, key.0, key.1);
        self.links.insert(key, Link::new(topic, reliable, dice));
    }

    fn tell_matched(&mut self, writer: Gid, reader: Gid, change: isize) {
        let matched = |current| EndpointEvent::Matched { current, change };
        if let Some(known) = self.writers.get(&writer) {
            let event = matched(known.readers.len());
            self.notify_writer(writer, event);
        }
        if let Some(known) = self.readers.get(&reader) {
            let event = matched(known.writers.len());
            self.notify_reader(reader, event);
        }
    }

    pub(super) fn notify_liveliness(&mut self, reader: Gid) {
        if let Some(known) = self.readers.get(&reader) {
            let (alive, dead) = known.liveliness();
            self.notify_reader(reader, EndpointEvent::LivelinessChanged { alive, dead });
        }
    }

    /// Ends the link; samples in flight are lost.
    fn disconnect(&mut self, key: LinkKey) {
        if let Some(mut link) = self.links.remove(&key) {
            link.account.dropped += std::mem::take(&mut link.account.waiting);
            self.ended_links.insert(key, link.account);
        }
        if let Some(writer) = self.writers.get_mut(&key.0) {
            writer.wake();
        }
    }

    fn part(&mut self, writer: Gid, reader: Gid) {
        if let Some(known) = self.writers.get_mut(&writer) {
            known.readers.remove(&reader);
        }
        if let Some(known) = self.readers.get_mut(&reader) {
            known.writers.remove(&writer);
        }
        self.tell_matched(writer, reader, -1);
        self.notify_liveliness(reader);
    }

    /// Removes a writer; samples in flight are still delivered.
    pub(super) fn remove_writer(&mut self, gid: Gid, now: Now) -> Option<Writer> {
        self.flush(gid, now);
        self.announce_last_number(gid);
        let writer = self.writers.remove(&gid)?;
        self.change_graph(GraphEvent::EndpointRemoved(gid));
        for reader in &writer.readers {
            self.part(gid, *reader);
            self.finish((gid, *reader));
        }
        Some(writer)
    }

    /// A writer that leaves announces its last number; a killed one does not.
    fn announce_last_number(&mut self, writer: Gid) {
        let Some(known) = self.writers.get(&writer) else {
            return;
        };
        if self.is_alive(member_of(writer)) {
            let keys = known.readers.iter().map(|reader| (writer, *reader));
            let words = keys.filter_map(|key| Some((key, self.heartbeat(key)?)));
            let words: Vec<_> = words.collect();
            self.last_numbers.extend(words);
        }
    }

    /// Ends a link once all samples in flight have arrived.
    pub(super) fn finish(&mut self, key: LinkKey) {
        let done = self.links.get_mut(&key).is_some_and(|link| {
            // The sender is gone: held samples are never resent.
            let held = link.held.len() as u64;
            link.held.clear();
            link.account.dropped += held;
            link.account.waiting -= held;
            link.account.waiting == 0
        });
        if done {
            self.disconnect(key);
        }
    }

    pub(super) fn remove_reader(&mut self, gid: Gid) -> Option<Reader> {
        let reader = self.readers.remove(&gid)?;
        self.change_graph(GraphEvent::EndpointRemoved(gid));
        let links: Vec<_> = self
            .links
            .keys()
            .filter(|key| key.1 == gid)
            .copied()
            .collect();
        for key in links {
            self.disconnect(key);
        }
        for writer in reader.writers.keys() {
            self.part(*writer, gid);
        }
        Some(reader)
    }

    pub(super) fn add_server(&mut self, server: Server) {
        let info = server.info.clone();
        self.announce(&info);
        self.servers.insert(info.gid, server);
        for client in same(self.clients.values().map(|client| &client.info), &info) {
            self.acquaint(client, info.gid);
        }
    }

    pub(super) fn add_client(&mut self, client: Client) {
        let info = client.info.clone();
        self.announce(&info);
        self.clients.insert(info.gid, client);
        for server in same(self.servers.values().map(|server| &server.info), &info) {
            self.acquaint(info.gid, server);
        }
    }

    fn acquaint(&mut self, client: Gid, server: Gid) {
        if !self.is_alive(member_of(client)) || !self.is_alive(member_of(server)) {
            return;
        }
        let (Some(asks), Some(answers)) =
            (self.clients.get_mut(&client), self.servers.get_mut(&server))
        else {
            return;
        };
        asks.servers.insert(server);
        answers.clients.insert(client);
        let topic = asks.info.topic.clone();
        self.connect((client, server), &topic, true);
        self.connect((server, client), &topic, true);
    }

    fn estrange(&mut self, client: Gid, server: Gid) {
        if let Some(known) = self.clients.get_mut(&client) {
            known.servers.remove(&server);
        }
        if let Some(known) = self.servers.get_mut(&server) {
            known.clients.remove(&client);
        }
        self.disconnect((client, server));
        self.disconnect((server, client));
    }

    pub(super) fn remove_server(&mut self, gid: Gid) -> Option<Server> {
        let server = self.servers.remove(&gid)?;
        self.change_graph(GraphEvent::EndpointRemoved(gid));
        for client in &server.clients {
            self.estrange(*client, gid);
        }
        Some(server)
    }

    pub(super) fn remove_client(&mut self, gid: Gid) -> Option<Client> {
        let client = self.clients.remove(&gid)?;
        self.change_graph(GraphEvent::EndpointRemoved(gid));
        for server in &client.servers {
            self.estrange(gid, *server);
        }
        Some(client)
    }
}

/// The endpoints of the same topic and type.
fn same<'a>(all: impl Iterator<Item = &'a EndpointInfo>, as_this: &EndpointInfo) -> Vec<Gid> {
    all.filter(|info| info.topic == as_this.topic && info.type_name == as_this.type_name)
        .map(|info| info.gid)
        .collect()
}
