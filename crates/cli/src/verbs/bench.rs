//! `timeloom bench`: loads, and what became of them.

mod direct;
mod job;
mod ledger;
mod load;
mod payload;
mod producers;
mod profile;
mod profile_document;
mod verify;
mod versus;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom bench                                           the same jobs by us and by others, in turns, with ratios
  timeloom bench --only write --format json
  timeloom bench load mixed_110Mbs --scale 0.1 --format json > ledger.json
  timeloom bench verify my_bag --ledger ledger.json        published = recorded + lost, for each topic

Compared with what is installed: raw write(), a bare DDS subscriber; rosbags, mcap and mcap-ros2-support of the Python
that TIMELOOM_PYTHON names (else .venv); the mcap crate and tokio in the program that TIMELOOM_BENCH_PEER names.";

/// Compare with other tools, publish the loads of rosbag2's benchmarks, check what became of every message
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    versus: versus::VersusArguments,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Load(load::Arguments),
    Verify(verify::Arguments),
    #[command(hide = true)]
    Job(job::Arguments),
}

pub(crate) fn run(arguments: Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    match arguments.verb {
        None => versus::run(&arguments.versus, context),
        Some(Verb::Load(arguments)) => load::run(&arguments, context),
        Some(Verb::Verify(arguments)) => verify::run(&arguments, context),
        Some(Verb::Job(arguments)) => job::run(&arguments, context),
    }
}
