//! `timeloom sync convert`: other device times by a mapping that was fitted before.

use std::path::PathBuf;

use clap::Args;
use timeloom_sync::table::{DeviceTimeReader, MAPPED_HEADER, MappedReader, mapped_line};
use timeloom_sync::{DeviceTime, Error, Limits, Mapped, Mapping};

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

The mapping is what `sync fit --output` wrote. Between its rows host times are interpolated; beyond them they follow
the slope at the end, health says holdover and sigma grows. Times in several epochs need --epoch.";

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
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let mapping = Mapping::new(rows(arguments)?, &Limits::default());
    let mut output = Output::create(&arguments.output, &arguments.times)?;
    output.line(MAPPED_HEADER, context)?;
    let mut lines = Lines::open(&arguments.times)?;
    let mut reader = DeviceTimeReader::new();
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
        output.line(&mapped_line(device, &mapped), context)?;
    }
    let finished = reader.finish();
    finished.map_err(|error| anyhow::Error::from(error).context(lines.name()))?;
    output.finish()?;
    Ok(Outcome::Done)
}

fn rows(arguments: &Arguments) -> anyhow::Result<Vec<(DeviceTime, Mapped)>> {
    let mut lines = Lines::open(&arguments.mapping)?;
    let mut reader = MappedReader::new();
    let mut rows = Vec::new();
    while lines.next(|line| {
        rows.extend(reader.line(line)?);
        Ok::<(), Error>(())
    })? {}
    let finished = reader.finish();
    finished.map_err(|error| anyhow::Error::from(error).context(lines.name()))?;
    Ok(rows)
}

fn with_hint(error: Error) -> anyhow::Error {
    match &error {
        Error::ManyEpochs { .. } => Failure::new(error.to_string())
            .hint("choose one with --epoch: a device that restarts shows the same times again")
            .into(),
        _ => error.into(),
    }
}
