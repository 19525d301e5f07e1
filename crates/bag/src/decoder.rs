//! Decodes the payloads of a bag.

use std::cell::OnceCell;

use timeloom_msg::{Schema, TypeResolver, Value};

use crate::storage::FileInfo;
use crate::{Error, Message, Result, TopicInfo};

/// Decodes the messages of a bag with the definitions that the bag stores, in the order that [`TypeResolver`] documents.
///
/// The definition of a topic is compiled with its first message.
///
/// ```
/// use timeloom_bag::{BagOptions, BagReader, BagWriter, Decoder, Message, StorageReader, TopicInfo};
/// use timeloom_msg::{Definitions, TypeResolver};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("bag");
/// let schema = Definitions::builtin().schema("std_msgs/msg/String")?;
/// let mut value = schema.default_value()?;
/// value.set("data", "hello")?;
/// let data = schema.encode(&value)?;
///
/// let mut writer = BagWriter::create(&path, BagOptions::default())?;
/// let topic = writer.add_topic(&TopicInfo::new("/chatter", "std_msgs/msg/String"))?;
/// let outcome = writer.write(&[Message { topic, log_time_ns: 5, publish_time_ns: 4, sequence: 0, data: &data }], 0);
/// assert!(outcome.is_ok());
/// assert!(writer.finish()?.1.is_ok());
///
/// let mut reader = BagReader::open(&path)?;
/// let decoder = Decoder::new(reader.info(), &TypeResolver::default());
/// while let Some(message) = reader.next_message()? {
///     let value = decoder.decode(&message)?;
///     assert_eq!(value.to_json(), r#"{"data":"hello"}"#);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    topics: Vec<(TopicInfo, OnceCell<timeloom_msg::Result<Schema>>)>,
    resolver: TypeResolver,
}

impl Decoder {
    /// A decoder for a file or a bag; built-in definitions are those of its distribution.
    pub fn new(info: &FileInfo, resolver: &TypeResolver) -> Self {
        let topics = info.topics.iter();
        Self {
            topics: topics
                .map(|topic| (topic.clone(), OnceCell::new()))
                .collect(),
            resolver: resolver.for_distro(&info.ros_distro),
        }
    }

    /// The value of a message.
    ///
    /// # Errors
    /// As [`schema`](Self::schema), and [`Error::Decode`].
    pub fn decode(&self, message: &Message<'_>) -> Result<Value> {
        let schema = self.schema(message.topic.index())?;
        let decoded = schema.decode(message.data);
        decoded.map_err(|source| Error::Decode {
            type_name: schema.name().to_string(),
            source: Box::new(source),
        })
    }

    /// The layout of a topic by its dense index.
    ///
    /// # Errors
    /// [`Error::Definition`] without a usable definition, [`Error::UnknownTopic`] for another index.
    pub fn schema(&self, topic: usize) -> Result<&Schema> {
        let Some((topic, schema)) = self.topics.get(topic) else {
            return Err(Error::UnknownTopic {
                id: u32::try_from(topic).unwrap_or(u32::MAX),
                count: self.topics.len(),
            });
        };
        let found = schema.get_or_init(|| topic.schema(&self.resolver));
        found.as_ref().map_err(|error| error.clone().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MessageDefinition;
    use timeloom_msg::TypeHash;

    fn decoder(topic: TopicInfo) -> Decoder {
        let info = FileInfo {
            topics: vec![topic],
            ros_distro: "jazzy".into(),
            ..FileInfo::default()
        };
        Decoder::new(&info, &TypeResolver::default())
    }

    fn reason(topic: TopicInfo) -> String {
        decoder(topic).schema(0).unwrap_err().to_string()
    }

    #[test]
    fn the_definition_in_the_bag_is_preferred_to_the_built_in_one() {
        let mut topic = TopicInfo::new("/a", "std_msgs/msg/String");
        topic.definition = MessageDefinition {
            encoding: "ros2msg".into(),
            text: "int8 other\n".into(),
        };
        let decoder = decoder(topic);
        let schema = decoder.schema(0).unwrap();
        assert_eq!(schema.root().fields()[0].name(), "other");
    }

    #[test]
    fn a_missing_definition_is_an_error_with_the_places_searched() {
        assert_eq!(
            reason(TopicInfo::new("/a", "my/msg/Own")),
            "no definition of my/msg/Own: not in the bag, not built in"
        );
        let broken = MessageDefinition {
            encoding: "ros2msg".into(),
            text: "???\n".into(),
        };
        let topic = TopicInfo {
            definition: broken,
            ..TopicInfo::new("/a", "my/msg/Own")
        };
        assert!(reason(topic).contains("cannot be used: line 1"));
        let topic = TopicInfo {
            serialization_format: "proto".into(),
            ..TopicInfo::new("/a", "my/msg/Own")
        };
        assert_eq!(reason(topic), "cannot decode proto: only cdr is known");
    }

    #[test]
    fn an_empty_definition_with_its_hash_is_a_type_without_fields() {
        let name = "my/msg/Nothing";
        let hash = Schema::parse_ros2msg(name, "").unwrap().type_hash();
        let mut topic = TopicInfo {
            type_description_hash: hash.unwrap().to_string(),
            ..TopicInfo::new("/a", name)
        };
        topic.definition.encoding = "ros2msg".into();
        let decoder = decoder(topic.clone());
        assert_eq!(decoder.schema(0).unwrap().root().fields().len(), 0);
        topic.type_description_hash = TypeHash::from_bytes([7; 32]).to_string();
        assert!(reason(topic).starts_with("no definition of my/msg/Nothing"));
    }

    #[test]
    fn a_built_in_definition_with_another_hash_is_not_used() {
        let topic = TopicInfo {
            type_description_hash: TypeHash::from_bytes([7; 32]).to_string(),
            ..TopicInfo::new("/a", "std_msgs/msg/String")
        };
        assert!(reason(topic).starts_with("no definition of std_msgs/msg/String"));
    }

    #[test]
    fn an_unknown_topic_is_an_error() {
        let decoder = decoder(TopicInfo::new("/a", "std_msgs/msg/String"));
        let error = decoder.schema(1).unwrap_err();
        assert_eq!(error.to_string(), "topic id 1 is unknown: 1 topics exist");
    }
}
