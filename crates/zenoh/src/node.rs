//! A local node, and the state that it shares with its endpoints.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use timeloom_msg::QosProfile;
use timeloom_msg::name::validate_full_topic_name;
use timeloom_wire::{
    EndpointKind, EventObserver, Gid, Node, NodeName, Publisher, Receiver, ReplyReceiver,
    RequestHandler, Result, ServiceClient, ServiceServer, ServiceSpec, Subscription, TopicSpec,
};
use zenoh::liveliness::LivelinessToken;

use crate::client::ZenohClient;
use crate::publisher::ZenohPublisher;
use crate::qos_code::adapt;
use crate::roster::OwnEndpoint;
use crate::server::ZenohServer;
use crate::session_call::call;
use crate::shared::{Shared, refused};
use crate::subscription::ZenohSubscription;
use crate::token::{End, Route, Token, gid_of};

pub(crate) struct ZenohNode {
    core: Arc<NodeCore>,
}

/// In the graph until the node and all its endpoints are dropped.
pub(crate) struct NodeCore {
    pub(crate) shared: Arc<Shared>,
    name: NodeName,
    id: u64,
    gid: Gid,
    token: Option<LivelinessToken>,
}

impl ZenohNode {
    pub(crate) fn new(shared: &Arc<Shared>, name: NodeName) -> Result<Self> {
        let id = shared.next_id();
        let mut core = NodeCore {
            shared: Arc::clone(shared),
            name,
            id,
            gid: Gid::UNKNOWN,
            token: None,
        };
        let token = core.token(id, None);
        let text = token.encode();
        let declared = shared.declare(&text);
        core.token =
            Some(declared.map_err(|error| refused(format!("make the node {}", core.name), error))?);
        core.gid = gid_of(&text);
        shared.roster.enter(core.gid, &token);
        Ok(Self {
            core: Arc::new(core),
        })
    }
}

impl NodeCore {
    fn token(&self, id: u64, end: Option<End>) -> Token {
        Token {
            domain: self.shared.domain,
            session: self.shared.session().zid().to_string(),
            node_id: self.id,
            id,
            enclave: self.shared.enclave.clone(),
            node: self.name.clone(),
            end,
        }
    }

    /// An endpoint to be created: its identity in the graph is known before it exists.
    pub(crate) fn plan(
        self: &Arc<Self>,
        kind: EndpointKind,
        route: Route,
        qos: &QosProfile,
    ) -> PlannedEndpoint {
        let end = End {
            kind,
            route,
            qos: adapt(qos),
        };
        let token = self.token(self.shared.next_id(), Some(end.clone()));
        let text = token.encode();
        PlannedEndpoint {
            gid: gid_of(&text),
            node: Arc::clone(self),
            end,
            token,
            text,
        }
    }
}

impl Drop for NodeCore {
    fn drop(&mut self) {
        self.shared.roster.went(&self.gid);
        call(|| drop(self.token.take()));
    }
}

impl Node for ZenohNode {
    fn name(&self) -> &NodeName {
        &self.core.name
    }

    fn publish_observed(
        &self,
        topic: &TopicSpec,
        observer: EventObserver,
    ) -> Result<Box<dyn Publisher>> {
        tracing::debug!(topic = topic.name, r#type = %topic.type_name, "create publisher");
        Ok(Box::new(ZenohPublisher::new(&self.core, topic, observer)?))
    }

    fn subscribe(
        &self,
        topic: &TopicSpec,
        receiver: Arc<dyn Receiver>,
    ) -> Result<Box<dyn Subscription>> {
        tracing::debug!(topic = topic.name, r#type = %topic.type_name, "create subscription");
        Ok(Box::new(ZenohSubscription::new(
            &self.core, topic, receiver,
        )?))
    }

    fn serve(
        &self,
        service: &ServiceSpec,
        handler: Arc<dyn RequestHandler>,
    ) -> Result<Box<dyn ServiceServer>> {
        tracing::debug!(service = service.name, "create server");
        Ok(Box::new(ZenohServer::new(&self.core, service, handler)?))
    }

    fn client(
        &self,
        service: &ServiceSpec,
        receiver: Arc<dyn ReplyReceiver>,
    ) -> Result<Box<dyn ServiceClient>> {
        tracing::debug!(service = service.name, "create client");
        Ok(Box::new(ZenohClient::new(&self.core, service, receiver)?))
    }
}

/// The route of a topic, if ROS allows its name.
pub(crate) fn topic_route(topic: &TopicSpec) -> Result<Route> {
    validate_full_topic_name(&topic.name)?;
    Ok(Route::new(&topic.name, &topic.type_name, topic.type_hash))
}

/// The route of a service, if ROS allows its name.
pub(crate) fn service_route(service: &ServiceSpec) -> Result<Route> {
    validate_full_topic_name(&service.name)?;
    Ok(Route::new(
        &service.name,
        &service.type_name,
        service.type_hash,
    ))
}

/// An endpoint before it is in the graph.
pub(crate) struct PlannedEndpoint {
    pub(crate) gid: Gid,
    pub(crate) end: End,
    node: Arc<NodeCore>,
    token: Token,
    text: String,
}

impl PlannedEndpoint {
    /// Announces the endpoint; `observer` is called with each change of its matches.
    ///
    /// # Errors
    /// When Zenoh refuses the token.
    pub(crate) fn announce(
        self,
        any_hash: bool,
        observer: EventObserver,
    ) -> zenoh::Result<AnnouncedEndpoint> {
        let shared = Arc::clone(&self.node.shared);
        let matched = Arc::new(AtomicUsize::new(0));
        shared.roster.watch(OwnEndpoint {
            kind: self.end.kind,
            route: self.end.route.clone(),
            any_hash,
            matched: Arc::clone(&matched),
            observer,
            gid: self.gid,
        });
        let mut announced = AnnouncedEndpoint {
            gid: self.gid,
            name: self.end.route.name,
            matched,
            token: None,
            node: self.node,
        };
        announced.token = Some(shared.declare(&self.text)?);
        shared.roster.enter(self.gid, &self.token);
        Ok(announced)
    }
}

/// An endpoint that is in the graph, until dropped.
pub(crate) struct AnnouncedEndpoint {
    gid: Gid,
    name: String,
    matched: Arc<AtomicUsize>,
    token: Option<LivelinessToken>,
    node: Arc<NodeCore>,
}

impl AnnouncedEndpoint {
    pub(crate) fn gid(&self) -> Gid {
        self.gid
    }

    /// Number of matched peers.
    pub(crate) fn matched(&self) -> usize {
        self.matched.load(Ordering::Acquire)
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.node.shared
    }
}

impl Drop for AnnouncedEndpoint {
    fn drop(&mut self) {
        let roster = &self.node.shared.roster;
        roster.leave(&self.gid, &self.name);
        roster.went(&self.gid);
        call(|| drop(self.token.take()));
    }
}
