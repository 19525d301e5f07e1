//! From the payload of a topic to its value: finding the right definition.

use std::cell::OnceCell;

use timeloom_bag::{Message, TopicInfo};
use timeloom_msg::{AmentIndex, Schema, TypeResolver, Value};

use crate::environment::{AMENT_PREFIX_PATH, text};

/// The resolver of all verbs: built-in types, and the packages below `AMENT_PREFIX_PATH`.
pub(crate) fn resolver() -> TypeResolver {
    TypeResolver::new(AmentIndex::from_prefix_path(&text(AMENT_PREFIX_PATH)))
}

/// The schemas of a bag's topics, each compiled when its first message comes.
pub(crate) struct Decoders {
    topics: Vec<(TopicInfo, OnceCell<Result<Schema, String>>)>,
    resolver: TypeResolver,
}

impl Decoders {
    /// Decoders for topics by their dense ids, in a bag that names this distribution.
    pub(crate) fn new(topics: &[TopicInfo], ros_distro: &str) -> Self {
        Self {
            topics: topics
                .iter()
                .map(|topic| (topic.clone(), OnceCell::new()))
                .collect(),
            resolver: resolver().for_distro(ros_distro),
        }
    }

    /// The value of a message, or why it has none.
    pub(crate) fn decode(&self, message: &Message<'_>) -> Result<Value, String> {
        let schema = self.schema(message.topic.index())?;
        schema
            .decode(message.data)
            .map_err(|error| format!("cannot decode {}: {error}", schema.name()))
    }

    /// The schema of a topic, or why there is none.
    pub(crate) fn schema(&self, topic: usize) -> Result<&Schema, String> {
        let Some((topic, cell)) = self.topics.get(topic) else {
            return Err(format!("topic id {topic} is unknown"));
        };
        let find = || {
            let found = topic.schema(&self.resolver);
            found.map_err(|error| error.to_string())
        };
        cell.get_or_init(find).as_ref().map_err(Clone::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_bag::MessageDefinition;
    use timeloom_msg::TypeHash;

    fn reason(topic: TopicInfo) -> String {
        Decoders::new(&[topic], "jazzy").schema(0).unwrap_err()
    }

    #[test]
    fn the_bag_wins_over_what_is_built_in() {
        let mut topic = TopicInfo::new("/a", "std_msgs/msg/String");
        topic.definition = MessageDefinition {
            encoding: "ros2msg".into(),
            text: "int8 other\n".into(),
        };
        let decoders = Decoders::new(&[topic], "jazzy");
        assert_eq!(
            decoders.schema(0).unwrap().root().fields()[0].name(),
            "other"
        );
    }

    #[test]
    fn what_has_no_definition_says_so() {
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
    fn a_definition_without_text_is_that_of_a_type_without_fields() {
        let name = "my/msg/Nothing";
        let hash = Schema::parse_ros2msg(name, "").unwrap().type_hash();
        let mut topic = TopicInfo {
            type_description_hash: hash.unwrap().to_string(),
            ..TopicInfo::new("/a", name)
        };
        topic.definition.encoding = "ros2msg".into();
        let decoders = Decoders::new(std::slice::from_ref(&topic), "jazzy");
        assert_eq!(decoders.schema(0).unwrap().root().fields().len(), 0);
        topic.type_description_hash = TypeHash::from_bytes([7; 32]).to_string();
        assert!(reason(topic).starts_with("no definition of my/msg/Nothing"));
    }

    #[test]
    fn another_hash_is_another_type() {
        let hash = TypeHash::from_bytes([7; 32]).to_string();
        let topic = TopicInfo {
            type_description_hash: hash,
            ..TopicInfo::new("/a", "std_msgs/msg/String")
        };
        assert!(reason(topic).starts_with("no definition of std_msgs/msg/String"));
    }
}
