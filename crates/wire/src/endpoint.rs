use timeloom_msg::{QosProfile, TypeHash};

use crate::gid::Gid;
use crate::node_name::NodeName;

/// The kind of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EndpointKind {
    /// Publishes on a topic.
    Publisher,
    /// Subscribes to a topic.
    Subscription,
    /// Answers a service.
    Server,
    /// Calls a service.
    Client,
}

/// An endpoint of the graph, local or remote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointInfo {
    /// Its identity.
    pub gid: Gid,
    /// Its kind.
    pub kind: EndpointKind,
    /// Its node, once known: node names may arrive later than endpoints.
    pub node: Option<NodeName>,
    /// The ROS name of the topic or service.
    pub topic: String,
    /// The ROS name of the type, or the middleware's name if it is not a ROS type.
    pub type_name: String,
    /// The hash of the type, if the peer announces it.
    pub type_hash: Option<TypeHash>,
    /// Offered by a publisher, requested by a subscription.
    pub qos: QosProfile,
}
