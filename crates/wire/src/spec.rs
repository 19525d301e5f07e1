use timeloom_msg::{QosProfile, TypeHash, TypeName};

/// A topic to publish or to subscribe to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSpec {
    /// The full ROS name, with its leading `/`.
    pub name: String,
    /// The type.
    pub type_name: TypeName,
    /// The type's hash; without it peers log warnings, and Zenoh does not find them.
    pub type_hash: Option<TypeHash>,
    /// The offered or requested `QoS`.
    pub qos: QosProfile,
}

/// A service to answer or to call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceSpec {
    /// The full ROS name, with its leading `/`.
    pub name: String,
    /// The service type, such as `std_srvs/srv/SetBool`.
    pub type_name: TypeName,
    /// The hash of the service type.
    pub type_hash: Option<TypeHash>,
    /// The hash of its request message.
    pub request_hash: Option<TypeHash>,
    /// The hash of its response message.
    pub response_hash: Option<TypeHash>,
    /// The offered or requested `QoS`; usually [`QosProfile::SERVICES`].
    pub qos: QosProfile,
}
