use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;

use crate::channel::{Channel, ChannelId};

const ENCODING: &str = "cdr";
const SCHEMA_ENCODING: &str = "ros2msg";

/// JSON of plain structures with string keys, which cannot fail.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The schemas that a connection has received, for `foxglove.sdk.v1.1`.
#[derive(Debug, Default)]
pub struct SchemaTable {
    known: BTreeMap<(String, String), u64>,
}

impl SchemaTable {
    /// The message that advertises channels, with the schemas that were not sent before.
    pub fn advertise<'a>(
        &mut self,
        channels: impl IntoIterator<Item = (ChannelId, &'a Channel)>,
    ) -> String {
        let mut schemas = Vec::new();
        let channels: Vec<_> = channels
            .into_iter()
            .map(|(id, channel)| {
                let schema = self.schema(channel, &mut schemas);
                json!({
                    "id": id, "topic": channel.topic, "encoding": ENCODING, "schemaId": schema,
                })
            })
            .collect();
        let mut message = json!({ "op": "advertise", "channels": channels });
        if let (false, Some(object)) = (schemas.is_empty(), message.as_object_mut()) {
            object.insert("schemas".into(), schemas.into());
        }
        message.to_string()
    }

    fn schema(&mut self, channel: &Channel, new: &mut Vec<serde_json::Value>) -> u64 {
        let key = (channel.type_name.clone(), channel.definition.clone());
        let next = u64::try_from(self.known.len()).unwrap_or(u64::MAX) + 1;
        *self.known.entry(key).or_insert_with(|| {
            new.push(json!({
                "id": next,
                "name": channel.type_name,
                "encoding": SCHEMA_ENCODING,
                "data": channel.definition,
            }));
            next
        })
    }
}

/// The message that advertises channels, each with its schema.
pub fn advertise<'a>(channels: impl IntoIterator<Item = (ChannelId, &'a Channel)>) -> String {
    let channels: Vec<_> = channels
        .into_iter()
        .map(|(id, channel)| {
            json!({
                "id": id,
                "topic": channel.topic,
                "encoding": ENCODING,
                "schemaName": channel.type_name,
                "schemaEncoding": SCHEMA_ENCODING,
                "schema": channel.definition,
            })
        })
        .collect();
    json!({ "op": "advertise", "channels": channels }).to_string()
}

/// The message that withdraws channels.
pub fn unadvertise(channels: &[ChannelId]) -> String {
    json!({ "op": "unadvertise", "channelIds": channels }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Retention;

    fn channel(topic: &str, definition: &str) -> Channel {
        Channel {
            topic: topic.into(),
            type_name: "a/msg/B".into(),
            definition: definition.into(),
            retention: Retention::None,
        }
    }

    fn value(text: &str) -> serde_json::Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_channel_carries_its_schema() {
        let sent = value(&advertise([(ChannelId(3), &channel("/t", "int32 x"))]));
        let expected = json!({"op": "advertise", "channels": [{
            "id": 3, "topic": "/t", "encoding": "cdr", "schemaName": "a/msg/B",
            "schemaEncoding": "ros2msg", "schema": "int32 x"}]});
        assert_eq!(sent, expected);
        assert_eq!(
            value(&unadvertise(&[ChannelId(3)])),
            json!({"op": "unadvertise", "channelIds": [3]})
        );
    }

    #[test]
    fn a_schema_is_sent_once_per_connection() {
        let mut table = SchemaTable::default();
        let (a, b) = (channel("/a", "int32 x"), channel("/b", "int32 x"));
        let sent = value(&table.advertise([(ChannelId(1), &a), (ChannelId(2), &b)]));
        assert_eq!(sent["schemas"].as_array().unwrap().len(), 1);
        assert_eq!(sent["schemas"][0]["data"], "int32 x");
        assert_eq!(sent["channels"][1]["schemaId"], 1);
        let again = value(&table.advertise([(ChannelId(3), &channel("/c", "int32 y"))]));
        assert_eq!(again["schemas"][0]["id"], 2);
        let known = value(&table.advertise([(ChannelId(4), &a)]));
        assert_eq!(known.get("schemas"), None);
        assert_eq!(known["channels"][0]["schemaId"], 1);
    }
}
