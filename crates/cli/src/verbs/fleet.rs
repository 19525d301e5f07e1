//! `timeloom fleet`: all recorders of one name, together.

mod report;

use clap::{Args, Subcommand};
use timeloom_node::fleet::{FleetCommand, FleetMember, FleetRecorder, call_all};
use timeloom_text::{counted, nearest};
use timeloom_time::Duration;

use crate::context::Context;
use crate::failure::Failure;
use crate::live::{Live, LiveArguments, seconds};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom record -a --fleet yard --start-paused    on every host: a recorder that waits
  timeloom fleet status yard                        recorded, lost, disk and clock of each recorder
  timeloom fleet start yard --expect 3              together; an error unless there are three
  timeloom fleet stop yard                          close all bags; the recorders stay and can start again
  timeloom fleet split yard                         a new file in every bag

Exit code 1: a recorder is missing, refused the command or did not answer; 3: the bags are closed, but messages were
lost.";

const START: &str = "\
EXAMPLES
  timeloom fleet start yard                         resume what is paused, begin a new bag where it was stopped";
const OTHERS: &str = "\
EXAMPLES
  timeloom fleet status yard --format json
  timeloom fleet stop yard --timeout 30             bags on slow disks take long to close";

/// Control and show all recorders of a fleet: status, start, stop, pause, resume, split, snapshot
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show what each recorder has recorded and lost, its disk and its clock
    #[command(after_help = OTHERS)]
    Status(Call),
    /// Start to record, at all recorders
    #[command(after_help = START)]
    Start(Call),
    /// Close the bags of all recorders; they stay
    #[command(after_help = OTHERS)]
    Stop(Call),
    /// Leave messages out until resumed, at all recorders
    #[command(after_help = OTHERS)]
    Pause(Call),
    /// Record again after a pause, at all recorders
    #[command(after_help = OTHERS)]
    Resume(Call),
    /// Begin a new file in every bag
    #[command(after_help = OTHERS)]
    Split(Call),
    /// Write the circular buffers of all recorders in snapshot mode
    #[command(after_help = OTHERS)]
    Snapshot(Call),
}

#[derive(Debug, Args)]
struct Call {
    /// The fleet, as in `timeloom record --fleet NAME`
    #[arg(value_name = "NAME", value_parser = name)]
    fleet: String,
    /// Required number of recorders; with fewer, the command is not sent
    #[arg(long, value_name = "COUNT")]
    expect: Option<usize>,
    /// Time limit to reach a recorder, and again for its answer
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    timeout: Duration,
    /// Output format; json prints one line per recorder
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

/// Checks the name of a fleet.
pub(crate) fn name(text: &str) -> Result<String, String> {
    match FleetMember::check_name(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let (command, call) = match &arguments.verb {
        Verb::Status(call) => (FleetCommand::Status, call),
        Verb::Start(call) => (FleetCommand::Start, call),
        Verb::Stop(call) => (FleetCommand::Stop, call),
        Verb::Pause(call) => (FleetCommand::Pause, call),
        Verb::Resume(call) => (FleetCommand::Resume, call),
        Verb::Split(call) => (FleetCommand::Split, call),
        Verb::Snapshot(call) => (FleetCommand::Snapshot, call),
    };
    let live = Live::join(&call.live, context)?;
    let recorders = find(call, &live)?;
    let node = live.shared_node();
    let answers = call_all(&node, &live.base(), &recorders, command, call.timeout);
    let rows: Vec<_> = recorders.iter().zip(&answers).collect();
    match call.format {
        Format::Text => context.printer.text(&report::table(&rows))?,
        Format::Json => {
            for row in &rows {
                writeln!(context.printer.data(), "{}", report::json(row))?;
            }
        }
    }
    context.printer.flush()?;
    let problems = report::problems(&rows, command);
    context.printer.warnings(&problems);
    let lost: u64 = answers.iter().flatten().map(|it| it.status.lost()).sum();
    if !problems.is_empty() {
        return Ok(Outcome::ProblemFound);
    }
    if command == FleetCommand::Stop && lost > 0 {
        let text = format!("{} lost", counted(lost, "message"));
        context.printer.loss(&text);
        return Ok(Outcome::DataLost);
    }
    Ok(Outcome::Done)
}

/// The recorders of the fleet, once the graph has settled and there are as many as expected.
fn find(call: &Call, live: &Live) -> anyhow::Result<Vec<FleetRecorder>> {
    let of_fleet = |mut all: Vec<FleetRecorder>| {
        all.retain(|recorder| recorder.fleet == call.fleet);
        all
    };
    let wanted = call.expect.unwrap_or(1).max(1);
    live.look_for(|graph| of_fleet(FleetRecorder::all(graph)).len() >= wanted);
    let all = FleetRecorder::all(&live.settled());
    let found = of_fleet(all.clone());
    let domain = live.environment().domain;
    if found.is_empty() {
        let hint = match nearest(&call.fleet, all.iter().map(|it| it.fleet.as_str())) {
            Some(near) => format!("did you mean {near}?"),
            None => format!(
                "start them with `timeloom record --fleet {}`; `--spin-time` waits longer for discovery",
                call.fleet
            ),
        };
        let text = format!("no recorder of fleet {} in domain {domain}", call.fleet);
        return Err(Failure::new(text).hint(hint).into());
    }
    if found.len() < wanted {
        let there: Vec<&str> = found.iter().map(|it| it.identity.as_str()).collect();
        let text = format!(
            "{} of fleet {} in domain {domain} instead of {wanted}: {}",
            counted(found.len() as u64, "recorder"),
            call.fleet,
            there.join(", ")
        );
        let hint = "nothing was done; `--spin-time` waits longer for discovery";
        return Err(Failure::new(text).hint(hint).into());
    }
    Ok(found)
}
