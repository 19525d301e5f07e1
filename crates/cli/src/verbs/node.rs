//! `timeloom node`: the nodes of a running robot.

mod info;
mod list;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom node list
  timeloom node info /talker                    its publishers, subscriptions and services";

/// Look at the nodes of a running robot: list, info
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(list::Arguments),
    Info(info::Arguments),
}

pub(crate) fn run(arguments: Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    match arguments.verb {
        Verb::List(arguments) => list::run(&arguments, context),
        Verb::Info(arguments) => info::run(&arguments, context),
    }
}
