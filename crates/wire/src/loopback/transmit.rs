//! The path from a writer to the queue of a reader.

use bytes::Bytes;
use timeloom_time::{System, Time};

use super::endpoints::{Arrived, Reader, Stored, depth, nanos, overwrite};
use super::faults::{Connection, Faults, Scope, nanos as fault_nanos};
use super::link::{Content, LinkKey};
use super::member::{Due, Todo};
use super::state::{State, member_of};
use crate::gid::Gid;
use crate::queue::Overflow;
use crate::sample::Sample;
use crate::service::{Reply, Request, RequestId};

/// The current time on both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) steady: i64,
    pub(super) system: Time<System>,
}

/// A batch is sent when it has reached the size of a datagram.
const BATCH_BYTES: usize = 64 << 10;

impl State {
    /// Numbers a sample and sends it, or keeps it in the batch.
    pub(super) fn publish(
        &mut self,
        gid: Gid,
        payload: Bytes,
        source_time: Time<System>,
        batch: bool,
        now: Now,
    ) -> Option<u64> {
        let writer = self.writers.get_mut(&gid)?;
        writer.sequence += 1;
        let number = writer.sequence;
        let lifespan = writer.info.qos.lifespan.limit().map(nanos);
        writer.batch_bytes += payload.len();
        let full = writer.batch_bytes >= BATCH_BYTES;
        writer.batch.push(Stored {
            payload,
            source_time,
            sequence: number,
            expires: lifespan.map(|lifespan| now.steady.saturating_add(lifespan)),
        });
        if !batch || full {
            self.flush(gid, now);
        }
        self.published(gid, now.steady);
        Some(number)
    }

    /// Sends the batch.
    pub(super) fn flush(&mut self, gid: Gid, now: Now) {
        let Some(writer) = self.writers.get_mut(&gid) else {
            return;
        };
        writer.batch_bytes = 0;
        let batch = std::mem::take(&mut writer.batch);
        let readers: Vec<_> = writer.readers.iter().copied().collect();
        for sample in &batch {
            writer.keep(sample);
        }
        for sample in batch {
            for reader in &readers {
                self.transmit_sample((gid, *reader), sample.clone(), now);
            }
        }
    }

    /// The reader that a writer that keeps all has to wait for, because it keeps all and is full.
    pub(super) fn full_reader(&self, gid: Gid, bytes: usize) -> Option<Gid> {
        let writer = self.writers.get(&gid)?;
        if depth(&writer.info.qos).is_some() {
            return None;
        }
        writer.readers.iter().copied().find(|reader| {
            let (Some(known), Some(link)) =
                (self.readers.get(reader), self.links.get(&(gid, *reader)))
            else {
                return false;
            };
            link.reliable && depth(&known.info.qos).is_none() && self.is_full(known, link, bytes)
        })
    }

    fn is_full(&self, reader: &Reader, link: &super::link::Link, bytes: usize) -> bool {
        let limits = self.options.limits;
        let held: usize = link.held.iter().map(Content::bytes).sum();
        let messages = reader.queue.len() + reader.in_flight + link.held.len();
        let total = reader.queue.bytes() + reader.in_flight_bytes + held;
        messages > 0 && (messages >= limits.messages || total + bytes > limits.bytes)
    }

    pub(super) fn transmit_sample(&mut self, key: LinkKey, sample: Stored, now: Now) {
        if let Some(link) = self.links.get_mut(&key) {
            link.account.sent += 1;
            link.account.waiting += 1;
            self.transmit(key, Content::Sample(sample), now);
        }
    }

    /// Sends over a link, with all of its faults.
    fn transmit(&mut self, key: LinkKey, content: Content, now: Now) {
        let Some(topic) = self.links.get(&key).map(|link| link.topic.clone()) else {
            return;
        };
        let faults = self.faults(key, &topic);
        let (from, to) = (member_of(key.0), member_of(key.1));
        let connected =
            faults.connection == Connection::Up && self.is_alive(from) && self.is_alive(to);
        let repair = fault_nanos(self.options.repair);
        let Some(link) = self.links.get_mut(&key) else {
            return;
        };
        if !connected {
            return self.hold(key, content);
        }
        let sample_faults = link.dice.next_sample(&faults, link.reliable);
        if sample_faults.drops > 0 && !link.reliable {
            link.account.dropped += 1;
            link.account.waiting -= 1;
            return;
        }
        let late = sample_faults
            .delay
            .saturating_add(repair.saturating_mul(u64::from(sample_faults.drops)));
        let due = now.steady.saturating_add_unsigned(late).max(link.last_due);
        let overtaken = sample_faults.overtaken && !link.reliable;
        let at = if overtaken {
            due.saturating_add_unsigned(fault_nanos(faults.reorder_by))
        } else {
            link.last_due = due;
            due
        };
        let twice = sample_faults.duplicated && !link.reliable;
        if twice {
            link.account.duplicated += 1;
            link.account.waiting += 1;
            self.send(key, content.clone(), at, now);
        }
        self.send(key, content, at, now);
    }

    fn hold(&mut self, key: LinkKey, content: Content) {
        let qos = self.writers.get(&key.0).map(|writer| writer.info.qos);
        let Some(link) = self.links.get_mut(&key) else {
            return;
        };
        let lost = if link.reliable {
            link.held.push_back(content);
            qos.map_or(0, |qos| overwrite(&mut link.held, &qos))
        } else {
            1
        };
        link.account.dropped += lost;
        link.account.waiting -= lost;
    }

    fn send(&mut self, key: LinkKey, content: Content, at: i64, now: Now) {
        if let Some(link) = self.links.get_mut(&key) {
            link.in_flight += 1;
        }
        if let Some(reader) = self.readers.get_mut(&key.1) {
            reader.in_flight += 1;
            reader.in_flight_bytes += content.bytes();
        }
        self.plan(member_of(key.1), at, Due::Arrival(key, content));
        if at <= now.steady {
            // Immediately, so that samples that no longer fit are lost now and memory stays bounded.
            self.advance(member_of(key.1), now);
        }
    }

    /// Sets the faults of a scope, and sends held samples that can pass again.
    pub(super) fn set_faults(&mut self, scope: Scope, faults: Faults, now: Now) {
        self.rules.retain(|(other, _)| *other != scope);
        self.rules.push((scope, faults));
        let holding: Vec<_> = self
            .links
            .iter()
            .filter(|(_, link)| !link.held.is_empty())
            .map(|(key, _)| *key)
            .collect();
        for key in holding {
            let held = self
                .links
                .get_mut(&key)
                .map(|link| std::mem::take(&mut link.held));
            for content in held.into_iter().flatten() {
                self.transmit(key, content, now);
            }
        }
    }

    /// Takes a sample that has arrived.
    pub(super) fn arrived(&mut self, key: LinkKey, content: Content, at: i64, now: Now) {
        let bytes = content.bytes();
        if let Some(reader) = self.readers.get_mut(&key.1) {
            reader.in_flight -= 1;
            reader.in_flight_bytes -= bytes;
        }
        let Some(link) = self.links.get_mut(&key) else {
            return;
        };
        link.in_flight -= 1;
        match content {
            Content::Sample(sample) => self.enqueue(key, sample, at, now),
            Content::Request(request) => {
                self.add_task(member_of(key.1), Todo::Request(key.1, request));
            }
            Content::Reply(reply) => self.add_task(member_of(key.1), Todo::Reply(key.1, reply)),
        }
        if let Some(writer) = self.writers.get_mut(&key.0) {
            writer.wake();
        }
    }

    fn enqueue(&mut self, key: LinkKey, stored: Stored, at: i64, now: Now) {
        if stored.is_expired(at) {
            return self.lose(key, |account| &mut account.expired);
        }
        self.received(key.1, at);
        let Some(reader) = self.readers.get_mut(&key.1) else {
            return;
        };
        let ago = timeloom_time::Duration::from_nanos(now.steady.saturating_sub(at).max(0));
        let arrived = Arrived {
            expires: stored.expires,
            sample: Sample {
                payload: stored.payload,
                source_time: Some(stored.source_time),
                receive_time: now.system.saturating_sub(ago),
                writer: key.0,
                sequence: Some(stored.sequence),
            },
        };
        let mut lost: Vec<Gid> = Vec::new();
        let overflow: Overflow = reader.overflow;
        reader.queue.push(arrived, overflow, |dropped| {
            lost.push(dropped.sample.writer);
        });
        for writer in lost {
            self.lose((writer, key.1), |account| &mut account.overflowed);
        }
        self.list(key.1, now.steady);
    }

    /// Queues a reader that has samples for its thread.
    pub(super) fn list(&mut self, gid: Gid, now: i64) {
        let Some(reader) = self.readers.get_mut(&gid) else {
            return;
        };
        if !reader.listed && !reader.queue.is_empty() && reader.busy_until <= now {
            reader.listed = true;
            self.add_task(member_of(gid), Todo::Samples(gid));
        }
    }

    /// Counts a sample that was lost on the reader's side.
    pub(super) fn lose(
        &mut self,
        key: LinkKey,
        column: fn(&mut super::link::LinkAccount) -> &mut u64,
    ) {
        if let Some(link) = self.links.get_mut(&key) {
            *column(&mut link.account) += 1;
            link.account.waiting -= 1;
        }
    }

    pub(super) fn request(&mut self, gid: Gid, payload: &Bytes, now: Now) -> Option<i64> {
        let client = self.clients.get_mut(&gid)?;
        client.sequence += 1;
        let number = client.sequence;
        let request = Request {
            id: RequestId {
                client: gid,
                sequence: number,
                dialect: 0,
            },
            payload: payload.clone(),
            source_time: Some(now.system),
        };
        for server in client.servers.clone() {
            self.transmit((gid, server), Content::Request(request.clone()), now);
        }
        Some(number)
    }

    /// Sends a reply; false if the client is gone.
    pub(super) fn reply(&mut self, server: Gid, id: &RequestId, payload: Bytes, now: Now) -> bool {
        let key = (server, id.client);
        let known = self.links.contains_key(&key);
        let reply = Reply {
            sequence: id.sequence,
            payload,
        };
        self.transmit(key, Content::Reply(reply), now);
        known
    }
}

impl Content {
    fn bytes(&self) -> usize {
        match self {
            Self::Sample(sample) => sample.payload.len(),
            Self::Request(request) => request.payload.len(),
            Self::Reply(reply) => reply.payload.len(),
        }
    }
}
