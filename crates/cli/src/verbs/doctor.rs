//! `timeloom doctor`: health checks, printed.

mod bag;
mod machine;
mod net;
mod report;
mod text;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom doctor                               this machine: clock, memory, disk, limits, environment
  timeloom doctor bag my_bag                    a bag: every message is read and decoded
  timeloom doctor net                           the network, the domain, and topics whose QoS does not match";

/// Check this machine, a bag or the network for problems: bag, net
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    machine: machine::MachineArguments,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Bag(bag::Arguments),
    Net(net::Arguments),
}

pub(crate) fn run(arguments: Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    match arguments.verb {
        None => machine::run(&arguments.machine, context),
        Some(Verb::Bag(arguments)) => bag::run(&arguments, context),
        Some(Verb::Net(arguments)) => net::run(&arguments, context),
    }
}
