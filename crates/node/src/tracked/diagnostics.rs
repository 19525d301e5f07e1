//! Deadlines on `/diagnostics`.

use timeloom_msg::value::{Array, Struct};
use timeloom_msg::{Definitions, Value};
use timeloom_time::{Ros, Time, WireTime};
use timeloom_trace::{DeadlineReport, span_text};
use timeloom_wire::MessageTime;

use crate::{Error, Result, TypedPublisher};

pub(super) const DIAGNOSTICS: &str = "/diagnostics";
pub(super) const DIAGNOSTICS_TYPE: &str = "diagnostic_msgs/msg/DiagnosticArray";
const STATUS_TYPE: &str = "diagnostic_msgs/msg/DiagnosticStatus";
const KEY_VALUE_TYPE: &str = "diagnostic_msgs/msg/KeyValue";

/// Levels of a status.
const OK: u8 = 0;
const WARN: u8 = 1;
const ERROR: u8 = 2;

/// One status for each deadline.
pub(super) fn diagnostics(
    publisher: &TypedPublisher,
    deadlines: &[DeadlineReport],
    now: Time<Ros>,
) -> Result<Value> {
    let mut message = publisher.message()?;
    message.set_time("header.stamp", WireTime::saturating_from(now))?;
    let statuses: Vec<Struct> = deadlines.iter().map(status).collect::<Result<_>>()?;
    message.set("status", Value::Array(Array::Struct(statuses)))?;
    Ok(message)
}

fn status(deadline: &DeadlineReport) -> Result<Struct> {
    let missed = deadline.missed + deadline.missed_by_late_link + deadline.missed_by_timer;
    let (level, words) = match (deadline.missed_by_timer, missed) {
        (_, 0) => (OK, "in time".to_owned()),
        (0, _) => (WARN, format!("{missed} of {} too late", deadline.checked)),
        (stuck, _) => (
            ERROR,
            format!(
                "{stuck} never arrived, {missed} of {} missed",
                deadline.checked
            ),
        ),
    };
    let mut value = empty(STATUS_TYPE)?;
    value.set("level", Value::Uint8(level))?;
    let name = format!("timeloom: deadline {}", deadline.name);
    value.set("name", Value::String(name.as_str().into()))?;
    value.set("message", Value::String(words.as_str().into()))?;
    let pairs = [
        ("target", deadline.target.clone()),
        ("limit", span_text(deadline.limit_ns)),
        ("checked", deadline.checked.to_string()),
        ("missed", deadline.missed.to_string()),
        (
            "missed by a late tag",
            deadline.missed_by_late_link.to_string(),
        ),
        ("never came", deadline.missed_by_timer.to_string()),
        ("longest streak", deadline.longest_streak.to_string()),
    ];
    let pairs = pairs.iter().map(|(key, value)| key_value(key, value));
    let pairs: Vec<Struct> = pairs.collect::<Result<_>>()?;
    value.set("values", Value::Array(Array::Struct(pairs)))?;
    into_struct(value)
}

fn key_value(key: &str, text: &str) -> Result<Struct> {
    let mut value = empty(KEY_VALUE_TYPE)?;
    value.set("key", Value::String(key.into()))?;
    value.set("value", Value::String(text.into()))?;
    into_struct(value)
}

fn empty(type_name: &str) -> Result<Value> {
    Ok(Definitions::builtin().schema(type_name)?.default_value()?)
}

fn into_struct(value: Value) -> Result<Struct> {
    match value {
        Value::Struct(fields) => Ok(fields),
        _ => Err(Error::Failed {
            reason: "the built-in type is not a message type".into(),
        }),
    }
}
