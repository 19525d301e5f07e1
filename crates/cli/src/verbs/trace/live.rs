//! `timeloom trace live`: the lineage of a running robot.

use std::io::{self, IsTerminal as _};

use clap::Args;
use timeloom_node::{LineageMonitor, MonitorOptions, NodeOptions, RosNode};
use timeloom_text::counted;
use timeloom_time::{Duration, Event, Steady, Time};
use timeloom_trace::{DeadlineEvent, EngineOptions, FoundBy, Plan, Report, span_text};
use timeloom_tui::{TextScreen, has_keyboard, show};

use super::analysis::read_plan;
use super::text::{Paths, report_text};
use crate::context::Context;
use crate::live::{Live, LiveArguments, seconds};
use crate::outcome::Outcome;
use crate::plain_text::plain_text;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom trace live                              every path of the robot, from its tags
  timeloom trace live --to /cmd                    only what leads there
  timeloom trace live --plan budget.yaml           also watch deadlines: /deadline_notification and /diagnostics
  timeloom trace live --topics /points /objects    no tags: linked by the graph, by stamps or by the latest input
  timeloom trace live --duration 30 --format json  one line of JSON a second, for programs

On a terminal: arrows or j k move by a line, PgUp PgDn or u d by ten, g G to the ends, / or r filters by a regular
expression, q or F continues. Elsewhere the report is printed once at the end, and missed deadlines as they come.";

/// The longest time between two ticks of the monitor.
const TICK: Duration = Duration::from_millis(100);
/// More recent events than these are not shown on the screen.
const SHOWN_EVENTS: usize = 5;

/// Watch the lineage of a running robot
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Topics at which paths end [default: all that are not an input of another topic]
    #[arg(long = "to", value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    targets: Vec<String>,
    /// Topics at which paths begin [default: those without inputs]
    #[arg(long = "from", value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    sources: Vec<String>,
    /// Topics to leave out
    #[arg(long, value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    ignore: Vec<String>,
    /// Topics without tags to subscribe to; they are linked by the graph, or by the plan's node model
    #[arg(long, value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    topics: Vec<String>,
    /// Budgets with deadlines, node models and hosts, as YAML
    #[arg(long, value_name = "FILE")]
    plan: Option<std::path::PathBuf>,
    /// Time that a message is kept after its last use
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    keep: Duration,
    /// Stop after this time [default: at Ctrl-C]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,
    /// Interval of updates
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    interval: Duration,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

impl Arguments {
    fn options(&self, plan: &Plan) -> MonitorOptions {
        let mut engine = EngineOptions {
            targets: self.targets.clone(),
            sources: self.sources.clone(),
            ignored: self.ignore.clone(),
            keep: self.keep,
            ..EngineOptions::default()
        };
        plan.apply(&mut engine);
        MonitorOptions {
            engine,
            plain_topics: self.topics.clone(),
            model: plan.model.clone(),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let plan = arguments.plan.as_deref().map(read_plan).transpose()?;
    let live = Live::join_beside(&arguments.live, context)?;
    let mut options = NodeOptions::new(&format!("_timeloom_trace_{}", std::process::id()));
    (
        options.rosout,
        options.parameter_services,
        options.type_description,
    ) = (false, false, false);
    let options = context.node(options)?;
    let node = RosNode::new(live.participant().clone(), options)?;
    let mut monitor = LineageMonitor::new(node, arguments.options(&plan.unwrap_or_default()))?;
    let mut watch = Watch::new(arguments, &live, &mut monitor);
    if arguments.format == Format::Text && io::stdout().is_terminal() && has_keyboard() {
        watch.in_terminal()?;
    } else {
        watch.in_lines(context)?;
    }
    let report = monitor.report();
    if arguments.format == Format::Text {
        let name = format!("domain {}", live.environment().domain);
        context
            .printer
            .text(&report_text(&report, &name, Paths::Summary))?;
    }
    let lost = monitor.lost_in_transport();
    if lost > 0 {
        let words = counted(lost, "tag");
        context.printer.loss(&format!("{words} lost in transport"));
    }
    Ok(Outcome::lost_if(lost > 0))
}

/// A monitor that is watched until Ctrl-C or the end of `--duration`.
struct Watch<'a> {
    monitor: &'a mut LineageMonitor,
    live: &'a Live,
    format: Format,
    interval: Duration,
    end: Time<Steady>,
    next: Time<Steady>,
    domain: String,
}

impl<'a> Watch<'a> {
    fn new(arguments: &Arguments, live: &'a Live, monitor: &'a mut LineageMonitor) -> Self {
        let now = live.clock().now();
        let duration = arguments.duration;
        Self {
            monitor,
            live,
            format: arguments.format,
            interval: arguments.interval,
            end: duration.map_or(Time::MAX, |duration| now.saturating_add(duration)),
            next: now.saturating_add(arguments.interval),
            domain: format!("domain {}", live.environment().domain),
        }
    }

    fn is_over(&self) -> bool {
        self.live.interrupt().happened() || self.live.clock().now() >= self.end
    }

    /// Missed deadlines, and a report when one is due.
    fn step(&mut self) -> anyhow::Result<(Vec<String>, Option<Report>)> {
        let events = self.monitor.tick()?;
        let now = self.live.clock().now();
        let report = if now >= self.next {
            self.next = now.saturating_add(self.interval);
            self.monitor.publish_diagnostics()?;
            Some(self.monitor.report())
        } else {
            None
        };
        Ok((events.iter().map(event_text).collect(), report))
    }

    /// The report in the whole terminal.
    fn in_terminal(&mut self) -> anyhow::Result<()> {
        let mut events = Vec::new();
        let mut failure = Ok(());
        let update = |screen: &mut TextScreen| {
            let (missed, report) = match self.step() {
                Ok(step) => step,
                Err(error) => {
                    failure = Err(error);
                    return false;
                }
            };
            events.extend(missed);
            events.drain(..events.len().saturating_sub(SHOWN_EVENTS));
            if let Some(report) = report {
                let text = report_text(&report, &self.domain, Paths::Summary);
                let text = text + &events.join("\n");
                screen.update(&plain_text(&text));
            }
            !self.is_over()
        };
        let _ended = show(&mut TextScreen::default(), update, |never| match never {})?;
        failure
    }

    /// JSON lines, or missed deadlines as they come.
    fn in_lines(&mut self, context: &mut Context) -> anyhow::Result<()> {
        let wake = Event::new(&self.live.base());
        let ended = wake.clone();
        self.live.interrupt().wakes(move || ended.set());
        while !self.is_over() {
            wake.wait_for(TICK);
            wake.clear();
            let (missed, report) = self.step()?;
            match self.format {
                Format::Text => context.printer.warnings(&missed),
                Format::Json => {
                    if let Some(report) = report {
                        let json = serde_json::to_string(&report)?;
                        writeln!(context.printer.data(), "{json}")?;
                        context.printer.flush()?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn event_text(event: &DeadlineEvent) -> String {
    let late = event.sources.iter().filter(|source| source.is_overrun);
    let sources: Vec<_> = late
        .map(|source| {
            let nanos = u64::try_from(source.elapsed.nanos()).unwrap_or(0);
            format!("{} after {}", span_text(nanos), source.topic)
        })
        .collect();
    let limit = span_text(u64::try_from(event.limit.nanos()).unwrap_or(0));
    let what = match (event.found_by, &event.missing_hop) {
        (FoundBy::Timer, Some(hop)) => format!("never arrived, missing on {hop}"),
        _ => "arrived".to_owned(),
    };
    format!(
        "deadline {}: {} {what}, {} (limit {limit})",
        event.deadline,
        event.target,
        sources.join(", ")
    )
}
