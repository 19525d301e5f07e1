//! From channels and schemas to topics.

use super::McapReader;
use crate::mcap::read_chunk::NO_TOPIC;
use crate::mcap::record::{Channel, Schema};
use crate::{MessageDefinition, TopicInfo};

impl McapReader {
    /// Channels become topics; channels of the same topic and type share one.
    pub(super) fn take_topics(
        &mut self,
        schemas: &[Schema],
        mut channels: Vec<Channel>,
        count: impl Fn(u16) -> u64,
    ) {
        channels.sort_by_key(|channel| channel.id);
        channels.dedup_by_key(|channel| channel.id);
        self.info.topics.clear();
        self.info.message_counts.clear();
        self.topics = vec![
            NO_TOPIC;
            channels
                .last()
                .map_or(0, |channel| usize::from(channel.id) + 1)
        ];
        for channel in channels {
            let messages = count(channel.id);
            let id = usize::from(channel.id);
            let schema = schemas.iter().find(|schema| schema.id == channel.schema);
            let topic = topic_info(channel, schema);
            let same =
                |known: &TopicInfo| known.name == topic.name && known.type_name == topic.type_name;
            let at = self.info.topics.iter().position(same).unwrap_or_else(|| {
                self.info.topics.push(topic);
                self.info.message_counts.push(0);
                self.info.topics.len() - 1
            });
            if let (Some(slot), Some(total)) = (
                self.topics.get_mut(id),
                self.info.message_counts.get_mut(at),
            ) {
                *slot = u32::try_from(at).unwrap_or(NO_TOPIC);
                *total += messages;
            }
        }
    }
}

fn topic_info(channel: Channel, schema: Option<&Schema>) -> TopicInfo {
    let mut topic = TopicInfo {
        name: channel.topic,
        serialization_format: channel.encoding,
        ..TopicInfo::default()
    };
    for (key, value) in channel.metadata {
        match key.as_str() {
            "offered_qos_profiles" => topic.offered_qos_profiles = value,
            "topic_type_hash" => topic.type_description_hash = value,
            _ => {}
        }
    }
    if let Some(schema) = schema {
        topic.type_name.clone_from(&schema.name);
        // Nearly all are UTF-8, which is checked many bytes at a time; the other way looks at each character.
        let text = match std::str::from_utf8(&schema.data) {
            Ok(text) => text.to_owned(),
            Err(_) => String::from_utf8_lossy(&schema.data).into_owned(),
        };
        topic.definition = MessageDefinition {
            encoding: schema.encoding.clone(),
            text,
        };
    }
    topic
}
