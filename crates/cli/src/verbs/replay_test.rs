//! `timeloom replay-test`: a bag played to a process, and what comes out compared.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use timeloom_replay::{Connect, Plan, Progress, Replay, Report, Update, html, junit_text, text};
use timeloom_time::{Clock, System};
use timeloom_wire::Participant;
use timeloom_wire::environment::Environment;

use super::info::Format;
use crate::context::Context;
use crate::decode::resolver;
use crate::failure::Failure;
use crate::live::{Interrupt, participant};
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom replay-test plan.yaml
  timeloom replay-test plan.yaml --update                   write the expected bags from this run
  timeloom replay-test plan.yaml --junit replay.xml --html replay.html
  timeloom replay-test plan.yaml --run fast --jobs 1        one run of the plan

A plan (paths are relative to it):
  bag: drive                                  # what is played, in lockstep
  command: [ros2, launch, my_robot, filter.launch.py, use_sim_time:=true]
  inputs:
    topics: [/scan, /odom]                    # all topics that are no output, unless given
    remaps: {/odom: /wheel/odom}
  outputs: [/pose]                            # what is recorded and compared
  expected: drive_expected                    # `--update` writes it
  compare:                                    # as `timeloom diff` has it
    tolerances: ['/pose:pose.position.*=0.01']
    ignore: [header.frame_id]
  contract: contract.yaml                     # as `timeloom check` has it: rates, gaps, values
  budgets: budget.yaml                        # as `timeloom trace check` has it
  max_lost: 0
  lockstep: {topic: /pose, window: 100ms}     # time waits for this output, the first one unless given
  timeouts: {start: 30s, idle: 10s, finish: 5s, stop: 5s}
  environment: {RCUTILS_COLORIZED_OUTPUT: \"0\"}
  jobs: 2                                     # runs at a time, each in a ROS domain of its own
  runs:                                       # one, unless given; each may override anything above
    - {name: normal}
    - {name: fast, rate: 4, repeat: 3}

EXIT CODES
  0 all runs passed   1 a run failed   2 wrong usage, or a plan that is not valid";

/// Test a node with a bag: play it in lockstep, record the outputs, compare them with an expected bag
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The plan, as YAML
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// Write the expected bags from this run instead of comparing with them; existing ones are replaced
    #[arg(long, visible_alias = "accept")]
    update: bool,
    /// Only these runs
    #[arg(long = "run", value_name = "NAME")]
    runs: Vec<String>,
    /// Number of runs at a time [default: from the plan, else half of the processors]
    #[arg(short, long, value_name = "COUNT")]
    jobs: Option<NonZeroUsize>,
    #[arg(
        short,
        long,
        value_name = "DIRECTORY",
        help = "Directory for bags and logs of the runs; must not exist [default: replay_test_DATE]"
    )]
    output: Option<PathBuf>,
    /// Also list the checks that passed
    #[arg(short, long)]
    verbose: bool,
    /// Report format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[arg(
        long,
        value_name = "FILE",
        help = "Also write the verdicts as JUnit XML; an existing file is replaced"
    )]
    junit: Option<PathBuf>,
    /// Also write a page with the verdicts and differences; an existing file is replaced
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let plan = arguments.plan()?;
    let interrupt = Interrupt::new()?;
    let connect: Box<Connect> = Box::new(connect);
    let replay = Replay {
        plan: &plan,
        output: arguments.output()?,
        jobs: arguments.jobs(&plan),
        update: if arguments.update {
            Update::Write
        } else {
            Update::Never
        },
        connect: &*connect,
        types: resolver(),
        cancel: interrupt.token().clone(),
    };
    replay.check().map_err(explained)?;
    let (sender, progress) = std::sync::mpsc::channel();
    let report = std::thread::scope(|scope| {
        let runner = scope.spawn(|| {
            replay.run(&move |progress| {
                // The receiver is dropped after the last one.
                let _sent = sender.send(progress);
            })
        });
        for event in progress {
            if let Progress::Started { run, domain } = event {
                context
                    .printer
                    .aside(&format!("{run}: started in ROS domain {domain}"));
            }
        }
        runner.join()
    });
    let report = match report {
        Ok(report) => report.map_err(explained)?,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    arguments.write(&report, context)?;
    if report.is_passed() {
        Ok(Outcome::Done)
    } else {
        Ok(Outcome::ProblemFound)
    }
}

impl Arguments {
    fn plan(&self) -> anyhow::Result<Plan> {
        let mut plan = Plan::read(&self.plan).map_err(explained)?;
        let names: Vec<String> = plan.runs.iter().map(|run| run.name.clone()).collect();
        for wanted in &self.runs {
            if !names.contains(wanted) {
                let text = format!("{} has no run {wanted}", self.plan.display());
                let hint = format!("its runs are {}", names.join(", "));
                return Err(Failure::usage(text).hint(hint).into());
            }
        }
        if !self.runs.is_empty() {
            plan.runs.retain(|run| self.runs.contains(&run.name));
        }
        Ok(plan)
    }

    fn jobs(&self, plan: &Plan) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let given = self.jobs.map(NonZeroUsize::get).or(plan.jobs);
        given.unwrap_or(processors.div_ceil(2))
    }

    fn output(&self) -> anyhow::Result<PathBuf> {
        if let Some(output) = &self.output {
            crate::bags::check_writable(output)?;
            if output.exists() {
                let text = format!("{} exists already", output.display());
                return Err(Failure::usage(text).into());
            }
            return Ok(output.clone());
        }
        let now = Clock::<System>::new().now().nanos();
        let now = jiff::Timestamp::from_nanosecond(now.into())?;
        let local = now.to_zoned(Context::time_zone());
        let name = local.strftime("replay_test_%Y_%m_%d-%H_%M_%S").to_string();
        Ok(name.into())
    }

    fn write(&self, report: &Report, context: &mut Context) -> anyhow::Result<()> {
        if let Some(path) = &self.junit {
            write(path, &junit_text(report))?;
        }
        if let Some(path) = &self.html {
            write(path, &html(report))?;
        }
        match self.format {
            Format::Json => {
                let json = serde_json::to_string_pretty(report)?;
                writeln!(context.printer.data(), "{json}")?;
            }
            Format::Text => context.printer.text(&text(report, self.verbose))?,
        }
        Ok(())
    }
}

/// Joins the domain of a run.
fn connect(variable: &dyn Fn(&str) -> Option<String>) -> Result<Arc<dyn Participant>, String> {
    let environment = Environment::read(&variable).map_err(|error| error.to_string())?;
    participant(&environment).map_err(|error| format!("{error:#}"))
}

/// Mistakes in a plan are wrong usage.
fn explained(error: timeloom_replay::Error) -> anyhow::Error {
    let text = error.to_string();
    match error {
        timeloom_replay::Error::Plan { hint, .. } => Failure::usage(text).hint_if(hint).into(),
        other => other.into(),
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
