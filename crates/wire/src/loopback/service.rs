use std::sync::Arc;

use bytes::Bytes;

use super::member::Target;
use super::node::NodePresence;
use super::publisher::HEADER;
use super::shared::Shared;
use super::state::member_of;
use crate::error::{Error, Result};
use crate::gid::Gid;
use crate::service::{RequestId, ServiceClient, ServiceServer};

/// A server as its handler sees it: it can reply, and keeps nothing alive.
pub(super) struct ServerHandle {
    shared: Arc<Shared>,
    gid: Gid,
    service: String,
}

impl ServerHandle {
    pub(super) fn new(shared: &Arc<Shared>, gid: Gid, service: String) -> Self {
        Self {
            shared: Arc::clone(shared),
            gid,
            service,
        }
    }
}

impl ServiceServer for ServerHandle {
    fn reply(&self, id: &RequestId, payload: Bytes) -> Result<()> {
        check(&self.service, &payload)?;
        let sent = self
            .shared
            .with(|state, now| state.reply(self.gid, id, payload, now));
        if sent {
            return Ok(());
        }
        Err(Error::ClientGone {
            service: self.service.clone(),
            client: id.client,
        })
    }
}

pub(super) struct LoopbackServer {
    handle: ServerHandle,
    /// Keeps the node in the graph.
    _node: Arc<NodePresence>,
}

impl LoopbackServer {
    pub(super) fn new(node: Arc<NodePresence>, gid: Gid, service: String) -> Self {
        Self {
            handle: ServerHandle::new(node.shared(), gid, service),
            _node: node,
        }
    }
}

impl ServiceServer for LoopbackServer {
    fn reply(&self, id: &RequestId, payload: Bytes) -> Result<()> {
        self.handle.reply(id, payload)
    }
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        let gid = self.handle.gid;
        let target = Target::Endpoint(gid);
        self.handle
            .shared
            .end(target, member_of(gid), |state, _| state.remove_server(gid));
    }
}

pub(super) struct LoopbackClient {
    node: Arc<NodePresence>,
    gid: Gid,
    service: String,
}

impl LoopbackClient {
    pub(super) fn new(node: Arc<NodePresence>, gid: Gid, service: String) -> Self {
        Self { node, gid, service }
    }
}

impl ServiceClient for LoopbackClient {
    fn call(&self, payload: Bytes) -> Result<i64> {
        check(&self.service, &payload)?;
        let sent = self.node.shared().with(|state, now| {
            state
                .is_alive(member_of(self.gid))
                .then(|| state.request(self.gid, &payload, now))
                .flatten()
        });
        sent.ok_or_else(|| Error::Refused {
            transport: "loopback",
            action: format!("call `{}`", self.service),
            reason: "the participant is dead".to_owned(),
        })
    }

    fn servers(&self) -> usize {
        self.node.shared().with(|state, _| {
            let client = state.clients.get(&self.gid);
            client.map_or(0, |client| client.servers.len())
        })
    }
}

impl Drop for LoopbackClient {
    fn drop(&mut self) {
        let target = Target::Endpoint(self.gid);
        self.node
            .shared()
            .end(target, member_of(self.gid), |state, _| {
                state.remove_client(self.gid)
            });
    }
}

fn check(service: &str, payload: &Bytes) -> Result<()> {
    if payload.len() >= HEADER {
        return Ok(());
    }
    Err(Error::NoEncapsulation {
        topic: service.to_owned(),
        length: payload.len(),
    })
}
