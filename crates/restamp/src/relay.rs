//! Live messages with stamps on the host's clock.

use bytes::Bytes;
use timeloom_msg::value::{Array, Struct};
use timeloom_msg::{Definitions, Schema, Value};
use timeloom_sync::{
    ClockPair, DeviceTime, EventKind, Health, Mapped, Reason, Sample, SensorClock,
};
use timeloom_time::{Steady, System, Time, WireTime};

use crate::sample_fields::SampleFields;
use crate::{Error, Result};

const ARRAY: &str = "diagnostic_msgs/msg/DiagnosticArray";
const STATUS: &str = "diagnostic_msgs/msg/DiagnosticStatus";
const KEY_VALUE: &str = "diagnostic_msgs/msg/KeyValue";

/// A message with the host's time, and the state of the clocks at that moment.
#[derive(Debug, Clone)]
pub struct Relayed {
    /// The message.
    pub message: Bytes,
    /// A `diagnostic_msgs/DiagnosticArray` with the same stamp.
    pub status: Bytes,
}

/// Replaces the stamps of live messages of one topic by the host's time.
#[derive(Debug)]
pub struct Relay {
    schema: Schema,
    array: Schema,
    status: Schema,
    key_value: Schema,
    fields: SampleFields,
    clock: SensorClock,
    stamp_field: String,
    topic: String,
    taken: u64,
    relayed: u64,
    problem: Option<String>,
}

impl Relay {
    /// A relay for messages of `schema`; `stamp_field` gets the host's time.
    ///
    /// # Errors
    ///
    /// [`Error::NotATime`] if that field is not a `builtin_interfaces/msg/Time`.
    pub fn new(
        schema: Schema,
        fields: SampleFields,
        clock: SensorClock,
        stamp_field: &str,
        topic: &str,
    ) -> Result<Self> {
        let known = Definitions::builtin();
        let is_time = |value: &Value| {
            let parts = ["sec", "nanosec"].map(|part| value.get(&format!("{stamp_field}.{part}")));
            parts.iter().all(Option::is_some)
        };
        if !is_time(&schema.default_value()?) {
            return Err(Error::NotATime {
                topic: topic.to_owned(),
                field: stamp_field.to_owned(),
            });
        }
        Ok(Self {
            schema,
            array: known.schema(ARRAY)?,
            status: known.schema(STATUS)?,
            key_value: known.schema(KEY_VALUE)?,
            fields,
            clock,
            stamp_field: stamp_field.to_owned(),
            topic: topic.to_owned(),
            taken: 0,
            relayed: 0,
            problem: None,
        })
    }

    /// The layout of the messages.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The layout of the status of each message.
    pub fn status_schema(&self) -> &Schema {
        &self.array
    }

    /// Messages so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Messages that got a new stamp.
    pub fn relayed(&self) -> u64 {
        self.relayed
    }

    /// The reason for the first message that did not.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Replaces the stamp of a message that arrived at a steady time; none if its times cannot be read, which is counted.
    pub fn relay(
        &mut self,
        payload: &[u8],
        arrived: Time<Steady>,
        pair: &ClockPair<System>,
    ) -> Option<Relayed> {
        self.taken += 1;
        match self.try_relay(payload, arrived, pair) {
            Ok(relayed) => {
                self.relayed += 1;
                Some(relayed)
            }
            Err(error) => {
                self.problem.get_or_insert(error.to_string());
                None
            }
        }
    }

    /// Warnings about jumps of the clocks since the last call.
    pub fn take_warnings(&mut self) -> Vec<String> {
        let mut news = Vec::new();
        while let Some(event) = self.clock.take_event() {
            if let EventKind::NewEpoch { epoch, reason } = event.kind
                && reason != Reason::Requested
            {
                let text = format!(
                    "{}: stamps may have jumped: epoch {epoch}, {reason}",
                    self.topic
                );
                news.push(text);
            }
        }
        news
    }

    fn try_relay(
        &mut self,
        payload: &[u8],
        arrived: Time<Steady>,
        pair: &ClockPair<System>,
    ) -> Result<Relayed> {
        let mut value = self.schema.decode(payload)?;
        let sample = self.fields.sample(&value, arrived.nanos())?;
        let device = sample.device_event;
        self.clock.push(&Sample::Passive(sample))?;
        let Some(mapped) = self.clock.convert(device) else {
            return Err(Error::Restarted {
                topic: self.topic.clone(),
            });
        };
        let host = pair.from_steady(mapped.host).max(Time::from_nanos(0));
        let stamp = WireTime::saturating_from(host);
        value.set(&format!("{}.sec", self.stamp_field), stamp.sec)?;
        value.set(&format!("{}.nanosec", self.stamp_field), stamp.nanosec)?;
        let status = self.status(stamp, device, host, &mapped)?;
        Ok(Relayed {
            message: self.schema.encode(&value)?.into(),
            status: self.array.encode(&status)?.into(),
        })
    }

    fn status(
        &self,
        stamp: WireTime,
        device: DeviceTime,
        host: Time<System>,
        mapped: &Mapped,
    ) -> Result<Value> {
        let diagnostics = self.clock.diagnostics();
        let distance = |bound: Option<Time<Steady>>| {
            let nanos = bound.map(|bound| (bound - mapped.host).nanos().to_string());
            nanos.unwrap_or_default()
        };
        let offset = host.nanos().saturating_sub(device.nanos());
        let drift = diagnostics.map_or(0.0, |it| it.skew_ppm);
        let counters = self.clock.counters();
        let pairs = [
            ("offset_ns", offset.to_string()),
            ("drift_ppm", format!("{drift:.4}")),
            ("sigma_ns", mapped.sigma.nanos().to_string()),
            ("lower_ns", distance(mapped.bounds.lower)),
            ("upper_ns", distance(mapped.bounds.upper)),
            ("health", mapped.health.to_string()),
            ("epoch", mapped.epoch.to_string()),
            ("samples", counters.samples.to_string()),
            ("outliers", counters.outliers.to_string()),
            ("left_out", (self.taken - 1 - self.relayed).to_string()),
        ];
        let pairs = pairs.iter().map(|(key, value)| -> Result<Struct> {
            let mut pair = self.key_value.default_value()?;
            pair.set("key", *key)?;
            pair.set("value", value.as_str())?;
            inside(pair, KEY_VALUE)
        });
        let mut status = self.status.default_value()?;
        status.set("level", level(mapped.health))?;
        status.set("name", format!("{}: clock", self.topic))?;
        status.set("message", mapped.health.name())?;
        status.set("values", Array::Struct(pairs.collect::<Result<_>>()?))?;
        let mut array = self.array.default_value()?;
        array.set("header.stamp.sec", stamp.sec)?;
        array.set("header.stamp.nanosec", stamp.nanosec)?;
        array.set("status", Array::Struct(vec![inside(status, STATUS)?]))?;
        Ok(array)
    }
}

/// The numbers of `diagnostic_msgs/DiagnosticStatus`: ok, warning, error.
const fn level(health: Health) -> u8 {
    match health {
        Health::Locked | Health::Converging => 0,
        Health::Unsynced | Health::Holdover => 1,
        Health::Degraded => 2,
    }
}

fn inside(value: Value, type_name: &'static str) -> Result<Struct> {
    match value {
        Value::Struct(inside) => Ok(inside),
        _ => Err(Error::Field {
            topic: type_name.to_owned(),
            field: "message".to_owned(),
            reason: "not a structure",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FieldOptions;
    use timeloom_sync::Limits;

    const IMU: &str = "sensor_msgs/msg/Imu";
    /// The steady clock's zero on the system clock, in nanoseconds.
    const BOOT: i64 = 1_700_000_000_000_000_000;

    fn relay() -> Relay {
        let schema = Definitions::builtin().schema(IMU).unwrap();
        let fields = SampleFields::new(FieldOptions::default(), &schema, "/imu").unwrap();
        let clock = timeloom_sync::Method::default().clock(Limits::default());
        Relay::new(schema, fields, clock, "header.stamp", "/imu").unwrap()
    }

    fn message(relay: &Relay, device_ns: i64) -> Vec<u8> {
        let mut value = relay.schema.default_value().unwrap();
        let stamp = WireTime::saturating_from(Time::<System>::from_nanos(device_ns));
        value.set("header.stamp.sec", stamp.sec).unwrap();
        value.set("header.stamp.nanosec", stamp.nanosec).unwrap();
        value.set("angular_velocity.z", 0.25).unwrap();
        relay.schema.encode(&value).unwrap()
    }

    fn nanos(value: &Value) -> i64 {
        let part = |name| value.get(name).and_then(|part| part.as_i64()).unwrap();
        part("header.stamp.sec") * 1_000_000_000 + part("header.stamp.nanosec")
    }

    fn value_of(status: &Value, key: &str) -> String {
        let Some(Value::Array(Array::Struct(statuses))) = status.get("status") else {
            panic!("no status");
        };
        let Some(Value::Array(Array::Struct(pairs))) = statuses[0].get("values") else {
            panic!("no values");
        };
        let text =
            |pair: &Struct, name: &str| pair.get(name).and_then(Value::as_str).unwrap().to_owned();
        let pair = pairs.iter().find(|pair| text(pair, "key") == key);
        text(pair.unwrap(), "value")
    }

    #[test]
    fn messages_get_the_time_of_their_event_on_the_system_clock() {
        let mut relay = relay();
        let pair = ClockPair::new(Time::from_nanos(0), Time::from_nanos(BOOT));
        for step in 1..=3_000_i64 {
            let event = step * 10_000_000;
            // The device began to count 77 s earlier, and is 40 ppm fast; packets take 1 to 3 ms.
            let device = event + event / 25_000 + 77_000_000_000;
            let delay = 1_000_000 + (step * 7_919 % 2_000) * 1_000;
            let payload = message(&relay, device);
            let relayed = relay
                .relay(&payload, Time::from_nanos(event + delay), &pair)
                .unwrap();
            let value = relay.schema.decode(&relayed.message).unwrap();
            let status = relay.array.decode(&relayed.status).unwrap();
            assert_eq!(value.get("angular_velocity.z"), Some(Value::Float64(0.25)));
            assert_eq!(nanos(&status), nanos(&value), "joined by their stamp");
            let offset: i64 = value_of(&status, "offset_ns").parse().unwrap();
            assert_eq!(nanos(&value), device + offset, "the offset");
            if step > 1_500 {
                let error = nanos(&value) - BOOT - event - 1_000_000;
                assert!(error.abs() < 100_000, "{error} ns");
                assert_eq!(value_of(&status, "health"), "locked");
                let drift: f64 = value_of(&status, "drift_ppm").parse().unwrap();
                assert!((drift + 40.0).abs() < 5.0, "{drift}");
                assert!(value_of(&status, "upper_ns").parse::<i64>().unwrap() >= 0);
                assert_eq!(
                    value_of(&status, "lower_ns"),
                    "",
                    "packets do not bound from below"
                );
            }
        }
        assert_eq!((relay.taken(), relay.relayed()), (3_000, 3_000));
    }

    #[test]
    fn unreadable_messages_are_counted() {
        let mut relay = relay();
        let pair = ClockPair::new(Time::from_nanos(0), Time::from_nanos(BOOT));
        assert!(relay.relay(b"no", Time::from_nanos(5), &pair).is_none());
        let payload = message(&relay, 1_000_000_000);
        let relayed = relay.relay(&payload, Time::from_nanos(9), &pair).unwrap();
        let status = relay.array.decode(&relayed.status).unwrap();
        assert_eq!(value_of(&status, "left_out"), "1");
        assert_eq!((relay.taken(), relay.relayed()), (2, 1));
        assert!(relay.problem().is_some());
    }

    #[test]
    fn a_restart_of_the_device_gives_a_warning() {
        let mut relay = relay();
        let pair = ClockPair::new(Time::from_nanos(0), Time::from_nanos(BOOT));
        for step in 1..=1_000_i64 {
            let event = step * 10_000_000;
            let device = if step < 500 {
                event + 900_000_000_000
            } else {
                event
            };
            let payload = message(&relay, device);
            relay.relay(&payload, Time::from_nanos(event + 1_000_000), &pair);
        }
        let news = relay.take_warnings();
        assert!(
            news[0].starts_with("/imu: stamps may have jumped: epoch 1"),
            "{news:?}"
        );
    }

    #[test]
    fn a_stamp_field_of_another_type_is_refused() {
        let schema = Definitions::builtin().schema(IMU).unwrap();
        let fields = SampleFields::new(FieldOptions::default(), &schema, "/imu").unwrap();
        let clock = timeloom_sync::Method::default().clock(Limits::default());
        let made = Relay::new(schema, fields, clock, "orientation", "/imu");
        let error = made.err().unwrap().to_string();
        assert_eq!(
            error,
            "orientation of /imu is not a builtin_interfaces/msg/Time"
        );
    }
}
