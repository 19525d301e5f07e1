use std::sync::Arc;

use timeloom_msg::name::validate_full_topic_name;

use super::endpoints::{Client, Reader, Server, Writer};
use super::participant::Presence;
use super::publisher::LoopbackPublisher;
use super::service::{LoopbackClient, LoopbackServer};
use super::shared::Shared;
use super::state::State;
use super::subscription::LoopbackSubscription;
use super::transmit::Now;
use crate::endpoint::{EndpointInfo, EndpointKind};
use crate::error::Result;
use crate::event::EventObserver;
use crate::gid::Gid;
use crate::node_name::NodeName;
use crate::participant::Node;
use crate::publisher::Publisher;
use crate::service::{ReplyReceiver, RequestHandler, ServiceClient, ServiceServer};
use crate::spec::{ServiceSpec, TopicSpec};
use crate::subscription::{Receiver, Subscription};

/// A node in the graph; leaves when the last handle and endpoint is dropped.
pub(super) struct NodePresence {
    participant: Arc<Presence>,
    name: NodeName,
}

impl NodePresence {
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.participant.shared
    }
}

impl Drop for NodePresence {
    fn drop(&mut self) {
        let id = self.participant.id;
        self.shared()
            .with(|state, _| state.remove_node(id, &self.name));
    }
}

pub(super) struct LoopbackNode(Arc<NodePresence>);

impl LoopbackNode {
    pub(super) fn new(participant: &Arc<Presence>, name: NodeName) -> Self {
        let id = participant.id;
        participant
            .shared
            .with(|state, _| state.add_node(id, &name));
        Self(Arc::new(NodePresence {
            participant: Arc::clone(participant),
            name,
        }))
    }

    /// Checks the name, then creates an endpoint with the rest of its description.
    fn make(
        &self,
        kind: EndpointKind,
        topic: &TopicSpec,
        make: impl FnOnce(&mut State, EndpointInfo, Now),
    ) -> Result<Gid> {
        validate_full_topic_name(&topic.name)?;
        let id = self.0.participant.id;
        Ok(self.0.shared().with(|state, now| {
            let gid = state.new_gid(id);
            let info = EndpointInfo {
                gid,
                kind,
                node: Some(self.0.name.clone()),
                topic: topic.name.clone(),
                type_name: topic.type_name.to_string(),
                type_hash: topic.type_hash,
                qos: topic.qos,
            };
            make(state, info, now);
            gid
        }))
    }
}

impl Node for LoopbackNode {
    fn name(&self) -> &NodeName {
        &self.0.name
    }

    fn publish_observed(
        &self,
        topic: &TopicSpec,
        observer: EventObserver,
    ) -> Result<Box<dyn Publisher>> {
        let gid = self.make(EndpointKind::Publisher, topic, |state, info, now| {
            let writer = Writer::new(info, observer, state.options.limits, now.steady);
            state.add_writer(writer, now);
        })?;
        let node = Arc::clone(&self.0);
        Ok(Box::new(LoopbackPublisher::new(
            node,
            gid,
            topic.name.clone(),
        )))
    }

    fn subscribe(
        &self,
        topic: &TopicSpec,
        receiver: Arc<dyn Receiver>,
    ) -> Result<Box<dyn Subscription>> {
        let gid = self.make(EndpointKind::Subscription, topic, |state, info, now| {
            let reader = Reader::new(info, receiver, state.options.limits);
            state.add_reader(reader, now);
        })?;
        let node = Arc::clone(&self.0);
        Ok(Box::new(LoopbackSubscription::new(node, gid)))
    }

    fn serve(
        &self,
        service: &ServiceSpec,
        handler: Arc<dyn RequestHandler>,
    ) -> Result<Box<dyn ServiceServer>> {
        let gid = self.make(
            EndpointKind::Server,
            &as_topic(service),
            |state, info, _| {
                let clients = std::collections::BTreeSet::new();
                state.add_server(Server {
                    info,
                    handler,
                    clients,
                });
            },
        )?;
        let node = Arc::clone(&self.0);
        Ok(Box::new(LoopbackServer::new(
            node,
            gid,
            service.name.clone(),
        )))
    }

    fn client(
        &self,
        service: &ServiceSpec,
        receiver: Arc<dyn ReplyReceiver>,
    ) -> Result<Box<dyn ServiceClient>> {
        let gid = self.make(
            EndpointKind::Client,
            &as_topic(service),
            |state, info, _| {
                state.add_client(Client {
                    info,
                    receiver,
                    sequence: 0,
                    servers: std::collections::BTreeSet::new(),
                });
            },
        )?;
        let node = Arc::clone(&self.0);
        Ok(Box::new(LoopbackClient::new(
            node,
            gid,
            service.name.clone(),
        )))
    }
}

fn as_topic(service: &ServiceSpec) -> TopicSpec {
    TopicSpec {
        name: service.name.clone(),
        type_name: service.type_name.clone(),
        type_hash: service.type_hash,
        qos: service.qos,
    }
}
