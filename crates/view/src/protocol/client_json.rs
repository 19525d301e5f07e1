use serde::Deserialize;

use super::client_message::{ClientChannel, ClientMessage, Subscription};
use crate::error::{Error, Result};

/// The accepted JSON messages.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
enum Text {
    Subscribe {
        subscriptions: Vec<Subscription>,
    },
    #[serde(rename_all = "camelCase")]
    Unsubscribe {
        subscription_ids: Vec<u32>,
    },
    Advertise {
        channels: Vec<ClientChannel>,
    },
    #[serde(rename_all = "camelCase")]
    Unadvertise {
        channel_ids: Vec<u32>,
    },
    SubscribeConnectionGraph,
    UnsubscribeConnectionGraph,
}

/// Only the name of the operation.
#[derive(Deserialize)]
struct Named {
    op: String,
}

const KNOWN: [&str; 6] = [
    "subscribe",
    "unsubscribe",
    "advertise",
    "unadvertise",
    "subscribeConnectionGraph",
    "unsubscribeConnectionGraph",
];

/// Parses a text message of a client. The JSON parser limits the depth, the socket the size.
///
/// # Errors
/// When it is not a JSON object with an `op`, or the fields of the operation are invalid.
pub fn parse_text(text: &str) -> Result<ClientMessage> {
    let wrong = |error: serde_json::Error| Error::malformed("JSON message", text.len(), error);
    let named: Named = serde_json::from_str(text).map_err(wrong)?;
    if !KNOWN.contains(&named.op.as_str()) {
        let name: String = named.op.chars().take(64).collect();
        return Ok(ClientMessage::Unsupported(name));
    }
    Ok(match serde_json::from_str(text).map_err(wrong)? {
        Text::Subscribe { subscriptions } => ClientMessage::Subscribe(subscriptions),
        Text::Unsubscribe { subscription_ids } => ClientMessage::Unsubscribe(subscription_ids),
        Text::Advertise { channels } => ClientMessage::Advertise(channels),
        Text::Unadvertise { channel_ids } => ClientMessage::Unadvertise(channel_ids),
        Text::SubscribeConnectionGraph => ClientMessage::SubscribeGraph,
        Text::UnsubscribeConnectionGraph => ClientMessage::UnsubscribeGraph,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscriptions_are_understood() {
        let text = r#"{"op":"subscribe","subscriptions":[{"id":1,"channelId":10},{"id":2,"channelId":20}]}"#;
        let expected = [(1, 10), (2, 20)].map(|(id, channel_id)| Subscription { id, channel_id });
        assert_eq!(
            parse_text(text).unwrap(),
            ClientMessage::Subscribe(expected.to_vec())
        );
        assert_eq!(
            parse_text(r#"{"op":"unsubscribe","subscriptionIds":[3]}"#).unwrap(),
            ClientMessage::Unsubscribe(vec![3])
        );
    }

    #[test]
    fn unknown_fields_of_client_channels_are_ignored() {
        let text = r#"{"op":"advertise","channels":[{"id":7,"topic":"/cmd","encoding":"cdr",
            "schemaName":"geometry_msgs/msg/Twist","schemaEncoding":"ros2msg","schema":"","later":1}]}"#;
        let ClientMessage::Advertise(channels) = parse_text(text).unwrap() else {
            panic!("{text}");
        };
        assert_eq!(channels[0].topic, "/cmd");
        assert_eq!(channels[0].schema_name, "geometry_msgs/msg/Twist");
    }

    #[test]
    fn an_unknown_operation_is_reported_by_name() {
        let text = r#"{"op":"fetchAsset","requestId":1,"uri":"package://x"}"#;
        assert_eq!(
            parse_text(text).unwrap(),
            ClientMessage::Unsupported("fetchAsset".into())
        );
    }

    #[test]
    fn malformed_text_is_an_error_with_its_length() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"op":1}"#,
            r#"{"op":"subscribe"}"#,
            r#"{"op":"subscribe","subscriptions":[{"id":-1,"channelId":1}]}"#,
        ] {
            let error = parse_text(text).unwrap_err().to_string();
            assert!(
                error.contains(&format!("of {} bytes", text.len())),
                "{error}"
            );
        }
        let deep = "[".repeat(100_000);
        assert!(parse_text(&deep).is_err());
    }
}
