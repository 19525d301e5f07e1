use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use super::Change;
use crate::channel::{Channel, ChannelId, Retention};
use crate::outgoing::Outgoing;
use crate::peer::Peer;

/// How much of a channel is kept for those who come later: several publishers may share one.
const MOST_RETAINED: usize = 32;
const MOST_RETAINED_BYTES: usize = 8 * 1024 * 1024;

/// A channel with its subscribers.
pub(super) struct Shown {
    pub(super) channel: Channel,
    routes: Vec<Route>,
    retained: VecDeque<Kept>,
}

/// A message with its time.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) log_time_ns: u64,
    pub(super) payload: Bytes,
}

/// A subscriber of a channel.
pub(super) struct Route {
    pub(super) peer: Arc<Peer>,
    pub(super) subscription: u32,
}

impl Shown {
    pub(super) fn new(channel: Channel) -> Self {
        Self {
            channel,
            routes: Vec::new(),
            retained: VecDeque::new(),
        }
    }

    /// Hands a message to all subscribers.
    pub(super) fn show(&mut self, id: ChannelId, kept: Kept) {
        for route in &self.routes {
            route.send(id, &kept);
        }
        if self.channel.retention == Retention::Latest {
            self.retain(kept);
        }
    }

    fn retain(&mut self, kept: Kept) {
        self.retained.push_back(kept);
        let bytes = |kept: &VecDeque<Kept>| kept.iter().map(|kept| kept.payload.len()).sum();
        let mut total: usize = bytes(&self.retained);
        while self.retained.len() > MOST_RETAINED || total > MOST_RETAINED_BYTES {
            self.retained.pop_front();
            total = bytes(&self.retained);
        }
    }

    /// Adds a subscriber and gives it what is retained.
    pub(super) fn add(&mut self, id: ChannelId, peer: &Arc<Peer>, subscription: u32) -> Change {
        let route = Route {
            peer: Arc::clone(peer),
            subscription,
        };
        for kept in &self.retained {
            route.send(id, kept);
        }
        self.routes.push(route);
        if self.routes.len() == 1 {
            Change::Demand
        } else {
            Change::None
        }
    }

    /// Removes subscribers.
    pub(super) fn remove(&mut self, whom: impl Fn(&Route) -> bool) -> Change {
        let before = self.routes.len();
        self.routes.retain(|route| !whom(route));
        if before > 0 && self.routes.is_empty() {
            Change::Demand
        } else {
            Change::None
        }
    }
}

impl Route {
    fn send(&self, id: ChannelId, kept: &Kept) {
        let payload = kept.payload.clone();
        let item = Outgoing::message(id, self.subscription, kept.log_time_ns, payload);
        self.peer.send(item);
    }
}
