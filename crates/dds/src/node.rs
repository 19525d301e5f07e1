//! A local node, and the state that it shares with its endpoints.

use std::borrow::Cow;
use std::ffi::CString;
use std::sync::Arc;

use timeloom_msg::name::{dds_topic, validate_full_topic_name};
use timeloom_msg::{QosProfile, TypeName};
use timeloom_wire::{
    EndpointKind, EventObserver, Node, NodeName, Publisher, Receiver, ReplyReceiver,
    RequestHandler, Result, ServiceClient, ServiceServer, ServiceSpec, Subscription, TopicSpec,
    asks_for_best_available, best_available_publisher, best_available_subscription,
};

use crate::client::DdsClient;
use crate::own_nodes::EndpointGids;
use crate::publisher::DdsPublisher;
use crate::server::DdsServer;
use crate::shared::{Shared, refused};
use crate::subscription::DdsSubscription;

pub(crate) struct DdsNode {
    core: Arc<NodeCore>,
}

/// In the graph until the node and all its endpoints are dropped.
pub(crate) struct NodeCore {
    pub(crate) shared: Arc<Shared>,
    name: NodeName,
    number: u64,
}

impl DdsNode {
    pub(crate) fn new(shared: &Arc<Shared>, name: NodeName) -> Self {
        let number = shared.own.add(&name);
        shared.nodes_changed();
        Self {
            core: Arc::new(NodeCore {
                shared: Arc::clone(shared),
                name,
                number,
            }),
        }
    }
}

impl DdsNode {
    /// The topic with "best available" resolved by the endpoints of the other kind, as `rmw` does.
    fn decided<'a>(&self, topic: &'a TopicSpec, others: EndpointKind) -> Cow<'a, TopicSpec> {
        if !asks_for_best_available(&topic.qos) {
            return Cow::Borrowed(topic);
        }
        let known = self.core.shared.observers.profiles(&topic.name, others);
        let qos = match others {
            EndpointKind::Publisher => {
                // Unknown offers: request what matches any of them.
                let known = known.unwrap_or_else(|| vec![QosProfile::SENSOR_DATA]);
                best_available_subscription(&topic.qos, &known)
            }
            _ => best_available_publisher(&topic.qos, &known.unwrap_or_default()),
        };
        Cow::Owned(TopicSpec {
            qos,
            ..topic.clone()
        })
    }
}

impl Drop for NodeCore {
    fn drop(&mut self) {
        self.shared.own.remove(self.number);
        self.shared.nodes_changed();
    }
}

impl Node for DdsNode {
    fn name(&self) -> &NodeName {
        &self.core.name
    }

    fn publish_observed(
        &self,
        topic: &TopicSpec,
        observer: EventObserver,
    ) -> Result<Box<dyn Publisher>> {
        let topic = self.decided(topic, EndpointKind::Subscription);
        tracing::debug!(topic = topic.name, r#type = %topic.type_name, "create publisher");
        Ok(Box::new(DdsPublisher::new(&self.core, &topic, observer)?))
    }

    fn subscribe(
        &self,
        topic: &TopicSpec,
        receiver: Arc<dyn Receiver>,
    ) -> Result<Box<dyn Subscription>> {
        let topic = self.decided(topic, EndpointKind::Publisher);
        tracing::debug!(topic = topic.name, r#type = %topic.type_name, "create subscription");
        Ok(Box::new(DdsSubscription::new(
            &self.core, &topic, receiver,
        )?))
    }

    fn serve(
        &self,
        service: &ServiceSpec,
        handler: Arc<dyn RequestHandler>,
    ) -> Result<Box<dyn ServiceServer>> {
        tracing::debug!(service = service.name, "create server");
        Ok(Box::new(DdsServer::new(&self.core, service, handler)?))
    }

    fn client(
        &self,
        service: &ServiceSpec,
        receiver: Arc<dyn ReplyReceiver>,
    ) -> Result<Box<dyn ServiceClient>> {
        tracing::debug!(service = service.name, "create client");
        Ok(Box::new(DdsClient::new(&self.core, service, receiver)?))
    }
}

/// Endpoints that are announced as part of a node, until dropped.
pub(crate) struct AnnouncedEndpoints {
    node: Arc<NodeCore>,
    ends: EndpointGids,
}

impl AnnouncedEndpoints {
    pub(crate) fn new(node: &Arc<NodeCore>, ends: EndpointGids) -> Self {
        node.shared.own.add_ends(node.number, &ends);
        node.shared.nodes_changed();
        Self {
            node: Arc::clone(node),
            ends,
        }
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.node.shared
    }
}

impl Drop for AnnouncedEndpoints {
    fn drop(&mut self) {
        self.node
            .shared
            .own
            .remove_ends(self.node.number, &self.ends);
        self.node.shared.nodes_changed();
    }
}

/// The names of a topic and its type on DDS.
pub(crate) fn topic_names(topic: &TopicSpec) -> Result<(CString, CString)> {
    if topic.qos.avoid_ros_namespace_conventions {
        return Ok((c_string(&topic.name)?, c_string(&topic.type_name.to_dds())?));
    }
    validate_full_topic_name(&topic.name)?;
    Ok((
        c_string(&dds_topic(&topic.name))?,
        c_string(&topic.type_name.to_dds())?,
    ))
}

/// The name of one of a service's types on DDS.
pub(crate) fn service_type(service: &TypeName, suffix: &str) -> Result<CString> {
    c_string(&service.with_suffix(suffix).to_dds())
}

pub(crate) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).ok().ok_or_else(|| {
        refused(
            format!("use the name `{}`", text.escape_debug()),
            "it has a zero byte",
        )
    })
}
