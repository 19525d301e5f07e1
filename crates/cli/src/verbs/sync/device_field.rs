//! Which field of a message holds the device's time, and what it counts.

use clap::{Args, ValueEnum};
use timeloom_msg::Schema;
use timeloom_restamp::{Error, FieldOptions, SampleFields};
use timeloom_sync::table::{DeviceColumn, TimeUnit};
use timeloom_sync::{ClockSpec, DeviceClock};

use crate::failure::Failure;
use crate::field_path;

/// Where the times are in a message.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Fields")]
pub(crate) struct FieldArguments {
    /// The field with the device's time: a stamp or a number [default: header.stamp, or the usual field of the type]
    #[arg(long, value_name = "PATH")]
    pub(crate) device_field: Option<String>,
    /// Unit of numbers in that field, or in the column `device_ns` of a table
    #[arg(long, value_enum, value_name = "UNIT")]
    device_unit: Option<Unit>,
    /// Number of bits after which that number wraps [default: those of the field; in a table, it never wraps]
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=64))]
    device_bits: Option<u32>,
    /// The field with the host's time [default: when the message was received]
    #[arg(long, value_name = "PATH")]
    host_field: Option<String>,
}

impl FieldArguments {
    /// The unit of the device column of a table.
    pub(crate) fn device_column(&self) -> Result<DeviceColumn, Failure> {
        device_column(self.device_unit, self.device_bits)
    }

    /// Whether the device's clock may be set: one that wraps only counts.
    pub(crate) fn device_clock(&self) -> DeviceClock {
        if self.device_bits.is_some() {
            DeviceClock::Counter
        } else {
            DeviceClock::MayBeSet
        }
    }

    /// The fields of a topic, checked against its type.
    pub(crate) fn of_topic(&self, schema: &Schema, topic: &str) -> Result<SampleFields, Failure> {
        for field in self.device_field.iter().chain(&self.host_field) {
            field_path::check(schema, topic, field)?;
        }
        let options = FieldOptions {
            device_field: self.device_field.clone(),
            ticks_per_second: self.device_unit.map(Unit::per_second),
            counter_bits: self.device_bits,
            host_field: self.host_field.clone(),
        };
        SampleFields::new(options, schema, topic).map_err(|error| match error {
            Error::NoStamp { .. } => Failure::new(error.to_string())
                .hint("name the field that holds the device's time with --device-field"),
            _ => Failure::new(error.to_string()),
        })
    }
}

/// The unit of the device column of a table: times, or a counter that wraps.
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

/// The unit of a number.
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
