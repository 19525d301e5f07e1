use std::sync::Arc;

use super::member::Target;
use super::node::NodePresence;
use super::state::member_of;
use crate::gid::Gid;
use crate::subscription::Subscription;

pub(super) struct LoopbackSubscription {
    node: Arc<NodePresence>,
    gid: Gid,
}

impl LoopbackSubscription {
    pub(super) fn new(node: Arc<NodePresence>, gid: Gid) -> Self {
        Self { node, gid }
    }
}

impl Subscription for LoopbackSubscription {
    fn gid(&self) -> Gid {
        self.gid
    }

    fn matched(&self) -> usize {
        self.node.shared().with(|state, _| {
            let reader = state.readers.get(&self.gid);
            reader.map_or(0, |reader| reader.writers.len())
        })
    }

    /// As if heartbeats arrived immediately, while the connection is up.
    fn last_announced(&self, writer: &Gid) -> Option<u64> {
        let key = (*writer, self.gid);
        self.node.shared().with(|state, _| {
            let left = || state.last_numbers.get(&key).copied();
            state.heartbeat(key).or_else(left)
        })
    }

    fn request_last_numbers(&self) -> bool {
        true
    }

    /// Immediately, while the writer lives and the connection is up.
    fn has_answered(&self, writer: &Gid) -> bool {
        let key = (*writer, self.gid);
        self.node
            .shared()
            .with(|state, _| state.is_alive(member_of(*writer)) && state.heartbeat(key).is_some())
    }

    fn is_local(&self, writer: &Gid) -> bool {
        member_of(*writer) == member_of(self.gid)
    }
}

impl Drop for LoopbackSubscription {
    fn drop(&mut self) {
        let target = Target::Endpoint(self.gid);
        self.node
            .shared()
            .end(target, member_of(self.gid), |state, _| {
                state.remove_reader(self.gid)
            });
    }
}
