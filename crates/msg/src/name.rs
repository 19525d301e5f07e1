//! Names of topics, services, nodes and types, and their spelling on DDS.

mod action;
mod dds;
mod expand;
mod resource;
mod type_name;

pub use action::{ActionPart, action_of};
pub use dds::{
    DdsTopicKind, dds_service_topics, dds_topic, ros_topic, service_event_topic,
    service_of_event_topic,
};
pub use expand::expand_name;
pub use resource::{
    is_hidden, validate_full_topic_name, validate_namespace, validate_node_name,
    validate_topic_name,
};
pub(crate) use type_name::is_identifier;
pub use type_name::{InterfaceKind, TypeName};
