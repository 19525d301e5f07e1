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
  timeloom clock echo                        each sample of /clock: time, rate and publisher
  timeloom clock publish -r 0.5              a /clock at half speed, with keys and services to control it
  timeloom clock lag                         delay of message stamps behind /clock, per node
  timeloom clock drive pause                 pause the node that publishes /clock

A warning names the nodes if more than one publishes /clock.";

/// Show, publish and control /clock: echo, publish, lag, drive
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
