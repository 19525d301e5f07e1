//! From the payload of a topic to its value: finding the right definition.

use std::cell::OnceCell;

use timeloom_bag::{Message, TopicInfo};
use timeloom_msg::{AmentIndex, Definitions, Distro, Schema, TypeHash, Value};

use crate::environment::{AMENT_PREFIX_PATH, text};

/// The schemas of a bag's topics, each compiled when its first message comes.
pub(crate) struct Decoders {
    topics: Vec<(TopicInfo, OnceCell<Result<Schema, String>>)>,
    distro: Option<Distro>,
    installed: AmentIndex,
}

impl Decoders {
    /// Decoders for topics by their dense ids, in a bag that names this distribution.
    pub(crate) fn new(topics: &[TopicInfo], ros_distro: &str) -> Self {
        Self {
            topics: topics
                .iter()
                .map(|topic| (topic.clone(), OnceCell::new()))
                .collect(),
            distro: ros_distro.parse().ok(),
            installed: AmentIndex::from_prefix_path(&text(AMENT_PREFIX_PATH)),
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
        cell.get_or_init(|| self.find(topic))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// The bag's own definition, else the built-in one of this hash, else what is installed.
    fn find(&self, topic: &TopicInfo) -> Result<Schema, String> {
        if !topic.serialization_format.is_empty() && topic.serialization_format != "cdr" {
            return Err(format!(
                "cannot decode {}: only cdr is known",
                topic.serialization_format
            ));
        }
        let definition = &topic.definition;
        let own = match definition.encoding.as_str() {
            _ if definition.text.trim().is_empty() && !is_empty_type(topic) => None,
            "ros2msg" => Some(Schema::parse_ros2msg(&topic.type_name, &definition.text)),
            "ros2idl" => Some(Schema::parse_ros2idl(&topic.type_name, &definition.text)),
            _ => None,
        };
        let broken = match own {
            Some(Ok(schema)) => return Ok(schema),
            Some(Err(error)) => format!(" (the definition in the bag cannot be used: {error})"),
            None => String::new(),
        };
        let hash = topic.type_description_hash.parse::<TypeHash>().ok();
        let found = self
            .built_in(topic, hash.as_ref())
            .or_else(|| self.installed(topic, hash.as_ref()));
        found.ok_or_else(|| {
            let installed = if self.installed.is_empty() {
                ""
            } else {
                ", not below AMENT_PREFIX_PATH"
            };
            let name = &topic.type_name;
            format!("no definition of {name}: not in the bag, not built in{installed}{broken}")
        })
    }

    fn built_in(&self, topic: &TopicInfo, hash: Option<&TypeHash>) -> Option<Schema> {
        match hash {
            Some(hash) => Definitions::builtin_with_hash(&topic.type_name, hash)
                .ok()
                .flatten(),
            None => Definitions::builtin_of(self.distro.unwrap_or_default())
                .schema(&topic.type_name)
                .ok(),
        }
    }

    /// Another layout of the same name would give wrong values: a known hash must agree.
    fn installed(&self, topic: &TopicInfo, hash: Option<&TypeHash>) -> Option<Schema> {
        if self.installed.is_empty() {
            return None;
        }
        let schema = Definitions::schema_from(&self.installed, &topic.type_name).ok()?;
        let agrees = hash.is_none_or(|hash| schema.type_hash().is_ok_and(|own| own == *hash));
        agrees.then_some(schema)
    }
}

/// A definition without text is right for a type without fields: the recorded hash tells which types these are.
fn is_empty_type(topic: &TopicInfo) -> bool {
    let hash = || topic.type_description_hash.parse::<TypeHash>().ok();
    let own = || {
        let schema = Schema::parse_ros2msg(&topic.type_name, "").ok()?;
        schema.type_hash().ok()
    };
    topic.type_name.ends_with("/Empty") || own().is_some_and(|own| Some(own) == hash())
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_bag::MessageDefinition;

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
