//! Topics: their descriptions, and their dense ids.

use serde::Serialize;
use timeloom_msg::{Error, Schema, StoredDefinition, TypeRequest, TypeResolver};

/// Dense number of a topic within one writer, one reader or one merged bag.
///
/// Ids count from 0 in the order in which topics were added, so that tables on the hot path are plain vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct TopicId(pub u32);

impl TopicId {
    /// The id as an index into a dense table.
    pub fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// The id of the topic at an index of a dense table; `None` beyond `u32`.
    pub fn from_index(index: usize) -> Option<Self> {
        u32::try_from(index).ok().map(Self)
    }
}

/// Source text of a message type, as the bag keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct MessageDefinition {
    /// `ros2msg`, `ros2idl` or `unknown`.
    pub encoding: String,
    /// The text, with the dependencies after it; empty when it is not known.
    pub text: String,
}

/// A topic of a bag: its name, its type and the storage of its messages.
///
/// ```
/// use timeloom_bag::TopicInfo;
/// use timeloom_msg::TypeResolver;
///
/// let mut topic = TopicInfo::new("/pose", "demo/msg/Pose");
/// topic.definition.encoding = "ros2msg".into();
/// topic.definition.text = "float64 x\nfloat64 y\n".into();
/// let schema = topic.schema(&TypeResolver::default())?;
/// assert_eq!(schema.root().fields().len(), 2);
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct TopicInfo {
    /// Full name, for example `/imu/data`.
    pub name: String,
    /// Full type, for example `sensor_msgs/msg/Imu`.
    pub type_name: String,
    /// Encoding of the payload, nearly always `cdr`.
    pub serialization_format: String,
    /// The offered `QoS` profiles as YAML text, exactly as in the bag; empty if there are none.
    pub offered_qos_profiles: String,
    /// `RIHS01_` and 64 hex digits; empty when the bag does not have it.
    pub type_description_hash: String,
    /// Source text of the type.
    pub definition: MessageDefinition,
}

impl TopicInfo {
    /// A topic with a name and a type, CDR encoded, all else empty.
    pub fn new(name: impl Into<String>, type_name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            type_name: type_name.into(),
            serialization_format: "cdr".into(),
            ..Self::default()
        }
    }

    /// The layout of its messages, by the order that [`TypeResolver`] documents: the stored definition first.
    ///
    /// # Errors
    /// When messages are not CDR, or no place has a definition; with the places that were searched.
    pub fn schema(&self, resolver: &TypeResolver) -> timeloom_msg::Result<Schema> {
        if !matches!(self.serialization_format.as_str(), "" | "cdr") {
            return Err(Error::Serialization {
                format: self.serialization_format.clone(),
            });
        }
        resolver.resolve(&TypeRequest {
            name: &self.type_name,
            hash: self.type_description_hash.parse().ok(),
            stored: Some(StoredDefinition {
                encoding: &self.definition.encoding,
                text: &self.definition.text,
            }),
        })
    }

    /// The service whose events this topic carries, if it is a service event topic.
    pub fn service_name(&self) -> Option<&str> {
        self.type_name.ends_with("_Event").then_some(())?;
        let name = self.name.strip_suffix("/_service_event")?;
        (self.type_name.contains("/srv/") || self.type_name.contains("/action/")).then_some(name)
    }

    /// The service type of a service event topic: the type without `_Event`.
    pub fn service_type(&self) -> Option<&str> {
        self.service_name()?;
        self.type_name.strip_suffix("_Event")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_of_a_topic_comes_from_its_definition() {
        let resolver = TypeResolver::default();
        let mut topic = TopicInfo::new("/a", "my/msg/Own");
        let error = |topic: &TopicInfo| topic.schema(&resolver).unwrap_err().to_string();
        assert_eq!(
            error(&topic),
            "no definition of my/msg/Own: not in the bag, not built in"
        );
        topic.definition = MessageDefinition {
            encoding: "ros2msg".into(),
            text: "int8 x\n".into(),
        };
        assert_eq!(topic.schema(&resolver).unwrap().root().fields().len(), 1);
        topic.serialization_format = "proto".into();
        assert_eq!(error(&topic), "cannot decode proto: only cdr is known");
    }

    #[test]
    fn a_service_event_topic_knows_its_service() {
        let event = TopicInfo::new(
            "/add_two_ints/_service_event",
            "example_interfaces/srv/AddTwoInts_Event",
        );
        assert_eq!(event.service_name(), Some("/add_two_ints"));
        assert_eq!(
            event.service_type(),
            Some("example_interfaces/srv/AddTwoInts")
        );
        assert_eq!(
            TopicInfo::new("/a/_service_event", "std_msgs/msg/String").service_name(),
            None
        );
        assert_eq!(
            TopicInfo::new("/imu", "sensor_msgs/msg/Imu").service_name(),
            None
        );
    }
}
