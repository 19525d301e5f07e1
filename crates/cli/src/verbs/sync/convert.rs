//! `timeloom sync convert`: other device times by a mapping that was fitted before.

use std::path::PathBuf;

use clap::Args;
use timeloom_sync::table::{DeviceTimeReader, MAPPED_HEADER, MappedReader, mapped_line};
use timeloom_sync::{DeviceTime, Error, Limits, Mapped, Mapping};

use super::device_field::{Unit, device_column};
use super::lines::Lines;
use super::output::Output;
use crate::context::Context;
use crate::failure::Failure;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom sync fit samples.csv --output fitted.csv
  timeloom sync convert fitted.csv events.csv                    host times of the column device_ns
  timeloom sync convert fitted.csv events.csv -o times.csv --epoch 2
  timeloom sync convert fitted.csv ticks.csv --device-unit us --device-bits 32

The mapping is what `sync fit --output` wrote. Between its rows host times are interpolated; beyond them they follow
the slope at the end, health says holdover, and sigma and bounds grow as the limits of the fit allow (its columns
max_skew_ppm and max_drift_ppm). Times in several epochs need --epoch.";

/// Convert device times of a table by a fitted mapping
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The output of `sync fit --output`
    #[arg(value_name = "MAPPING")]
    mapping: PathBuf,
    /// A CSV file with the column `device_ns`, or one number on each line; `-` for stdin
    #[arg(value_name = "TIMES")]
    times: PathBuf,
    /// The CSV file to write; `-` for stdout
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "-",
        allow_hyphen_values = true
    )]
    output: PathBuf,
    /// Use this epoch of the mapping
    #[arg(long, value_name = "NUMBER")]
    epoch: Option<u32>,
    /// Unit of device times
    #[arg(long, value_enum, value_name = "UNIT")]
    device_unit: Option<Unit>,
    /// Number of bits after which a device time wraps [default: it never wraps]
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=64))]
    device_bits: Option<u32>,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let column = device_column(arguments.device_unit, arguments.device_bits)?;
    let (rows, limits) = rows(arguments)?;
    let mapping = Mapping::new(rows, &limits);
    let mut output = Output::create(&arguments.output, &arguments.times)?;
    output.line(MAPPED_HEADER, context)?;
    let mut lines = Lines::open(&arguments.times)?;
    let mut reader = DeviceTimeReader::with_units(column);
    let mut device = None;
    while lines.next(|line| {
        device = reader.line(line)?;
        Ok::<(), Error>(())
    })? {
        let Some(device) = device.take() else {
            continue;
        };
        let mapped = mapping
            .convert(device, arguments.epoch)
            .map_err(with_hint)?;
        output.line(&mapped_line(device, &mapped, &limits), context)?;
    }
    let finished = reader.finish();
    finished.map_err(|error| anyhow::Error::from(error).context(lines.name()))?;
    output.finish()?;
    Ok(Outcome::Done)
}

/// The rows of the mapping, and the limits that they hold for.
fn rows(arguments: &Arguments) -> anyhow::Result<(Vec<(DeviceTime, Mapped)>, Limits)> {
    let mut lines = Lines::open(&arguments.mapping)?;
    let mut reader = MappedReader::new();
    let mut rows = Vec::new();
    while lines.next(|line| {
        rows.extend(reader.line(line)?);
        Ok::<(), Error>(())
    })? {}
    let finished = reader.finish();
    finished.map_err(|error| anyhow::Error::from(error).context(lines.name()))?;
    let limits = reader.limits();
    Ok((rows, limits))
}

fn with_hint(error: Error) -> anyhow::Error {
    match &error {
        Error::ManyEpochs { .. } => Failure::new(error.to_string())
            .hint("choose one with --epoch: a device that restarts shows the same times again")
            .into(),
        _ => error.into(),
    }
}
