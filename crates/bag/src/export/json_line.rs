//! One message as one line of JSON.

use std::fmt::Write as _;

use timeloom_msg::Value;
use timeloom_msg::value::{Array, JsonStyle};

use super::TimeFormat;
use crate::Message;

/// The content of a line besides the topic and the times.
#[derive(Debug, Clone, Copy)]
pub enum LineContent<'a> {
    /// The decoded message, as `message`.
    Value(&'a Value),
    /// The payload as base64, as `data`.
    Raw,
    /// The reason why it cannot be decoded, as `error`.
    Error(&'a str),
}

/// `{"topic":…,"log_time":…,"publish_time":…,"message":…}`, with `data` or `error` in place of `message`.
///
/// ```
/// use timeloom_bag::export::{LineContent, TimeFormat, json_line};
/// use timeloom_bag::{Message, TopicId};
///
/// let message = Message { topic: TopicId(0), log_time_ns: 5, publish_time_ns: 4, sequence: 0, data: b"foo" };
/// assert_eq!(
///     json_line("/a", &message, LineContent::Raw, TimeFormat::Nanoseconds),
///     r#"{"topic":"/a","log_time":5,"publish_time":4,"data":"Zm9v"}"#
/// );
/// ```
pub fn json_line(
    topic: &str,
    message: &Message<'_>,
    content: LineContent<'_>,
    times: TimeFormat,
) -> String {
    let style = JsonStyle::default();
    let mut line = String::with_capacity(128);
    line.push_str("{\"topic\":");
    Value::from(topic).write_json(&mut line, style);
    let (log, publish) = (
        times.json(message.log_time_ns),
        times.json(message.publish_time_ns),
    );
    // Writing to a string does not fail.
    let _ok = write!(line, ",\"log_time\":{log},\"publish_time\":{publish},");
    match content {
        LineContent::Value(value) => {
            line.push_str("\"message\":");
            value.write_json(&mut line, style);
        }
        LineContent::Raw => {
            line.push_str("\"data\":");
            Value::Array(Array::Uint8(message.data.to_vec())).write_json(&mut line, style);
        }
        LineContent::Error(reason) => {
            line.push_str("\"error\":");
            Value::from(reason).write_json(&mut line, style);
        }
    }
    line.push('}');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TopicId;

    fn line(topic: &str, content: LineContent<'_>, times: TimeFormat) -> String {
        let message = Message {
            topic: TopicId(0),
            log_time_ns: 1_794_733_131_923_572_955,
            publish_time_ns: -1,
            sequence: 0,
            data: b"",
        };
        json_line(topic, &message, content, times)
    }

    #[test]
    fn errors_are_quoted() {
        assert_eq!(
            line("/\"", LineContent::Error("no \"x\""), TimeFormat::Seconds),
            r#"{"topic":"/\"","log_time":1794733131.923572955,"publish_time":-0.000000001,"error":"no \"x\""}"#
        );
    }

    #[test]
    fn dates_are_strings() {
        let content = LineContent::Value(&Value::Int8(1));
        assert_eq!(
            line("/a", content, TimeFormat::Rfc3339),
            r#"{"topic":"/a","log_time":"2026-11-15T08:58:51.923572955Z","publish_time":"1969-12-31T23:59:59.999999999Z","message":1}"#
        );
    }
}
