//! Distributes messages to clients.

mod advertised_channel;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use self::advertised_channel::{AdvertisedChannel, TimedMessage};
use crate::channel::{Channel, ChannelId, ServiceId, ServiceInfo};
use crate::error::{Error, Result};
use crate::outgoing::Outgoing;
use crate::page_data::PageData;
use crate::peer::{Peer, lock};
use crate::protocol::{self, Level};

/// Limit for messages held back during a seek.
const MOST_HELD: usize = 4_096;

/// Channels, services, notices and clients, behind one lock that is never held while blocking.
#[derive(Default)]
pub(crate) struct Hub {
    state: Mutex<State>,
    pub(crate) page_data: PageData,
}

#[derive(Default)]
struct State {
    channels: BTreeMap<ChannelId, AdvertisedChannel>,
    services: BTreeMap<ServiceId, ServiceInfo>,
    notices: BTreeMap<String, (Level, String)>,
    clients: BTreeMap<u64, Arc<Peer>>,
    next_channel: u32,
    next_service: u32,
    next_client: u64,
    held: Option<Vec<(ChannelId, TimedMessage)>>,
    /// Messages dropped for clients that have disconnected.
    dropped_before: u64,
}

/// Whether a subscription changed the demand of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It was the first or the last one.
    Demand,
    /// There are other subscribers.
    None,
}

impl Hub {
    pub(crate) fn advertise(&self, channels: Vec<Channel>) -> Vec<ChannelId> {
        let mut state = lock(&self.state);
        let mut ids = Vec::with_capacity(channels.len());
        for channel in channels {
            state.next_channel += 1;
            let id = ChannelId(state.next_channel);
            self.page_data.meet(id, &channel);
            state.channels.insert(id, AdvertisedChannel::new(channel));
            ids.push(id);
        }
        let news: Vec<_> = ids
            .iter()
            .filter_map(|id| Some((*id, &state.channels.get(id)?.channel)))
            .collect();
        for peer in state.clients.values() {
            peer.advertise(&news);
        }
        ids
    }

    pub(crate) fn unadvertise(&self, ids: &[ChannelId]) {
        let mut state = lock(&self.state);
        for id in ids {
            state.channels.remove(id);
            self.page_data.forget(*id);
        }
        for peer in state.clients.values() {
            for id in ids {
                peer.state().forget(*id);
            }
            if peer.subprotocol.is_foxglove() {
                peer.send_text(protocol::unadvertise(ids));
            }
        }
    }

    pub(crate) fn message(&self, id: ChannelId, log_time_ns: i64, payload: Bytes) {
        self.page_data.offer(id, log_time_ns, &payload);
        let message = TimedMessage {
            log_time_ns: u64::try_from(log_time_ns).unwrap_or(0),
            payload,
        };
        let mut state = lock(&self.state);
        if let Some(held) = state.held.as_mut().filter(|held| held.len() < MOST_HELD) {
            held.push((id, message));
        } else if let Some(advertised) = state.channels.get_mut(&id) {
            advertised.send(id, message);
        }
    }

    /// Holds messages back until [`release`](Self::release), so that anything sent in between arrives before them.
    pub(crate) fn hold(&self) {
        lock(&self.state).held.get_or_insert_default();
    }

    pub(crate) fn release(&self) {
        let mut state = lock(&self.state);
        for (id, message) in state.held.take().unwrap_or_default() {
            if let Some(advertised) = state.channels.get_mut(&id) {
                advertised.send(id, message);
            }
        }
    }

    pub(crate) fn advertise_services(&self, services: Vec<ServiceInfo>) -> Vec<ServiceId> {
        let mut state = lock(&self.state);
        let mut ids = Vec::with_capacity(services.len());
        for service in services {
            state.next_service += 1;
            let id = ServiceId(state.next_service);
            state.services.insert(id, service);
            ids.push(id);
        }
        let news = ids
            .iter()
            .filter_map(|id| Some((*id, state.services.get(id)?)));
        state.tell_foxglove(&protocol::advertise_services(news));
        ids
    }

    pub(crate) fn unadvertise_services(&self, ids: &[ServiceId]) {
        let mut state = lock(&self.state);
        state.services.retain(|id, _| !ids.contains(id));
        state.tell_foxglove(&protocol::unadvertise_services(ids));
    }

    pub(crate) fn service(&self, id: u32) -> Option<ServiceInfo> {
        lock(&self.state).services.get(&ServiceId(id)).cloned()
    }

    pub(crate) fn notice(&self, id: &str, level: Level, text: &str) {
        let mut state = lock(&self.state);
        state
            .notices
            .insert(id.to_owned(), (level, text.to_owned()));
        state.tell_all(&protocol::status(level, text, Some(id)));
    }

    pub(crate) fn withdraw(&self, id: &str) {
        let mut state = lock(&self.state);
        if state.notices.remove(id).is_some() {
            state.tell_all(&protocol::remove_status(&[id]));
        }
    }

    /// Returns an id for a new client.
    pub(crate) fn number(&self) -> u64 {
        let mut state = lock(&self.state);
        state.next_client += 1;
        state.next_client
    }

    /// Adds a client: it gets all channels, services and notices, and later changes.
    pub(crate) fn join(&self, peer: &Arc<Peer>) {
        let mut state = lock(&self.state);
        let channels: Vec<_> = state
            .channels
            .iter()
            .map(|(id, advertised)| (*id, &advertised.channel))
            .collect();
        peer.advertise(&channels);
        if peer.subprotocol.is_foxglove() && !state.services.is_empty() {
            let services = state.services.iter().map(|(id, service)| (*id, service));
            peer.send_text(protocol::advertise_services(services));
        }
        for (id, (level, text)) in &state.notices {
            peer.send_text(protocol::status(*level, text, Some(id)));
        }
        state.clients.insert(peer.id, Arc::clone(peer));
    }

    /// Removes a client; returns the channels that have no subscribers left.
    pub(crate) fn leave(&self, peer: &Peer) -> Vec<ChannelId> {
        let mut state = lock(&self.state);
        if state.clients.remove(&peer.id).is_some() {
            state.dropped_before += peer.queue.dropped();
        }
        let mut unwanted = Vec::new();
        for (id, advertised) in &mut state.channels {
            if advertised.remove(|subscriber| subscriber.peer.id == peer.id) == Change::Demand {
                unwanted.push(*id);
            }
        }
        unwanted
    }

    /// Subscribes a client to a channel, beginning with the retained messages.
    pub(crate) fn subscribe(
        &self,
        peer: &Arc<Peer>,
        id: ChannelId,
        subscription: u32,
    ) -> Result<Change> {
        let mut state = lock(&self.state);
        let advertised = state
            .channels
            .get_mut(&id)
            .ok_or_else(|| Error::Refused(format!("there is no channel {id}")))?;
        Ok(advertised.add(id, peer, subscription))
    }

    pub(crate) fn unsubscribe(&self, peer: &Peer, id: ChannelId, subscription: u32) -> Change {
        let mut state = lock(&self.state);
        let advertised = state.channels.get_mut(&id);
        advertised.map_or(Change::None, |advertised| {
            advertised.remove(|subscriber| {
                subscriber.peer.id == peer.id && subscriber.subscription == subscription
            })
        })
    }

    pub(crate) fn clients(&self) -> Vec<Arc<Peer>> {
        lock(&self.state).clients.values().cloned().collect()
    }

    /// Number of messages dropped for slow clients.
    pub(crate) fn dropped(&self) -> u64 {
        let state = lock(&self.state);
        let now: u64 = state
            .clients
            .values()
            .map(|peer| peer.queue.dropped())
            .sum();
        state.dropped_before + now
    }

    /// Sends a message to all clients of the Foxglove protocol.
    pub(crate) fn broadcast(&self, item: &Outgoing) {
        let state = lock(&self.state);
        for peer in state.clients.values() {
            if peer.subprotocol.is_foxglove() {
                peer.send(item.clone());
            }
        }
    }

    /// The topic of a channel, for notices.
    pub(crate) fn topic(&self, id: ChannelId) -> String {
        let state = lock(&self.state);
        let advertised = state.channels.get(&id);
        advertised.map_or_else(
            || format!("channel {id}"),
            |advertised| advertised.channel.topic.clone(),
        )
    }
}

impl State {
    fn tell_all(&self, text: &str) {
        for peer in self.clients.values() {
            peer.send_text(text.to_owned());
        }
    }

    fn tell_foxglove(&self, text: &str) {
        for peer in self.clients.values() {
            if peer.subprotocol.is_foxglove() {
                peer.send_text(text.to_owned());
            }
        }
    }
}
