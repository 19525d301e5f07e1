//! `timeloom bench`: loads, and what became of them.

mod ledger;
mod load;
mod payload;
mod producers;
mod profile;
mod profile_document;
mod verify;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom bench load mixed_110Mbs --scale 0.1 --format json > ledger.json
  timeloom bench verify my_bag --ledger ledger.json        published = recorded + lost, for each topic";

/// Publish the loads of rosbag2's benchmarks, and check what became of every message: load, verify
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Load(load::Arguments),
    Verify(verify::Arguments),
}

pub(crate) fn run(arguments: Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    match arguments.verb {
        Verb::Load(arguments) => load::run(&arguments, context),
        Verb::Verify(arguments) => verify::run(&arguments, context),
    }
}
