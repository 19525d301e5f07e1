use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use super::Change;
use crate::channel::{Channel, ChannelId, Retention};
use crate::outgoing::Outgoing;
use crate::peer::Peer;

/// Limit for retained messages of a channel; several publishers may share it.
const MOST_RETAINED: usize = 32;
const MOST_RETAINED_BYTES: usize = 8 * 1024 * 1024;

/// A channel with its subscribers.
pub(super) struct AdvertisedChannel {
    pub(super) channel: Channel,
    subscribers: Vec<Subscriber>,
    retained: VecDeque<TimedMessage>,
}

/// A message with its time.
#[derive(Clone)]
pub(super) struct TimedMessage {
    pub(super) log_time_ns: u64,
    pub(super) payload: Bytes,
}

/// A subscriber of a channel.
pub(super) struct Subscriber {
    pub(super) peer: Arc<Peer>,
    pub(super) subscription: u32,
}

impl AdvertisedChannel {
    pub(super) fn new(channel: Channel) -> Self {
        Self {
            channel,
            subscribers: Vec::new(),
            retained: VecDeque::new(),
        }
    }

    /// Sends a message to all subscribers.
    pub(super) fn send(&mut self, id: ChannelId, message: TimedMessage) {
        for subscriber in &self.subscribers {
            subscriber.send(id, &message);
        }
        if self.channel.retention == Retention::Latest {
            self.retain(message);
        }
    }

    fn retain(&mut self, message: TimedMessage) {
        self.retained.push_back(message);
        let bytes = |message: &VecDeque<TimedMessage>| {
            message.iter().map(|message| message.payload.len()).sum()
        };
        let mut total: usize = bytes(&self.retained);
        while self.retained.len() > MOST_RETAINED || total > MOST_RETAINED_BYTES {
            self.retained.pop_front();
            total = bytes(&self.retained);
        }
    }

    /// Adds a subscriber and sends it the retained messages.
    pub(super) fn add(&mut self, id: ChannelId, peer: &Arc<Peer>, subscription: u32) -> Change {
        let subscriber = Subscriber {
            peer: Arc::clone(peer),
            subscription,
        };
        for message in &self.retained {
            subscriber.send(id, message);
        }
        self.subscribers.push(subscriber);
        if self.subscribers.len() == 1 {
            Change::Demand
        } else {
            Change::None
        }
    }

    /// Removes the subscribers that match.
    pub(super) fn remove(&mut self, matches: impl Fn(&Subscriber) -> bool) -> Change {
        let before = self.subscribers.len();
        self.subscribers.retain(|subscriber| !matches(subscriber));
        if before > 0 && self.subscribers.is_empty() {
            Change::Demand
        } else {
            Change::None
        }
    }
}

impl Subscriber {
    fn send(&self, id: ChannelId, message: &TimedMessage) {
        let payload = message.payload.clone();
        let item = Outgoing::message(id, self.subscription, message.log_time_ns, payload);
        self.peer.send(item);
    }
}
