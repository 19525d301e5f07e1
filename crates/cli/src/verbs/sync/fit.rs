//! `timeloom sync fit`: from samples to host times.

use std::path::{Path, PathBuf};

use clap::Args;
use timeloom_sync::table::{MAPPED_HEADER, SampleReader, mapped_line};
use timeloom_sync::{Mapped, Method, Sample, SensorClock, causal_one, smooth};

use super::bag_samples::{BagAccount, TakeSample, is_bag, read_topic};
use super::device_field::FieldArguments;
use super::limits_arguments::LimitsArguments;
use super::lines::Lines;
use super::output::Output;
use super::plot::Plot;
use super::summary::Summary;
use super::trace::Trace;
use crate::context::Context;
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom sync fit samples.csv                                  offset, drift, jitter, bound, epochs, resets
  timeloom sync fit samples.csv --causal --output fitted.csv     every row as it would have been seen live
  timeloom sync fit samples.csv --estimator mean --causal        what another driver would have made of it
  timeloom sync fit my_bag --topic /scan --plot scan.svg         the clock behind header.stamp
  timeloom sync fit my_bag --topic /imu --device-field ticks --device-unit us --device-bits 32

A table has the columns kind (passive or active), device_ns, host_rx_ns, and if there are any host_tx_ns (needed for
active rows), device_tx_ns and source (kernel or user), in any order and below a header; its rows stand in the order of
their arrival. The output has device_ns, host_ns, sigma_ns, lower_ns, upper_ns, health and epoch for every row.
Without --causal every row is estimated from all rows of its epoch, earlier and later ones.
lower_ns is empty where nothing bounds from below: only requests do (active rows).";

/// Estimate host times from samples: a table or a topic of a bag
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A CSV file, `-` for stdin, or a bag
    #[arg(value_name = "SAMPLES")]
    samples: PathBuf,
    /// Use only rows up to each one, as if it were live
    #[arg(long)]
    causal: bool,
    /// Write a row for each sample to this CSV file; `-` for stdout
    #[arg(short, long, value_name = "FILE", allow_hyphen_values = true)]
    output: Option<PathBuf>,
    /// Draw offset, delays, bounds and drift: an .svg or .html file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Form of the summary
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// The topic of the bag
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    #[command(flatten)]
    fields: FieldArguments,
    #[command(flatten)]
    limits: LimitsArguments,
}

/// What is made of the rows as they come.
struct Fit {
    clock: SensorClock,
    output: Option<Output>,
    /// All samples, where later ones count.
    kept: Option<Vec<Sample>>,
    summary: Summary,
    trace: Trace,
}

impl Fit {
    fn take(&mut self, sample: &Sample, context: &mut Context) -> anyhow::Result<()> {
        let mapped = causal_one(sample, &mut self.clock)?;
        while let Some(event) = self.clock.take_event() {
            self.summary.event(&event);
        }
        match &mut self.kept {
            Some(kept) => kept.push(*sample),
            None => self.row(sample, &mapped, context)?,
        }
        Ok(())
    }

    fn row(
        &mut self,
        sample: &Sample,
        mapped: &Mapped,
        context: &mut Context,
    ) -> anyhow::Result<()> {
        self.summary.add(sample, mapped);
        self.trace.add(sample, mapped);
        if let Some(output) = &mut self.output {
            output.line(&mapped_line(sample.device(), mapped), context)?;
        }
        Ok(())
    }
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    if let Some(plot) = &arguments.plot {
        Plot::check(plot)?;
    }
    let limits = arguments.limits.limits();
    let method = arguments.limits.estimator;
    let smooths = !arguments.causal && method == Method::Envelope;
    if !arguments.causal && !smooths {
        let text = format!(
            "{method} knows nothing of later rows: this is the live view, as with --causal"
        );
        context.printer.aside(&text);
    }
    let output = arguments.output.as_deref();
    let mut output = output
        .map(|path| Output::create(path, &arguments.samples))
        .transpose()?;
    if let Some(output) = &mut output {
        output.line(MAPPED_HEADER, context)?;
    }
    let mut fit = Fit {
        clock: method.clock(limits),
        output,
        kept: smooths.then(Vec::new),
        summary: Summary::default(),
        trace: Trace::default(),
    };
    let account = read(arguments, &mut fit, context)?;
    if let Some(samples) = fit.kept.take() {
        let rows = smooth(&samples, &limits)?;
        for (sample, mapped) in samples.iter().zip(&rows) {
            fit.row(sample, mapped, context)?;
        }
    }
    finish(arguments, fit, smooths, context)?;
    Ok(Outcome::lost_if(account.damaged || account.unread > 0))
}

fn read(arguments: &Arguments, fit: &mut Fit, context: &mut Context) -> anyhow::Result<BagAccount> {
    let path = &arguments.samples;
    let mut take = |sample: &Sample, context: &mut Context| fit.take(sample, context);
    if is_bag(path) {
        let topic = arguments.topic.as_deref();
        return read_topic(path, topic, &arguments.fields, context, &mut take);
    }
    read_table(path, context, &mut take)?;
    Ok(BagAccount::default())
}

/// Hands every sample of a CSV file to `take`.
pub(super) fn read_table(
    path: &Path,
    context: &mut Context,
    take: &mut TakeSample<'_>,
) -> anyhow::Result<()> {
    let mut lines = Lines::open(path)?;
    let mut reader = SampleReader::new();
    while lines.next(|line| match reader.line(line)? {
        Some(row) => take(&row.sample, context),
        None => Ok(()),
    })? {}
    let finished = reader.finish();
    finished.map_err(|error| anyhow::Error::from(error).context(lines.name()))
}

fn finish(
    arguments: &Arguments,
    fit: Fit,
    smooths: bool,
    context: &mut Context,
) -> anyhow::Result<()> {
    let Fit {
        output,
        summary,
        trace,
        ..
    } = fit;
    let to_stdout = matches!(output, Some(Output::Stdout));
    if let Some(output) = output {
        output.finish()?;
    }
    let view = if smooths { "smoothed" } else { "live" };
    let estimator = format!("{}, {view}", arguments.limits.estimator);
    if let Some(path) = &arguments.plot {
        Plot::new(&trace, &estimator).write(path, &arguments.samples)?;
    }
    let text = match arguments.format {
        Format::Text => summary.text(&estimator),
        Format::Json => format!("{:#}", summary.json(&estimator)),
    };
    if to_stdout {
        // The table is the data; the summary is for whoever watches.
        context.printer.note(&text);
    } else {
        writeln!(context.printer.data(), "{text}")?;
    }
    Ok(())
}
