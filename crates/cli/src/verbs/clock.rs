//! `timeloom clock`: the time of a simulation or a playback.

mod clock_listener;
mod drive;
mod echo;
mod lag;
mod publish;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom clock echo                        what /clock shows, how fast it goes, whose it is
  timeloom clock publish -r 0.5              a /clock at half speed, with keys and services to control it
  timeloom clock lag                         how far behind /clock the nodes are that stamp messages
  timeloom clock drive pause                 pauses the publisher of /clock: a player, or `clock publish`

More than one owner of /clock is warned of, by name.";

/// Look at /clock, publish it, control its publisher: echo, publish, lag, drive
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Echo(echo::Arguments),
    Publish(publish::Arguments),
    Lag(lag::Arguments),
    Drive(drive::Arguments),
}

pub(crate) fn run(arguments: Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    match arguments.verb {
        Verb::Echo(arguments) => echo::run(&arguments, context),
        Verb::Publish(arguments) => publish::run(&arguments, context),
        Verb::Lag(arguments) => lag::run(&arguments, context),
        Verb::Drive(arguments) => drive::run(&arguments, context),
    }
}
