//! `timeloom trace check`: checks budgets against a bag.

use std::path::PathBuf;

use clap::Args;
use timeloom_text::{Table, counted};
use timeloom_trace::{Verdict, junit};

use super::analysis::{AnalysisArguments, read_plan};
use crate::context::Context;
use crate::failure::Failure;
use crate::files::JunitArgument;
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom trace check budget.yaml my_bag
  timeloom trace check budget.yaml my_bag --format json
  timeloom trace check budget.yaml my_bag --junit trace.xml   for the test view of a CI server

A budget file:
  paths:
    - name: lidar to brake
      from: /points
      to: /cmd
      via: [/fused]                     # optional
      latency: {p50: 40ms, p99: 80ms, max: 120ms}
      reaction: {max: 250ms}            # also worst, age
      deadline: 100ms                   # for each message; 0 means none
      misses: 0                         # allowed missed deadlines
      lost: 3                           # allowed lost or stuck messages of the source
      count: 100                        # required flows; default 1
    - {from: /fused, to: /cmd, latency: {max: 20ms}}   # a part of it; `from` may have inputs itself

Each budget is checked separately. A limit without measurements is missed, and every missed limit has a reason. The exit
code is 1 if a limit was missed.";

/// Check budgets: exit code 1 when one is missed, for CI
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The budgets, as YAML
    #[arg(value_name = "BUDGET")]
    budget: PathBuf,
    /// The bag: a directory, or one .mcap or .db3 file
    #[arg(value_name = "BAG")]
    bag: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    junit: JunitArgument,
    #[command(flatten)]
    analysis: AnalysisArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut plan = read_plan(&arguments.budget)?;
    if plan.budgets.is_empty() {
        let text = format!("{} has no budget", arguments.budget.display());
        return Err(Failure::usage(text)
            .hint("`paths:` lists them; see --help")
            .into());
    }
    plan.add_surroundings(arguments.analysis.read_plan()?);
    if arguments.analysis.targets.is_empty() {
        let targets = plan.budgets.iter().map(|budget| budget.to.clone());
        plan.targets.extend(targets.collect::<Vec<_>>());
    }
    let analysis = arguments.analysis.analyse(&arguments.bag, &plan, context)?;
    let checks = plan
        .budgets
        .iter()
        .map(|budget| budget.check(&analysis.report));
    let verdicts: Vec<Verdict> = checks.flatten().collect();
    let missed = verdicts.iter().filter(|verdict| !verdict.kept).count();
    match arguments.format {
        Format::Json => {
            let json = serde_json::to_string_pretty(&verdicts)?;
            writeln!(context.printer.data(), "{json}")?;
        }
        Format::Text => context.printer.text(&text(&verdicts))?,
    }
    arguments.junit.write(|| {
        let problem = analysis.lost.then_some("not all of the bag could be read");
        let name = format!("timeloom trace check {}", arguments.bag.display());
        junit(&verdicts, &name, problem)
    })?;
    if missed > 0 {
        let words = counted(missed as u64, "limit");
        context.printer.warning(&format!("{words} missed"));
        return Ok(Outcome::ProblemFound);
    }
    Ok(Outcome::lost_if(analysis.lost))
}

fn text(verdicts: &[Verdict]) -> String {
    let mut table = Table::new("", &["budget", "what", "allowed", "actual", "", ""]);
    for verdict in verdicts {
        let verdict_text = if verdict.kept { "ok" } else { "MISSED" };
        let what = if verdict.path.is_empty() {
            verdict.what.clone()
        } else {
            format!("{} of {}", verdict.what, verdict.path)
        };
        table.row(vec![
            verdict.budget.clone(),
            what,
            verdict.allowed.clone(),
            verdict.actual.clone(),
            verdict_text.to_owned(),
            verdict.reason.clone(),
        ]);
    }
    table.text()
}
