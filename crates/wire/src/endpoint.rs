use timeloom_msg::{QosProfile, TypeHash};

use crate::gid::Gid;
use crate::node_name::NodeName;

/// What an endpoint does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EndpointKind {
    /// Sends on a topic.
    Publisher,
    /// Receives from a topic.
    Subscription,
    /// Answers a service.
    Server,
    /// Calls a service.
    Client,
}

/// One endpoint of the graph, ours or somebody else's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointInfo {
    /// Who it is.
    pub gid: Gid,
    /// What it does.
    pub kind: EndpointKind,
    /// The node it belongs to, once that is known: node names may come later than endpoints.
    pub node: Option<NodeName>,
    /// The ROS name of the topic or service.
    pub topic: String,
    /// The ROS name of the type; what the middleware says if that is no ROS type.
    pub type_name: String,
    /// The type's hash, if the peer tells it.
    pub type_hash: Option<TypeHash>,
    /// Offered by a publisher, requested by a subscription.
    pub qos: QosProfile,
}
