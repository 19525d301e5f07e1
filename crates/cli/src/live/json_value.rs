//! Messages that are typed on the command line.

use serde_json::Value as Json;
use timeloom_msg::value::{MessageFromJson, parse_message_text};
use timeloom_msg::{Error, Schema};
use timeloom_time::WireTime;

use crate::failure::Failure;

/// The message that `json` describes; `now` is the value of `now` and `auto`.
pub(crate) fn message_value(
    schema: &Schema,
    json: &Json,
    now: WireTime,
) -> Result<MessageFromJson, Failure> {
    let message = schema.value_from_json(json, (now.sec, now.nanosec));
    message.map_err(|error| match &error {
        Error::UnknownField { path, known, .. } => {
            let name = path.rsplit('.').next().unwrap_or(path);
            Failure::new(error.to_string()).suggest(name, known.iter().map(String::as_str))
        }
        _ => Failure::new(format!("{}: {error}", schema.name())),
    })
}

/// JSON or YAML as JSON.
pub(crate) fn parse(text: &str) -> Result<Json, Failure> {
    parse_message_text(text).map_err(|error| {
        let hint = "write it as JSON, such as '{\"data\": 1}', or as YAML, such as '{data: 1}'";
        Failure::usage(error.to_string()).hint(hint)
    })
}
