//! `timeloom sync calibrate`: the constant delay of packets.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use timeloom_sync::table::{Row, SampleReader, TableUnits};
use timeloom_sync::{Calibration, ConstantDelay, Sample, smooth};
use timeloom_text::duration;
use timeloom_time::{Duration, Steady, Time};

use super::bag_samples::{is_bag, read_topic};
use super::device_field::{FieldArguments, Unit};
use super::fit::{host_unit, read_table};
use super::limits_arguments::LimitsArguments;
use super::summary::delay_json;
use crate::context::Context;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom sync calibrate samples.csv                            with requests (active rows) in the table
  timeloom sync calibrate samples.csv --reference ptp_ns         against a clock that is synchronised to the host's
  timeloom sync fit samples.csv --least-delay 212.4              with what it printed

Packets never show the part of their delay that is always there. Requests bound it from above, and the middle of a
narrow corridor between requests and arrivals is a good guess; a column with the true host time of each event, as a
second clock that is synchronised by PTP or a pulse gives it, shows it directly. What is printed behind \"use\" is what
fit, retime and watch take.";

/// Find the constant delay of packets, with its bounds, as --least-delay takes it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A CSV file, `-` for stdin, or a bag
    #[arg(value_name = "SAMPLES")]
    samples: PathBuf,
    /// The column of the table with the true host time of each event
    #[arg(long, value_name = "COLUMN")]
    reference: Option<String>,
    /// Largest error of that time, in microseconds
    #[arg(
        long,
        value_name = "MICROSECONDS",
        default_value_t = 1.0,
        requires = "reference"
    )]
    reference_error: f64,
    /// Unit of the host's columns of a table
    #[arg(long, value_enum, value_name = "UNIT", default_value = "ns")]
    host_unit: Unit,
    /// The topic of the bag
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    fields: FieldArguments,
    #[command(flatten)]
    limits: LimitsArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let (samples, references, lost) = read(arguments, context)?;
    let rows = smooth(&samples, &arguments.limits.limits())?;
    let mut calibration = Calibration::new();
    for ((sample, row), reference) in samples.iter().zip(&rows).zip(&references) {
        calibration.take(sample, row, *reference);
    }
    let error = Duration::try_from_secs_f64(arguments.reference_error * 1e-6);
    let error = error.filter(|error| !error.is_negative());
    let error = error.ok_or_else(|| Failure::usage("--reference-error is a number from 0"))?;
    let found = Found {
        requests: calibration.by_requests(),
        reference: calibration.by_reference(error),
        device: calibration.inside_device(),
        packets: calibration.packets(),
    };
    let text = match arguments.format {
        Format::Text => found.text(),
        Format::Json => format!("{:#}", found.json()),
    };
    writeln!(context.printer.data(), "{text}")?;
    if found.best().is_none() {
        let text = "the constant delay of these packets cannot be determined";
        return Err(Failure::new(text)
            .hint("record requests beside them (active rows), or give the column of a synchronised clock with --reference")
            .into());
    }
    Ok(Outcome::lost_if(lost))
}

/// Samples, their true host times where a column has them, and whether something was lost.
type Input = (Vec<Sample>, Vec<Option<Time<Steady>>>, bool);

fn read(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Input> {
    let (mut samples, mut references) = (Vec::new(), Vec::new());
    let path = &arguments.samples;
    let account = if is_bag(path) {
        if arguments.reference.is_some() {
            let text = "--reference is a column of a table, but the input is a bag";
            return Err(Failure::usage(text).into());
        }
        let topic = arguments.topic.as_deref();
        read_topic(path, topic, &arguments.fields, context, &mut |sample, _| {
            samples.push(*sample);
            references.push(None);
            Ok(())
        })?
    } else {
        let mut reader = SampleReader::with_units(TableUnits {
            device: arguments.fields.device_column()?,
            host: host_unit(arguments.host_unit)?,
        });
        if let Some(column) = &arguments.reference {
            reader = reader.with_reference(column);
        }
        read_table(path, reader, context, &mut |row: &Row, _| {
            samples.push(row.sample);
            references.push(row.reference);
            Ok(())
        })?
    };
    Ok((samples, references, account.damaged || account.unread > 0))
}

/// The result.
struct Found {
    requests: Option<ConstantDelay>,
    reference: Option<ConstantDelay>,
    device: Option<Duration>,
    packets: u64,
}

impl Found {
    /// A synchronised clock shows more than requests do.
    fn best(&self) -> Option<ConstantDelay> {
        self.reference.or(self.requests)
    }

    fn text(&self) -> String {
        let text = |found: &ConstantDelay| {
            let [delay, least, most] = [found.delay, found.least, found.most];
            let [delay, least, most] = [delay, least, most].map(|one| duration(one.nanos()));
            format!("{delay}, between {least} and {most}")
        };
        let mut lines = vec![("packets", format!("{} that were locked", self.packets))];
        if let Some(device) = self.device {
            let text = format!(
                "{} at least from an event to its sending, which --least-delay leaves out",
                duration(device.nanos())
            );
            lines.push(("device", text));
        }
        let requests = self.requests.as_ref().map(text);
        lines.push(("requests", requests.unwrap_or_else(|| "none".into())));
        if let Some(reference) = &self.reference {
            lines.push(("reference", text(reference)));
        }
        if let Some(best) = self.best() {
            let micros = best.delay.nanos() as f64 * 1e-3;
            lines.push(("use", format!("--least-delay {micros:.1}")));
        }
        let lines = lines.iter().map(|(name, text)| format!("{name:10} {text}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "packets": self.packets,
            "inside_device_ns": self.device.map(Duration::nanos),
            "by_requests_ns": self.requests.map(delay_json),
            "by_reference_ns": self.reference.map(delay_json),
            "least_delay_us": self.best().map(|best| best.delay.nanos() as f64 * 1e-3),
        })
    }
}
