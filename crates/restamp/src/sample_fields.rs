//! Samples from the fields of messages.

use timeloom_msg::definition::{ArrayShape, Primitive};
use timeloom_msg::schema::Element;
use timeloom_msg::{Schema, Value};
use timeloom_sync::{ClockSpec, DeviceTime, PassiveSample, TickCounter};
use timeloom_time::{Duration, Steady, Time};

use crate::{Error, Result};

/// Ticks per second of NTP stamps, as in the packets of lidars by Pepperl+Fuchs.
const NTP: u64 = 1 << 32;
const NANOSECONDS: u64 = 1_000_000_000;

/// The fields that hold times, and their units.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldOptions {
    /// The field with the device's time: a stamp or a number. By default `header.stamp`, or the field of a known type.
    pub device_field: Option<String>,
    /// Ticks per second of a number in that field. By default nanoseconds, and seconds for floating point numbers.
    pub ticks_per_second: Option<u64>,
    /// Bits of that number before it wraps. By default the width of the field.
    pub counter_bits: Option<u32>,
    /// The field with the host's time. By default the time of receiving.
    pub host_field: Option<String>,
}

/// Reads the samples of one topic.
#[derive(Debug)]
pub struct SampleFields {
    topic: String,
    device_field: String,
    host_field: Option<String>,
    ticks_per_second: Option<u64>,
    bits: Option<u32>,
    /// Created when the first number shows its width.
    counter: Option<TickCounter>,
    is_lidar: bool,
}

const LIDARS: [&str; 2] = [
    "pf_interfaces/msg/PFR2000Header",
    "pf_interfaces/msg/PFR2300Header",
];

impl SampleFields {
    /// The fields of a topic's type.
    ///
    /// # Errors
    ///
    /// [`Error::NoStamp`] if no field is given and the type has no `header.stamp`, [`Error::UnknownField`] or
    /// [`Error::Field`] for a field that the type does not have or that is no time, [`Error::Sync`] for a counter that
    /// cannot be.
    pub fn new(options: FieldOptions, schema: &Schema, topic: &str) -> Result<Self> {
        for field in options.device_field.iter().chain(&options.host_field) {
            check_field(schema, topic, field)?;
        }
        ClockSpec::new(
            options.ticks_per_second.unwrap_or(NANOSECONDS),
            1,
            options.counter_bits.unwrap_or(64),
        )?;
        let type_name = schema.name().to_string();
        let is_lidar = options.device_field.is_none() && LIDARS.contains(&type_name.as_str());
        let device_field = match options.device_field {
            Some(field) => field,
            None if is_lidar => "timestamp_raw".into(),
            None if has_stamp(schema)? => "header.stamp".into(),
            None => {
                let topic = topic.to_owned();
                return Err(Error::NoStamp { topic, type_name });
            }
        };
        Ok(Self {
            topic: topic.to_owned(),
            device_field,
            host_field: options.host_field,
            ticks_per_second: options.ticks_per_second.or(is_lidar.then_some(NTP)),
            bits: options.counter_bits,
            counter: None,
            is_lidar,
        })
    }

    /// The field with the device's time.
    pub fn device_field(&self) -> &str {
        &self.device_field
    }

    /// Whether the host's times come from a field.
    pub const fn has_host_field(&self) -> bool {
        self.host_field.is_some()
    }

    /// The sample of a message that was received at `received_ns`.
    ///
    /// # Errors
    ///
    /// [`Error::Field`] or [`Error::Counter`] if a field cannot be read as a time.
    pub fn sample(&mut self, value: &Value, received_ns: i64) -> Result<PassiveSample> {
        let device = self.device(value)?;
        let host = match &self.host_field {
            None => received_ns,
            Some(field) => self.host(value, field)?,
        };
        let host_rx = Time::<Steady>::from_nanos(host);
        let mut sample = PassiveSample::new(device, host_rx);
        if self.is_lidar {
            sample.device_tx = last_point(value, device);
        }
        Ok(sample)
    }

    fn device(&mut self, value: &Value) -> Result<DeviceTime> {
        let found = self.find(value, &self.device_field)?;
        if let Some(nanos) = stamp_nanos(&found) {
            return Ok(DeviceTime::from_nanos(nanos));
        }
        if let (Value::Float32(_) | Value::Float64(_), Some(number)) = (&found, found.as_f64()) {
            let per_second = self.ticks_per_second.unwrap_or(1) as f64;
            let time = Duration::try_from_secs_f64(number / per_second);
            let time = time.ok_or_else(|| self.wrong(&self.device_field, "out of range"))?;
            return Ok(DeviceTime::from_nanos(time.nanos()));
        }
        let (Some(bits), Some(ticks)) = (width(&found), ticks(&found)) else {
            let why = "neither a stamp nor a number from 0";
            return Err(self.wrong(&self.device_field, why));
        };
        let per_second = self.ticks_per_second.unwrap_or(NANOSECONDS);
        let spec = ClockSpec::new(per_second, 1, self.bits.unwrap_or(bits))?;
        let counter = self.counter.get_or_insert_with(|| TickCounter::new(spec));
        let unwrapped = counter.unwrap(ticks);
        unwrapped.map_err(|source| Error::Counter {
            topic: self.topic.clone(),
            field: self.device_field.clone(),
            source,
        })
    }

    fn host(&self, value: &Value, field: &str) -> Result<i64> {
        let found = self.find(value, field)?;
        let nanos = stamp_nanos(&found).or_else(|| found.as_i64());
        nanos.ok_or_else(|| self.wrong(field, "neither a stamp nor nanoseconds"))
    }

    fn find(&self, value: &Value, field: &str) -> Result<Value> {
        value
            .get(field)
            .ok_or_else(|| self.wrong(field, "not in this message"))
    }

    fn wrong(&self, field: &str, reason: &'static str) -> Error {
        Error::Field {
            topic: self.topic.clone(),
            field: field.to_owned(),
            reason,
        }
    }
}

/// Whether messages of a type have a field, and it may be a time; the length of sequences is not known before.
fn check_field(schema: &Schema, topic: &str, path: &str) -> Result<()> {
    let mut message = schema.root();
    let mut parts = path.split('.').peekable();
    while let Some(part) = parts.next() {
        let name = part.split('[').next().unwrap_or(part);
        let unknown = || Error::UnknownField {
            topic: topic.to_owned(),
            type_name: schema.name().to_string(),
            field: path.to_owned(),
            known: message
                .fields()
                .iter()
                .map(|field| field.name().to_owned())
                .collect(),
        };
        let (_, field) = message.field(name).ok_or_else(unknown)?;
        let ty = field.ty();
        let is_single = (ty.shape == ArrayShape::Single) != part.contains('[');
        match &ty.element {
            Element::Struct(inner) if parts.peek().is_some() => message = inner,
            _ if parts.peek().is_some() => return Err(unknown()),
            element if is_single && may_be_time(element) => {}
            _ => {
                return Err(Error::Field {
                    topic: topic.to_owned(),
                    field: path.to_owned(),
                    reason: "neither a stamp nor a number",
                });
            }
        }
    }
    Ok(())
}

/// Whether a value of this type can be read as a time: a number, or a message with the fields of a stamp.
fn may_be_time(element: &Element) -> bool {
    match element {
        Element::Primitive(primitive) => *primitive != Primitive::Bool,
        Element::Struct(message) => ["sec", "nanosec"]
            .iter()
            .all(|name| message.field(name).is_some()),
        _ => false,
    }
}

/// The nanoseconds of a `builtin_interfaces/msg/Time`, or of anything that looks like one.
fn stamp_nanos(value: &Value) -> Option<i64> {
    value.as_struct()?;
    let seconds = value.get("sec")?.as_i64()?;
    let nanos = value.get("nanosec")?.as_i64()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos)
}

fn has_stamp(schema: &Schema) -> Result<bool> {
    let stamp = schema.default_value()?.get("header.stamp");
    Ok(stamp.as_ref().and_then(stamp_nanos).is_some())
}

fn width(value: &Value) -> Option<u32> {
    Some(match value {
        Value::Uint8(_) => 8,
        Value::Uint16(_) => 16,
        Value::Uint32(_) => 32,
        Value::Int8(_) | Value::Int16(_) | Value::Int32(_) | Value::Int64(_) | Value::Uint64(_) => {
            64
        }
        _ => return None,
    })
}

fn ticks(value: &Value) -> Option<u64> {
    value
        .as_u64()
        .or_else(|| u64::try_from(value.as_i64()?).ok())
}

/// The time of the last point of a lidar's packet: the packet is sent right after it.
fn last_point(header: &Value, first: DeviceTime) -> Option<DeviceTime> {
    let number = |field: &str| header.get(field).and_then(|value| value.as_u64());
    let (points, per_scan) = (number("num_points_packet")?, number("num_points_scan")?);
    // In 1/1000 Hz.
    let frequency = number("scan_frequency")?;
    let per_second = u128::from(per_scan) * u128::from(frequency);
    let nanos = (u128::from(points) * 1_000_000_000_000).checked_div(per_second)?;
    let nanos = i64::try_from(nanos)
        .ok()
        .filter(|nanos| *nanos < 1_000_000_000)?;
    Some(first.saturating_add(Duration::from_nanos(nanos)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(options: FieldOptions) -> Result<SampleFields> {
        let text = "T stamp\nT[] list\nuint32 ticks\nstring name\nfloat64[2] pair\n===\nMSG: p/T\nint32 sec\nuint32 nanosec\n";
        let schema = Schema::parse_ros2msg("p/msg/A", text).unwrap();
        SampleFields::new(options, &schema, "/a")
    }

    fn device(field: &str) -> FieldOptions {
        FieldOptions {
            device_field: Some(field.to_owned()),
            ..FieldOptions::default()
        }
    }

    #[test]
    fn fields_are_checked_against_the_type() {
        for good in [
            "stamp",
            "stamp.sec",
            "list[3]",
            "list[0].nanosec",
            "ticks",
            "pair[1]",
        ] {
            assert!(fields(device(good)).is_ok(), "{good}");
        }
        for unknown in ["", "x", "stamp.x", "ticks.x", "name.x"] {
            let error = fields(device(unknown)).unwrap_err();
            assert!(
                matches!(error, Error::UnknownField { .. }),
                "{unknown}: {error}"
            );
        }
        for no_time in ["name", "list", "pair", "ticks[0]"] {
            let error = fields(device(no_time)).unwrap_err();
            assert!(matches!(error, Error::Field { .. }), "{no_time}: {error}");
        }
        let error = fields(FieldOptions {
            host_field: Some("stamp.x".to_owned()),
            ..device("stamp")
        });
        let text = error.unwrap_err().to_string();
        assert_eq!(text, "/a (p/msg/A) has no field stamp.x");
    }

    #[test]
    fn a_counter_that_cannot_be_is_refused_before_the_first_message() {
        for (ticks_per_second, counter_bits) in [(Some(0), None), (None, Some(0)), (None, Some(65))]
        {
            let error = fields(FieldOptions {
                ticks_per_second,
                counter_bits,
                ..device("ticks")
            });
            assert!(matches!(error, Err(Error::Sync(_))), "{error:?}");
        }
    }
}
