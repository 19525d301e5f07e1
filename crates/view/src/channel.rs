use std::fmt;

use serde::Serialize;

/// The number of a channel within one server; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ChannelId(pub u32);

impl fmt::Display for ChannelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A topic as clients see it: CDR payloads with the text of their type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The topic.
    pub topic: String,
    /// The full type name, such as `sensor_msgs/msg/Imu`.
    pub type_name: String,
    /// The type's definition with all that it uses, as `ros2msg`; never empty, since clients decode by it.
    pub definition: String,
    /// Which messages a client gets when it subscribes later.
    pub retention: Retention,
}

/// Which earlier messages a new subscriber gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retention {
    /// Nothing.
    #[default]
    None,
    /// The latest messages, as of a transient-local topic such as `/tf_static`.
    Latest,
}

/// A service that clients may call, with CDR payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceInfo {
    /// The service.
    pub name: String,
    /// The full type name, such as `std_srvs/srv/SetBool`.
    pub type_name: String,
    /// The definition of the request as `ros2msg`.
    pub request: String,
    /// The definition of the response as `ros2msg`.
    pub response: String,
}

/// The number of a service within one server; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ServiceId(pub u32);
