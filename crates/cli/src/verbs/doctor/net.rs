//! `timeloom doctor net`: the network, the domain, who is there, and what does not match.

use clap::Args;

use super::findings::Findings;
use super::report;
use crate::context::Context;
use crate::hint::hint_for;
use crate::live::{Live, LiveArguments};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom doctor net
  timeloom doctor net --spin-time 5             look longer for others
  timeloom doctor net --format json | jq -r '.problems[]'

EXIT CODES
  0 nothing is wrong   1 a problem was found";

/// Check the network, the domain and the QoS of all topics
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Form of the output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let environment = LiveArguments::environment()?;
    let mut findings = Findings::of_machine(environment, arguments.live.localhost);
    match Live::join(&arguments.live, context) {
        Ok(live) => findings.look_at(&live, &live.settled()),
        // What is wrong here is what the verb is for.
        Err(error) => {
            let hint = hint_for(&error).map(|hint| format!(": {hint}"));
            let problem = format!("{error}{}", hint.unwrap_or_default());
            findings.problems.push(problem);
        }
    }
    match arguments.format {
        Format::Text => report::print(&findings, context)?,
        Format::Json => writeln!(context.printer.data(), "{}", report::json(&findings))?,
    }
    Ok(if findings.problems.is_empty() {
        Outcome::Done
    } else {
        Outcome::ProblemFound
    })
}
