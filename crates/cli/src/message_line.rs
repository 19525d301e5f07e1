//! One message as one line of JSON.

use std::fmt::Write as _;

use clap::ValueEnum;
use jiff::Timestamp;
use timeloom_bag::Message;
use timeloom_msg::Value;
use timeloom_msg::value::Array;

use crate::json_text;
use crate::time_range::seconds;

/// How times are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum TimeFormat {
    /// Integer nanoseconds since the epoch
    #[default]
    Nanoseconds,
    /// Seconds since the epoch with nine digits
    Seconds,
    /// 2026-11-15T08:58:51.923572955Z
    Rfc3339,
}

impl TimeFormat {
    /// A time without quotes.
    pub(crate) fn text(self, time_ns: i64) -> String {
        match self {
            Self::Nanoseconds => time_ns.to_string(),
            Self::Seconds => seconds(time_ns),
            Self::Rfc3339 => {
                let time = Timestamp::from_nanosecond(time_ns.into());
                time.map_or_else(|_| seconds(time_ns), |time| format!("{time:.9}"))
            }
        }
    }

    fn json(self, time_ns: i64) -> String {
        let text = self.text(time_ns);
        if self == Self::Rfc3339 {
            json_text::string(&text)
        } else {
            text
        }
    }
}

/// The content of a line besides the topic and the times.
pub(crate) enum Content<'a> {
    /// The decoded message.
    Value(&'a Value),
    /// The payload as base64.
    Raw,
    /// Why it cannot be decoded.
    Error(&'a str),
}

/// `{"topic":…,"log_time":…,"publish_time":…,"message":…}`, with `data` or `error` in place of `message`.
pub(crate) fn line(
    topic: &str,
    message: &Message<'_>,
    content: &Content<'_>,
    times: TimeFormat,
) -> String {
    let (log, publish) = (
        times.json(message.log_time_ns),
        times.json(message.publish_time_ns),
    );
    let mut text = String::with_capacity(128);
    // Writing to a string cannot fail.
    let _ok = write!(
        text,
        "{{\"topic\":{},\"log_time\":{log},\"publish_time\":{publish},",
        json_text::string(topic)
    );
    match content {
        Content::Value(value) => {
            text.push_str("\"message\":");
            value.write_json(&mut text, timeloom_msg::value::JsonStyle::default());
        }
        Content::Raw => {
            text.push_str("\"data\":");
            text.push_str(&base64(message.data));
        }
        Content::Error(reason) => {
            text.push_str("\"error\":");
            text.push_str(&json_text::string(reason));
        }
    }
    text.push('}');
    text
}

fn base64(bytes: &[u8]) -> String {
    Value::Array(Array::Uint8(bytes.to_vec())).to_json()
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_bag::TopicId;

    fn message(data: &[u8]) -> Message<'_> {
        Message {
            topic: TopicId(0),
            log_time_ns: 1_794_733_131_923_572_955,
            publish_time_ns: -1,
            sequence: 0,
            data,
        }
    }

    #[test]
    fn lines_contain_the_known_fields() {
        let times = TimeFormat::Nanoseconds;
        assert_eq!(
            line("/a", &message(b"foo"), &Content::Raw, times),
            r#"{"topic":"/a","log_time":1794733131923572955,"publish_time":-1,"data":"Zm9v"}"#
        );
        assert_eq!(
            line(
                "/\"",
                &message(b""),
                &Content::Error("no \"x\""),
                TimeFormat::Seconds
            ),
            r#"{"topic":"/\"","log_time":1794733131.923572955,"publish_time":-0.000000001,"error":"no \"x\""}"#
        );
        assert_eq!(
            line(
                "/a",
                &message(b""),
                &Content::Value(&Value::Int8(1)),
                TimeFormat::Rfc3339
            ),
            r#"{"topic":"/a","log_time":"2026-11-15T08:58:51.923572955Z","publish_time":"1969-12-31T23:59:59.999999999Z","message":1}"#
        );
    }
}
