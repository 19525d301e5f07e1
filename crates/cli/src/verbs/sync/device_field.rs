//! Which field of a message holds the device's time, and what it counts.

use clap::{Args, ValueEnum};
use timeloom_msg::{Schema, Value};
use timeloom_sync::table::{DeviceColumn, TimeUnit};
use timeloom_sync::{ClockSpec, DeviceTime, PassiveSample, TickCounter};
use timeloom_time::{Steady, Time};

use crate::failure::Failure;
use crate::field_path;

/// Where the times are in a message.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Fields")]
pub(crate) struct FieldArguments {
    /// The field with the device's time: a stamp or a number [default: header.stamp, or what the type is known for]
    #[arg(long, value_name = "PATH")]
    pub(crate) device_field: Option<String>,
    /// What a number in that field, or in the column `device_ns` of a table, counts
    #[arg(long, value_enum, value_name = "UNIT")]
    device_unit: Option<Unit>,
    /// How many bits that number has before it starts anew at zero [default: those of the field; in a table it never
    /// does]
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=64))]
    device_bits: Option<u32>,
    /// The field with the host's time [default: when the message was received]
    #[arg(long, value_name = "PATH")]
    host_field: Option<String>,
}

impl FieldArguments {
    /// What the device's column of a table counts.
    pub(crate) fn device_column(&self) -> Result<DeviceColumn, Failure> {
        device_column(self.device_unit, self.device_bits)
    }
}

/// What the device's column of a table counts: times, or a counter that wraps.
pub(crate) fn device_column(
    unit: Option<Unit>,
    bits: Option<u32>,
) -> Result<DeviceColumn, Failure> {
    let unit = unit.unwrap_or(Unit::Ns);
    match (unit.decimal(), bits) {
        (Some(decimal), None) => Ok(DeviceColumn::Time(decimal)),
        (_, bits) => {
            let spec = ClockSpec::new(unit.per_second(), 1, bits.unwrap_or(64));
            let failed = |error: timeloom_sync::Error| Failure::usage(error.to_string());
            Ok(DeviceColumn::counter(spec.map_err(failed)?))
        }
    }
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unit {
    /// Nanoseconds
    Ns,
    /// Microseconds
    Us,
    /// Milliseconds
    Ms,
    /// Seconds
    S,
    /// Seconds and 2^-32 of a second, as NTP and the lidars of Pepperl+Fuchs have them
    Ntp,
}

impl Unit {
    /// The decimal unit, if it is one.
    pub(crate) const fn decimal(self) -> Option<TimeUnit> {
        match self {
            Self::Ns => Some(TimeUnit::Nanoseconds),
            Self::Us => Some(TimeUnit::Microseconds),
            Self::Ms => Some(TimeUnit::Milliseconds),
            Self::S => Some(TimeUnit::Seconds),
            Self::Ntp => None,
        }
    }

    /// Ticks per second.
    const fn per_second(self) -> u64 {
        match self {
            Self::Ns => 1_000_000_000,
            Self::Us => 1_000_000,
            Self::Ms => 1_000,
            Self::S => 1,
            Self::Ntp => 1 << 32,
        }
    }
}

/// Reads the samples of one topic.
pub(crate) struct SampleFields {
    topic: String,
    device_field: String,
    host_field: Option<String>,
    unit: Option<Unit>,
    bits: Option<u32>,
    /// Made when the first number shows how wide it is.
    counter: Option<TickCounter>,
    is_lidar: bool,
}

const LIDARS: [&str; 2] = [
    "pf_interfaces/msg/PFR2000Header",
    "pf_interfaces/msg/PFR2300Header",
];

impl SampleFields {
    /// Checks the fields against the type of a topic.
    pub(crate) fn new(
        arguments: &FieldArguments,
        schema: &Schema,
        topic: &str,
    ) -> anyhow::Result<Self> {
        let name = schema.name().to_string();
        let is_lidar = arguments.device_field.is_none() && LIDARS.contains(&name.as_str());
        let device_field = match &arguments.device_field {
            Some(field) => field.clone(),
            None if is_lidar => "timestamp_raw".into(),
            None => "header.stamp".into(),
        };
        if arguments.device_field.is_none()
            && field_path::check(schema, topic, &device_field).is_err()
        {
            let text = format!("{topic} ({name}) has no header.stamp");
            let hint = "name the field that holds the device's time with --device-field";
            return Err(Failure::new(text).hint(hint).into());
        }
        field_path::check(schema, topic, &device_field)?;
        if let Some(field) = &arguments.host_field {
            field_path::check(schema, topic, field)?;
        }
        Ok(Self {
            topic: topic.to_owned(),
            device_field,
            host_field: arguments.host_field.clone(),
            unit: arguments.device_unit.or(is_lidar.then_some(Unit::Ntp)),
            bits: arguments.device_bits,
            counter: None,
            is_lidar,
        })
    }

    /// The field that is read.
    pub(crate) fn device_field(&self) -> &str {
        &self.device_field
    }

    /// Whether the host's times come from a field, and not from the host's own clock.
    pub(crate) const fn has_host_field(&self) -> bool {
        self.host_field.is_some()
    }

    /// The sample of a message that was received at `received_ns`.
    pub(crate) fn sample(
        &mut self,
        value: &Value,
        received_ns: i64,
    ) -> Result<PassiveSample, Failure> {
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

    fn device(&mut self, value: &Value) -> Result<DeviceTime, Failure> {
        let found = self.find(value, &self.device_field)?;
        if let Some(nanos) = stamp_nanos(&found) {
            return Ok(DeviceTime::from_nanos(nanos));
        }
        if let (Value::Float32(_) | Value::Float64(_), Some(number)) = (&found, found.as_f64()) {
            let per_second = self.unit.unwrap_or(Unit::S).per_second() as f64;
            let time = timeloom_time::Duration::try_from_secs_f64(number / per_second);
            let time = time.ok_or_else(|| self.wrong(&self.device_field, "out of range"))?;
            return Ok(DeviceTime::from_nanos(time.nanos()));
        }
        let unit = self.unit.unwrap_or(Unit::Ns);
        let (Some(bits), Some(ticks)) = (width(&found), ticks(&found)) else {
            let why = "neither a stamp nor a number from 0";
            return Err(self.wrong(&self.device_field, why));
        };
        let bits = self.bits.unwrap_or(bits);
        let failed = |error: timeloom_sync::Error| Failure::new(error.to_string());
        let spec = ClockSpec::new(unit.per_second(), 1, bits).map_err(failed)?;
        let counter = self.counter.get_or_insert_with(|| TickCounter::new(spec));
        let unwrapped = counter.unwrap(ticks);
        let (topic, field) = (&self.topic, &self.device_field);
        unwrapped.map_err(|error| Failure::new(format!("{topic}: {field}: {error}")))
    }

    fn host(&self, value: &Value, field: &str) -> Result<i64, Failure> {
        let found = self.find(value, field)?;
        let nanos = stamp_nanos(&found).or_else(|| found.as_i64());
        nanos.ok_or_else(|| self.wrong(field, "neither a stamp nor nanoseconds"))
    }

    fn find(&self, value: &Value, field: &str) -> Result<Value, Failure> {
        value
            .get(field)
            .ok_or_else(|| self.wrong(field, "not in this message"))
    }

    fn wrong(&self, field: &str, why: &str) -> Failure {
        Failure::new(format!("{}: {field} is {why}", self.topic))
    }
}

/// The nanoseconds of a `builtin_interfaces/msg/Time`, or of anything that looks like one.
pub(crate) fn stamp_nanos(value: &Value) -> Option<i64> {
    value.as_struct()?;
    let seconds = value.get("sec")?.as_i64()?;
    let nanos = value.get("nanosec")?.as_i64()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos)
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

/// When the last point of a lidar's packet was measured: what its arrival follows most closely.
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
    Some(first.saturating_add(timeloom_time::Duration::from_nanos(nanos)))
}
