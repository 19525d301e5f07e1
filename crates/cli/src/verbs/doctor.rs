//! `timeloom doctor`: what is wrong, and what to do about it.

mod checks;
mod findings;
mod interfaces;
mod net;
mod report;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom doctor net                           the network, the domain, and topics whose QoS does not match";

/// Find out what is wrong: net
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Net(net::Arguments),
}

pub(crate) fn run(arguments: Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    match arguments.verb {
        Verb::Net(arguments) => net::run(&arguments, context),
    }
}
