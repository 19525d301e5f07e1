//! A message as the command line describes it.

use std::io::Read as _;

use bytes::Bytes;
use serde_json::Value as Json;
use timeloom_msg::Schema;
use timeloom_time::WireTime;

use crate::live::json_value::{message_value, parse};

/// A message to send, with the time of each sending where it asks for that.
pub(crate) struct Template {
    schema: Schema,
    json: Json,
    /// The payload, if it is the same every time.
    fixed: Option<Bytes>,
}

impl Template {
    /// The message that a text describes, or standard input if there is none.
    pub(crate) fn new(schema: &Schema, text: Option<&str>) -> anyhow::Result<Self> {
        let mut input = String::new();
        if text.is_none() {
            std::io::stdin().read_to_string(&mut input)?;
        }
        let json = parse(text.unwrap_or(&input))?;
        let message = message_value(schema, &json, WireTime { sec: 0, nanosec: 0 })?;
        let payload = schema.encode(&message.value)?;
        Ok(Self {
            schema: schema.clone(),
            json,
            fixed: (!message.uses_now).then(|| payload.into()),
        })
    }

    /// The message for that time.
    pub(crate) fn payload(&self, now: impl FnOnce() -> WireTime) -> anyhow::Result<Bytes> {
        if let Some(payload) = &self.fixed {
            return Ok(payload.clone());
        }
        let value = message_value(&self.schema, &self.json, now())?.value;
        Ok(self.schema.encode(&value)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_msg::Definitions;

    #[test]
    fn only_fields_with_the_time_change() {
        let schema = Definitions::builtin()
            .schema("std_msgs/msg/Header")
            .unwrap();
        let at = |text, sec| {
            let template = Template::new(&schema, Some(text)).unwrap();
            template.payload(|| WireTime { sec, nanosec: 0 }).unwrap()
        };
        let fixed = "{frame_id: map}";
        assert_eq!(at(fixed, 1), at(fixed, 2));
        assert_ne!(at("{stamp: now}", 1), at("{stamp: now}", 2));
    }
}
