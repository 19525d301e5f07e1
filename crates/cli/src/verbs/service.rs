//! `timeloom service`: the services of a running robot.

mod call;
mod list;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom service list -t
  timeloom service call /reset std_srvs/srv/Trigger
  timeloom service call /add example_interfaces/srv/AddTwoInts '{a: 1, b: 2}'";

/// Look at the services of a running robot, and call them: list, call
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(list::Arguments),
    Call(call::Arguments),
}

pub(crate) fn run(arguments: Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    match arguments.verb {
        Verb::List(arguments) => list::run(&arguments, context),
        Verb::Call(arguments) => call::run(&arguments, context),
    }
}
