use timeloom_msg::value::{Array, Struct};
use timeloom_msg::{Definitions, Value};
use timeloom_time::{Duration, Ros, Time, WireDuration, WireTime};

use crate::cursor::Cursor;
use crate::error::{Error, Result};

/// The ROS type of a notification.
pub const NOTIFICATION_TYPE: &str = "tilde_msg/msg/DeadlineNotification";
/// The topic on which notifications are published.
pub const NOTIFICATION_TOPIC: &str = "/deadline_notification";
/// The least number of bytes of a source without its name.
const LEAST_SOURCE: usize = 21;

/// A deadline was missed: `tilde_msg/msg/DeadlineNotification`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlineNotification {
    /// The time of the detection.
    pub header_stamp: Time<Ros>,
    /// The target.
    pub topic: String,
    /// The stamp of the target's message; zero without a target.
    pub stamp: Time<Ros>,
    /// The limit.
    pub deadline: Duration,
    /// All sources of that message, including those in time.
    pub sources: Vec<NotifiedSource>,
}

/// A source in a notification: `tilde_msg/msg/Source`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifiedSource {
    /// Its topic.
    pub topic: String,
    /// Its stamp.
    pub stamp: Time<Ros>,
    /// From its publication to that of the target, or to now without a target.
    pub elapsed: Duration,
    /// Whether it was too long.
    pub is_overrun: bool,
}

impl DeadlineNotification {
    /// The message as a value.
    ///
    /// # Errors
    /// When the built-in definitions have no such type.
    pub fn to_value(&self) -> Result<Value> {
        let mut value = default_value(NOTIFICATION_TYPE)?;
        set_time(&mut value, "header.stamp", self.header_stamp)?;
        value.set("topic_name", Value::String(self.topic.as_str().into()))?;
        set_time(&mut value, "stamp", self.stamp)?;
        set_duration(&mut value, "deadline_setting", self.deadline)?;
        let sources = self.sources.iter().map(NotifiedSource::to_struct);
        let sources: Vec<Struct> = sources.collect::<Result<_>>()?;
        value.set("sources", Value::Array(Array::Struct(sources)))?;
        Ok(value)
    }

    /// The payload, with its encapsulation header.
    ///
    /// # Errors
    /// When the built-in definitions have no such type.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let schema = Definitions::builtin().schema(NOTIFICATION_TYPE)?;
        Ok(schema.encode(&self.to_value()?)?)
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// When it is too short, not plain CDR, or a name is not UTF-8.
    pub fn decode(payload: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(payload)?;
        let header_stamp = Time::from_nanos(cursor.nanos("header.stamp")?);
        cursor.text("header.frame_id")?;
        let topic = cursor.text("topic_name")?.to_owned();
        let stamp = Time::from_nanos(cursor.nanos("stamp")?);
        let deadline = Duration::from_nanos(cursor.nanos("deadline_setting")?);
        let count = cursor.length("sources", LEAST_SOURCE)?;
        let mut sources = Vec::with_capacity(count);
        for _ in 0..count {
            sources.push(NotifiedSource {
                topic: cursor.text("sources.topic")?.to_owned(),
                stamp: Time::from_nanos(cursor.nanos("sources.stamp")?),
                elapsed: Duration::from_nanos(cursor.nanos("sources.elapsed")?),
                is_overrun: cursor.boolean("sources.is_overrun")?,
            });
        }
        Ok(Self {
            header_stamp,
            topic,
            stamp,
            deadline,
            sources,
        })
    }
}

impl NotifiedSource {
    fn to_struct(&self) -> Result<Struct> {
        let mut value = default_value("tilde_msg/msg/Source")?;
        value.set("topic", Value::String(self.topic.as_str().into()))?;
        set_time(&mut value, "stamp", self.stamp)?;
        set_duration(&mut value, "elapsed", self.elapsed)?;
        value.set("is_overrun", Value::Bool(self.is_overrun))?;
        match value {
            Value::Struct(fields) => Ok(fields),
            _ => Err(Error::Document {
                what: "tilde_msg/msg/Source",
                reason: "the built-in definition is no message".into(),
            }),
        }
    }
}

fn default_value(type_name: &str) -> Result<Value> {
    Ok(Definitions::builtin().schema(type_name)?.default_value()?)
}

fn set_time(value: &mut Value, field: &str, time: Time<Ros>) -> Result<(), Error> {
    let wire = WireTime::saturating_from(time);
    value.set(&format!("{field}.sec"), Value::Int32(wire.sec))?;
    value.set(&format!("{field}.nanosec"), Value::Uint32(wire.nanosec))?;
    Ok(())
}

fn set_duration(value: &mut Value, field: &str, duration: Duration) -> Result<(), Error> {
    let wire = WireDuration::saturating_from(duration);
    value.set(&format!("{field}.sec"), Value::Int32(wire.sec))?;
    value.set(&format!("{field}.nanosec"), Value::Uint32(wire.nanosec))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_survives_the_wire() {
        let source = |overrun: bool| NotifiedSource {
            topic: "/sensor".into(),
            stamp: Time::from_nanos(1_000_000_007),
            elapsed: Duration::from_millis(120),
            is_overrun: overrun,
        };
        let notification = DeadlineNotification {
            header_stamp: Time::from_nanos(5_000_000_001),
            topic: "/target".into(),
            stamp: Time::from_nanos(3),
            deadline: Duration::from_millis(100),
            sources: vec![source(true), source(false)],
        };
        let payload = notification.encode().unwrap();
        assert_eq!(
            DeadlineNotification::decode(&payload).unwrap(),
            notification
        );
        for end in 0..payload.len() {
            assert!(
                DeadlineNotification::decode(&payload[..end]).is_err(),
                "{end}"
            );
        }
    }
}
