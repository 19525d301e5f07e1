//! `timeloom sync watch`: the clock behind a topic's stamps, live.

use std::collections::VecDeque;

use clap::Args;
use serde_json::json;
use timeloom_msg::Schema;
use timeloom_restamp::SampleFields;
use timeloom_sync::{ClockPair, Diagnostics, Sample as ClockSample, SensorClock};
use timeloom_text::{Scale, counted, duration, grouped, sparkline};
use timeloom_time::{Clock, Duration, Reading, Steady, System, Time};

use super::device_field::FieldArguments;
use super::limits_arguments::LimitsArguments;
use super::summary::bounds_text;
use crate::context::Context;
use crate::live::{Feed, FeedArguments, Live, LiveArguments, TypeFinder};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom sync watch /scan                                       the clock behind header.stamp
  timeloom sync watch /r2000_header                               timestamp_raw of a Pepperl+Fuchs lidar
  timeloom sync watch /imu --device-field ticks --device-unit us --device-bits 32
  timeloom sync watch /scan --format json -n 10                   ten lines for a program

On a terminal, a table with sparklines of the last minute is updated every second; otherwise a line is printed.
offset is system time minus device time: add it to a stamp of the device for ROS time. drift is how fast it grows, and
bound is how far above the estimate the truth can be.";

/// Refresh interval of the view.
const INTERVAL: Duration = Duration::from_secs(1);
/// Number of refreshes in the sparklines.
const SHOWN: usize = 60;

/// Watch the clock of a running sensor: offset, drift, bound, health
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    feed: FeedArguments,
    /// Stop after this many lines
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    fields: FieldArguments,
    #[command(flatten)]
    limits: LimitsArguments,
    #[command(flatten)]
    live: LiveArguments,
}

/// The last minute of the diagnostics.
#[derive(Default)]
struct History {
    offsets: VecDeque<f64>,
    drifts: VecDeque<f64>,
    bounds: VecDeque<f64>,
}

impl History {
    fn add(&mut self, status: &Diagnostics, offset_ns: i64) {
        let above = status.newest.bounds.upper.map_or(0, |upper| {
            upper.nanos().saturating_sub(status.newest.host.nanos())
        });
        let values = [offset_ns as f64, status.skew_ppm, above as f64];
        let series = [&mut self.offsets, &mut self.drifts, &mut self.bounds];
        for (series, value) in series.into_iter().zip(values) {
            series.push_back(value);
            if series.len() > SHOWN {
                series.pop_front();
            }
        }
    }
}

/// The observed topic and its clock.
struct Watch {
    fields: SampleFields,
    schema: Schema,
    clock: SensorClock,
    history: History,
    unread: u64,
    problem: Option<String>,
    drawn: usize,
    /// The same moment on the steady clock and on the system clock.
    to_system: ClockPair<System>,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join(&arguments.live, context)?;
    let Some(feed) = Feed::open(&arguments.feed, &live, context)? else {
        return Ok(Outcome::Done);
    };
    let schema = TypeFinder::new().of_endpoint(&live, &feed.publisher);
    let schema = schema?;
    let mut watch = Watch {
        fields: arguments.fields.of_topic(&schema, &feed.topic)?,
        schema,
        clock: arguments.limits.estimator.clock(arguments.limits.limits()),
        history: History::default(),
        unread: 0,
        problem: None,
        drawn: 0,
        to_system: ClockPair::new(Time::from_nanos(0), Time::from_nanos(0)),
    };
    context.printer.aside(&format!(
        "device time is {} of {}",
        watch.fields.device_field(),
        feed.topic
    ));
    let steady = live.clock();
    let system = Clock::<System>::on(&live.base());
    let mut next = steady.now().saturating_add(INTERVAL);
    let (mut lines, mut samples) = (0, Vec::new());
    loop {
        let left = next.checked_since(steady.now()).unwrap_or_default();
        samples.clear();
        feed.wait(&mut samples, left.max(Duration::from_nanos(0)));
        feed.report_events(context);
        // Stamps of the system clock become steady ones right away: a step later on does not touch them.
        let reading = Reading::take(&steady, &system);
        let pair = ClockPair::new(reading.after(), reading.other());
        for sample in &samples {
            watch.take(&sample.payload, pair.to_steady(sample.receive_time));
        }
        let ends = live.interrupt().happened();
        if ends || steady.now() >= next {
            next = next.saturating_add(INTERVAL).max(steady.now());
            lines += 1;
            let reading = Reading::take(&steady, &system);
            watch.to_system = ClockPair::new(reading.after(), reading.other());
            watch.show(arguments.format, &feed.topic, context)?;
            context.printer.flush()?;
        }
        if ends || arguments.limit.is_some_and(|limit| lines >= limit) {
            let lost = feed.report_loss(context);
            return Ok(Outcome::lost_if(watch.report(context) || lost));
        }
    }
}

impl Watch {
    fn take(&mut self, payload: &[u8], received: Time<Steady>) {
        let value = self.schema.decode(payload);
        let sample = value.map_err(|error| error.to_string()).and_then(|value| {
            let sample = self.fields.sample(&value, received.nanos());
            sample.map_err(|failure| failure.to_string())
        });
        let pushed = sample.and_then(|sample| {
            let pushed = self.clock.push(&ClockSample::Passive(sample));
            pushed.map_err(|error| error.to_string())
        });
        if let Err(problem) = pushed {
            self.unread += 1;
            self.problem.get_or_insert(problem);
        }
    }

    /// Draws the table or prints a line.
    fn show(&mut self, format: Format, topic: &str, context: &mut Context) -> anyhow::Result<()> {
        let Some(status) = self.clock.diagnostics() else {
            context
                .printer
                .aside(&format!("no new messages on {topic}"));
            return Ok(());
        };
        let offset_ns = self.offset(&status);
        self.history.add(&status, offset_ns);
        let text = match format {
            Format::Json => json_line(&status, offset_ns),
            Format::Text if context.printer.shows_progress() => {
                self.table(topic, &status, offset_ns)
            }
            Format::Text => text_line(&status, offset_ns),
        };
        if format == Format::Text && context.printer.shows_progress() {
            let up = std::mem::replace(&mut self.drawn, text.lines().count());
            if up > 0 {
                write!(context.printer.data(), "\x1b[{up}A\x1b[J")?;
            }
        }
        writeln!(context.printer.data(), "{text}")?;
        Ok(())
    }

    /// The offset to add to a device time: to the system clock, unless the host times come from a field.
    fn offset(&self, status: &Diagnostics) -> i64 {
        if self.fields.has_host_field() {
            return status.offset_ns;
        }
        self.to_system.offset_from_steady(status.offset_ns)
    }

    fn table(&self, topic: &str, status: &Diagnostics, offset_ns: i64) -> String {
        let line = |name: &str, value: String, series: &VecDeque<f64>| {
            format!(
                "{name:8} {value:>24}  {}",
                sparkline(series.iter().copied(), Scale::FromLeast)
            )
        };
        let counters = status.counters;
        [
            format!(
                "{topic}  {}  epoch {}",
                status.newest.health, status.newest.epoch
            ),
            line("offset", seconds(offset_ns), &self.history.offsets),
            line(
                "drift",
                format!("{:.3} ppm", status.skew_ppm),
                &self.history.drifts,
            ),
            line("bound", bounds_text(&status.newest), &self.history.bounds),
            format!(
                "{:8} {:>24}",
                "sigma",
                duration(status.newest.sigma.nanos())
            ),
            format!(
                "{:8} {:>24}  {} outliers, {} late, {} twice",
                "samples",
                grouped(counters.samples),
                grouped(counters.outliers),
                grouped(counters.late),
                grouped(counters.duplicates)
            ),
        ]
        .join("\n")
    }

    /// Says what could not be read; whether anything.
    fn report(&self, context: &mut Context) -> bool {
        if let Some(problem) = &self.problem {
            let unread = counted(self.unread, "message");
            let text = format!("{unread} left out; the first: {problem}");
            context.printer.loss(&text);
        }
        self.problem.is_some()
    }
}

fn seconds(nanos: i64) -> String {
    format!("{} s", timeloom_text::seconds(nanos))
}

fn text_line(status: &Diagnostics, offset_ns: i64) -> String {
    format!(
        "offset: {}  drift: {:.3} ppm  sigma: {}  bound: {}  health: {}  epoch: {}  samples: {}",
        seconds(offset_ns),
        status.skew_ppm,
        duration(status.newest.sigma.nanos()),
        bounds_text(&status.newest),
        status.newest.health,
        status.newest.epoch,
        status.counters.samples
    )
}

fn json_line(status: &Diagnostics, offset_ns: i64) -> String {
    let newest = &status.newest;
    let distance = |time: Option<Time<Steady>>| time.map(|time| (time - newest.host).nanos());
    json!({
        "offset_ns": offset_ns,
        "offset_steady_ns": status.offset_ns,
        "drift_ppm": status.skew_ppm,
        "sigma_ns": newest.sigma.nanos(),
        "lower_ns": distance(newest.bounds.lower),
        "upper_ns": distance(newest.bounds.upper),
        "health": newest.health.name(),
        "epoch": newest.epoch,
        "samples": status.counters.samples,
        "outliers": status.counters.outliers,
        "late": status.counters.late,
        "duplicates": status.counters.duplicates,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_keep_their_nanoseconds() {
        assert_eq!(seconds(1_794_733_131_000_000_001), "1794733131.000000001 s");
        assert_eq!(seconds(-1_500_000_000), "-1.500000000 s");
    }
}
