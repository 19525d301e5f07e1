//! `timeloom trace live`: the lineage of a running robot.

use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{Receiver, channel};

use clap::Args;
use timeloom_node::{LineageMonitor, MonitorOptions, NodeOptions, RosNode};
use timeloom_text::counted;
use timeloom_time::{Duration, Event, Steady, Time};
use timeloom_trace::{DeadlineEvent, EngineOptions, FoundBy, Plan, Report, span_text};

use super::analysis::read_plan;
use super::text::{Paths, report_text};
use super::viewer::Viewer;
use crate::context::Context;
use crate::live::{Key, Keyboard, Live, LiveArguments, seconds};
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
expression, q or F goes on. Elsewhere the report is printed once at the end, and missed deadlines as they come.";

/// How often the engine looks at the time and at what is new.
const TICK: Duration = Duration::from_millis(100);
/// More recent events than these are not shown on the screen.
const SHOWN_EVENTS: usize = 5;

/// Watch the lineage of a running robot
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Topics at which paths end; all that nothing else is made of, unless given
    #[arg(long = "to", value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    targets: Vec<String>,
    /// Topics at which paths begin; those without inputs, unless given
    #[arg(long = "from", value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    sources: Vec<String>,
    /// Topics to leave out
    #[arg(long, value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    ignore: Vec<String>,
    /// Topics without tags to listen to; their links come from the graph, or from the plan's node model
    #[arg(long, value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    topics: Vec<String>,
    /// Budgets with deadlines, node models and hosts, as YAML
    #[arg(long, value_name = "FILE")]
    plan: Option<std::path::PathBuf>,
    /// How long a message may take to its last use
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    keep: Duration,
    /// Stop after this time; else at Ctrl-C
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,
    /// How often the view is renewed
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    interval: Duration,
    /// Form of the output
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
    let mut screen = Screen::open(&live, arguments.format)?;
    let result = watch(arguments, &live, &mut monitor, &mut screen, context);
    screen.close(context)?;
    result?;
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
        context
            .printer
            .loss(&format!("{words} lost on the way to us"));
    }
    Ok(Outcome::lost_if(lost > 0))
}

fn watch(
    arguments: &Arguments,
    live: &Live,
    monitor: &mut LineageMonitor,
    screen: &mut Screen,
    context: &mut Context,
) -> anyhow::Result<()> {
    let clock = live.clock();
    let end = arguments.duration.map_or(Time::<Steady>::MAX, |duration| {
        clock.now().saturating_add(duration)
    });
    let mut next = clock.now().saturating_add(arguments.interval);
    let domain = format!("domain {}", live.environment().domain);
    while !live.interrupt().happened() && clock.now() < end {
        screen.wait();
        for event in monitor.tick()? {
            screen.event(&event_text(&event), arguments.format, context);
        }
        let due = clock.now() >= next;
        if due {
            next = clock.now().saturating_add(arguments.interval);
            monitor.publish_diagnostics()?;
            let report = monitor.report();
            screen.show(&report, &domain, arguments.format, context)?;
        }
        screen.draw(context)?;
    }
    Ok(())
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
        (FoundBy::Timer, Some(hop)) => format!("never came, nothing on {hop}"),
        _ => "came".to_owned(),
    };
    format!(
        "deadline {}: {} {what}, {} (limit {limit})",
        event.deadline,
        event.target,
        sources.join(", ")
    )
}

/// A terminal, or plain lines.
struct Screen {
    wake: Event,
    terminal: Option<Terminal>,
}

struct Terminal {
    _keyboard: Keyboard,
    keys: Receiver<Key>,
    viewer: Viewer,
    events: Vec<String>,
}

impl Screen {
    fn open(live: &Live, format: Format) -> anyhow::Result<Self> {
        let wake = Event::new(&live.base());
        let ended = wake.clone();
        live.interrupt().wakes(move || ended.set());
        let mut screen = Self {
            wake: wake.clone(),
            terminal: None,
        };
        if format == Format::Text && io::stdout().is_terminal() {
            let (tell, keys) = channel();
            let keyboard = Keyboard::open(move |key| {
                // A view that has ended takes no keys.
                let _taken = tell.send(key);
                wake.set();
            })?;
            screen.terminal = keyboard.map(|keyboard| Terminal {
                _keyboard: keyboard,
                keys,
                viewer: Viewer::default(),
                events: Vec::new(),
            });
        }
        Ok(screen)
    }

    /// Blocks until a key comes, or for a tick.
    fn wait(&mut self) {
        self.wake.wait_for(TICK);
        self.wake.clear();
        if let Some(terminal) = &mut self.terminal {
            while let Ok(key) = terminal.keys.try_recv() {
                terminal.viewer.key(key);
            }
        }
    }

    fn event(&mut self, text: &str, format: Format, context: &mut Context) {
        match &mut self.terminal {
            Some(terminal) => {
                terminal.events.push(text.to_owned());
                let extra = terminal.events.len().saturating_sub(SHOWN_EVENTS);
                terminal.events.drain(..extra);
            }
            None if format == Format::Text => context.printer.warning(text),
            None => {}
        }
    }

    fn show(
        &mut self,
        report: &Report,
        domain: &str,
        format: Format,
        context: &mut Context,
    ) -> anyhow::Result<()> {
        match (&mut self.terminal, format) {
            (Some(terminal), _) => {
                let mut text = report_text(report, domain, Paths::Summary);
                for event in &terminal.events {
                    text = text + event + "\n";
                }
                terminal.viewer.update(&plain_text(&text));
            }
            (None, Format::Json) => {
                let json = serde_json::to_string(report)?;
                writeln!(context.printer.data(), "{json}")?;
                context.printer.flush()?;
            }
            (None, Format::Text) => {}
        }
        Ok(())
    }

    fn draw(&self, context: &mut Context) -> io::Result<()> {
        let Some(terminal) = &self.terminal else {
            return Ok(());
        };
        let (columns, rows) = size();
        let lines = terminal.viewer.screen(columns, rows);
        // To the top left, each line cleared behind its end, nothing scrolls.
        let text = format!("\x1b[?1049h\x1b[H{}\x1b[K", lines.join("\x1b[K\r\n"));
        context.printer.data().write_all(text.as_bytes())?;
        context.printer.flush()
    }

    /// Gives the terminal back as it was.
    fn close(&mut self, context: &mut Context) -> io::Result<()> {
        if self.terminal.take().is_some() {
            context.printer.data().write_all(b"\x1b[?1049l")?;
            context.printer.flush()?;
        }
        Ok(())
    }
}

/// Columns and rows of the terminal.
fn size() -> (usize, usize) {
    let found = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let found = found.filter(|size| size.ws_col > 0 && size.ws_row > 0);
    found.map_or((80, 24), |size| (size.ws_col.into(), size.ws_row.into()))
}
