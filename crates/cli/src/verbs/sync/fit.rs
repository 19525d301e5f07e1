//! `timeloom sync fit`: from samples to host times.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use timeloom_sync::plot::{Plot, Trace};
use timeloom_sync::table::{MAPPED_HEADER, Row, SampleReader, TableUnits, TimeUnit, mapped_line};
use timeloom_sync::{
    ColumnCheck, EventKind, HostClocks, HostStamps, Limit, Limits, Mapped, Method, Sample,
    SensorClock, causal_one, smooth_with,
};
use timeloom_time::{Steady, Time};

use super::bag_samples::{BagAccount, is_bag, read_topic};
use super::device_field::{FieldArguments, Unit};
use super::limits_arguments::LimitsArguments;
use super::lines::Lines;
use super::output::Output;
use super::summary::Summary;
use crate::context::Context;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom sync fit samples.csv                                  offset, drift, jitter, bound, epochs, resets
  timeloom sync fit samples.csv --causal --output fitted.csv     every row as it would have been seen live
  timeloom sync fit samples.csv --estimator mean --causal        the result of another driver
  timeloom sync fit my_bag --topic /scan --plot scan.svg         the clock behind header.stamp
  timeloom sync fit my_bag --topic /imu --device-field ticks --device-unit us --device-bits 32
  my_driver | timeloom sync fit -                                one row out for each row in

A table has the columns kind (passive or active), device_ns, host_rx_ns, and if there are any host_tx_ns (needed for
active rows), device_tx_ns, source (kernel or user) and host_steady_ns (the arrival by a clock that is never set, where
host_rx_ns is of one that may be), in any order and below a header; its rows stand in the order of their arrival.
The output has device_ns, host_ns, sigma_ns, lower_ns, upper_ns, health, epoch, max_skew_ppm and max_drift_ppm for every
row. sigma_ns is the deviation of the error that varies; a constant error lies within lower_ns and upper_ns, which hold
for clocks that keep to max_skew_ppm and max_drift_ppm. lower_ns is empty where only packets were seen.
Without --causal every row is estimated from all rows of its epoch, earlier and later ones. Rows from stdin are
estimated and written as they come, unless --smooth waits for the end.";

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
    /// Use later rows of stdin too, and write nothing until it ends
    #[arg(long, conflicts_with = "causal")]
    smooth: bool,
    /// Write a row for each sample to this CSV file; `-` for stdout [default: stdout if the samples come from stdin and
    /// neither --plot nor --format json is given]
    #[arg(short, long, value_name = "FILE", allow_hyphen_values = true)]
    output: Option<PathBuf>,
    /// Draw offset, delays, bounds and drift: an .svg or .html file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Unit of the host's columns of a table
    #[arg(long, value_enum, value_name = "UNIT", default_value = "ns")]
    host_unit: Unit,
    /// Summary format
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

/// Processes rows as they arrive.
struct Fit {
    clock: SensorClock,
    output: Option<Output>,
    /// All samples, where later ones count, with the host's clocks at each.
    kept: Option<Vec<(Sample, Option<HostClocks>)>>,
    host_clocks: Option<HostClocks>,
    summary: Summary,
    trace: Trace,
    columns: ColumnCheck,
    reported: Vec<Limit>,
}

impl Fit {
    /// Takes a sample, and its arrival by the steady clock, if that is known too.
    fn take(
        &mut self,
        sample: &Sample,
        steady: Option<Time<Steady>>,
        context: &mut Context,
    ) -> anyhow::Result<()> {
        self.summary.arrived(sample);
        self.columns.add(sample);
        let Some(shifted) = self.on_steady_clock(sample, steady) else {
            // A request during which the clock was set is useless.
            return match self.clock.convert(sample.device()) {
                Some(mapped) => self.row(sample, &mapped, context),
                None => Ok(()),
            };
        };
        let mapped = causal_one(&shifted, &mut self.clock)?;
        while let Some(event) = self.clock.take_event() {
            if let EventKind::LimitReached(reached) = event.kind
                && !self.reported.contains(&reached.limit)
            {
                self.reported.push(reached.limit);
                context.printer.warning(&reached.to_string());
            }
            self.summary.event(&event);
        }
        match &mut self.kept {
            Some(kept) => kept.push((shifted, self.host_clocks.clone())),
            None => self.row(sample, &mapped, context)?,
        }
        Ok(())
    }

    /// The sample on the clock that is never set, if its arrival there is known; none if it cannot be used.
    fn on_steady_clock(&mut self, sample: &Sample, steady: Option<Time<Steady>>) -> Option<Sample> {
        let Some(steady) = steady else {
            return Some(*sample);
        };
        let clocks = self.host_clocks.get_or_insert_with(HostClocks::new);
        self.clock.set_host_stamps(HostStamps::Steady);
        let (shifted, step) = clocks.steady(sample, steady);
        if let Some(step) = step {
            let text = format!("the host's clock was set by {:+.6} s", step.as_secs_f64());
            self.summary.add_event(sample.host_rx().nanos(), text);
        }
        shifted
    }

    /// A row on the clock that stamped the sample.
    fn row(
        &mut self,
        sample: &Sample,
        mapped: &Mapped,
        context: &mut Context,
    ) -> anyhow::Result<()> {
        let clocks = self.host_clocks.as_ref();
        let mapped = &clocks.map_or(*mapped, |clocks| clocks.stamped(*mapped));
        self.summary.add(sample, mapped);
        self.trace.add(sample, mapped);
        if let Some(output) = &mut self.output {
            let line = mapped_line(sample.device(), mapped, self.clock.limits());
            output.line(&line, context)?;
        }
        Ok(())
    }

    /// Smooths what was kept and makes rows of it.
    fn smooth(&mut self, limits: &Limits, context: &mut Context) -> anyhow::Result<()> {
        let Some(kept) = self.kept.take() else {
            return Ok(());
        };
        let samples: Vec<Sample> = kept.iter().map(|(sample, _)| *sample).collect();
        let mut clock = Method::Envelope.clock(*limits);
        clock.set_device_clock(self.clock.device_clock());
        if self.host_clocks.is_some() {
            clock.set_host_stamps(HostStamps::Steady);
        }
        let (rows, clock) = smooth_with(&samples, clock)?;
        self.clock = clock;
        for ((sample, clocks), mapped) in kept.into_iter().zip(&rows) {
            let sample = clocks
                .as_ref()
                .map_or(sample, |clocks| clocks.sample(&sample));
            self.host_clocks = clocks;
            self.row(&sample, mapped, context)?;
        }
        Ok(())
    }
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    if let Some(plot) = &arguments.plot {
        check_plot(plot)?;
    }
    let limits = arguments.limits.limits();
    let method = arguments.limits.estimator;
    let streams = arguments.samples.as_os_str() == "-" && !arguments.smooth;
    let live = arguments.causal || streams;
    let smooths = !live && method == Method::Envelope;
    if !live && !smooths {
        let text = format!(
            "{method} does not use later rows: the result is the live view, as with --causal"
        );
        context.printer.aside(&text);
    }
    let summary_only = arguments.plot.is_some() || matches!(arguments.format, Format::Json);
    let to_stdout = streams && !summary_only;
    let stdout = to_stdout.then(|| Path::new("-"));
    let mut output = arguments
        .output
        .as_deref()
        .or(stdout)
        .map(|path| Output::create(path, &arguments.samples))
        .transpose()?;
    if let Some(output) = &mut output {
        output.line(MAPPED_HEADER, context)?;
    }
    let mut clock = method.clock(limits);
    clock.set_device_clock(arguments.fields.device_clock());
    let mut fit = Fit {
        clock,
        output,
        kept: smooths.then(Vec::new),
        host_clocks: None,
        summary: Summary::default(),
        trace: Trace::default(),
        columns: ColumnCheck::default(),
        reported: Vec::new(),
    };
    let account = read(arguments, &mut fit, context)?;
    check_columns(&fit.columns, &limits, context)?;
    fit.smooth(&limits, context)?;
    finish(arguments, fit, smooths, context)?;
    Ok(Outcome::lost_if(account.damaged || account.unread > 0))
}

/// Refuses names that end neither in .svg nor in .html.
fn check_plot(path: &Path) -> Result<(), Failure> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    if matches!(extension, Some("svg" | "html" | "htm")) {
        return Ok(());
    }
    let text = format!("{} is neither an .svg nor an .html file", path.display());
    Err(Failure::usage(text))
}

/// Writes a plot of `input`, as a page if the name ends in .html.
fn write_plot(plot: &Plot, path: &Path, input: &Path) -> anyhow::Result<()> {
    let is_page = path.extension().is_some_and(|extension| extension != "svg");
    let written = if is_page {
        let title = input.file_name().unwrap_or(input.as_os_str());
        std::fs::write(path, plot.page(&title.to_string_lossy()))
    } else {
        std::fs::write(path, plot.svg())
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Refuses columns in different units, and warns of columns that look exchanged.
fn check_columns(
    columns: &ColumnCheck,
    limits: &Limits,
    context: &mut Context,
) -> anyhow::Result<()> {
    if let Err(error) = columns.units(limits.skew_ppm) {
        return Err(Failure::new(error.to_string()).hint(
            "name what the device counts with --device-unit and --device-bits (and --host-unit); for a clock that is really so far off, raise --max-skew",
        ).into());
    }
    if columns.looks_exchanged() {
        context.printer.warning(
            "device and host times look swapped: packets arrive at a regular pace while the device's times vary; check device_ns and host_rx_ns",
        );
    }
    Ok(())
}

fn read(arguments: &Arguments, fit: &mut Fit, context: &mut Context) -> anyhow::Result<BagAccount> {
    let path = &arguments.samples;
    if is_bag(path) {
        let topic = arguments.topic.as_deref();
        let mut take = |sample: &Sample, context: &mut Context| fit.take(sample, None, context);
        return read_topic(path, topic, &arguments.fields, context, &mut take);
    }
    let units = TableUnits {
        device: arguments.fields.device_column()?,
        host: host_unit(arguments.host_unit)?,
    };
    let reader = SampleReader::with_units(units);
    read_table(path, reader, context, &mut |row, context| {
        fit.take(&row.sample, row.steady, context)
    })
}

/// The unit of the host's columns.
pub(super) fn host_unit(unit: Unit) -> Result<TimeUnit, Failure> {
    unit.decimal()
        .ok_or_else(|| Failure::usage("--host-unit ntp: the host's columns are ns, us, ms or s"))
}

/// Receives each row of a table.
pub(super) type TakeRow<'a> = dyn FnMut(&Row, &mut Context) -> anyhow::Result<()> + 'a;

/// Hands every row of a CSV file to `take`; a last line that is cut off is left out.
pub(super) fn read_table(
    path: &Path,
    mut reader: SampleReader,
    context: &mut Context,
    take: &mut TakeRow<'_>,
) -> anyhow::Result<BagAccount> {
    let mut lines = Lines::open(path)?;
    let mut account = BagAccount::default();
    loop {
        let mut bad: Option<timeloom_sync::Error> = None;
        let more = lines.next(|line| match reader.line(line) {
            Ok(Some(row)) => take(&row, context),
            Ok(None) => Ok(()),
            Err(error) => {
                bad = Some(error);
                Ok::<(), anyhow::Error>(())
            }
        })?;
        if let Some(error) = bad {
            if !(lines.is_cut() && reader.has_header()) {
                return Err(anyhow::Error::from(error).context(lines.name()));
            }
            let text = format!(
                "{}: the last line is cut off and left out: {error}",
                lines.name()
            );
            context.printer.warning(&text);
            account.unread += 1;
        }
        if !more {
            break;
        }
        if lines.is_drained() {
            context.printer.flush()?;
        }
    }
    let finished = reader.finish();
    finished.map_err(|error| anyhow::Error::from(error).context(lines.name()))?;
    Ok(account)
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
        write_plot(&Plot::new(&trace, &estimator), path, &arguments.samples)?;
    }
    let text = match arguments.format {
        Format::Text => summary.text(&estimator),
        Format::Json => format!("{:#}", summary.json(&estimator)),
    };
    if to_stdout {
        // Stdout holds the table, so the summary is printed on stderr.
        context.printer.note(&text);
    } else {
        writeln!(context.printer.data(), "{text}")?;
    }
    Ok(())
}
