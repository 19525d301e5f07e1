//! The top level of the command line.

use clap::{Parser, Subcommand};

use crate::context::Context;
use crate::outcome::Outcome;
use crate::printer::ColorChoice;
use crate::verbs;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom record -a                                    everything that a robot publishes
  timeloom info my_bag                                  what is in it, at once
  timeloom cat my_bag --topics /imu/data -n 1           one message as JSON
  timeloom convert my_bag -o cut --start +10s --end +20s
  timeloom recover my_bag                               after a crash or a power cut
  timeloom view my_bag --open                           play it in the browser, and in Foxglove
  timeloom topic echo /odom                             a running robot's messages as JSON
  timeloom doctor net                                   why two nodes do not hear each other

EXIT CODES
  0 done   1 failed   2 wrong usage   3 finished, but data was lost (the count is printed)";

/// Time for ROS 2: record, replay, synchronise and trace a robot's messages, without a ROS installation.
#[derive(Debug, Parser)]
#[command(name = "timeloom", version, after_help = EXAMPLES, max_term_width = 110)]
pub(crate) struct Cli {
    /// When to use colours on stderr
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: ColorChoice,

    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Record(Box<verbs::record::Arguments>),
    Info(verbs::info::Arguments),
    Cat(Box<verbs::cat::Arguments>),
    Convert(Box<verbs::convert::Arguments>),
    Play(Box<verbs::play::Arguments>),
    Burst(Box<verbs::burst::Arguments>),
    Clock(verbs::clock::Arguments),
    View(Box<verbs::view::Arguments>),
    Reindex(verbs::reindex::Arguments),
    Recover(verbs::recover::Arguments),
    List(verbs::list::Arguments),
    Topic(verbs::topic::Arguments),
    Node(verbs::node::Arguments),
    Service(verbs::service::Arguments),
    Doctor(verbs::doctor::Arguments),
    Sync(verbs::sync::Arguments),
    Trace(verbs::trace::Arguments),
    Completions(verbs::completions::Arguments),
    Manual(verbs::manual::Arguments),
}

impl Verb {
    pub(crate) fn run(self, context: &mut Context) -> anyhow::Result<Outcome> {
        match self {
            Self::Record(arguments) => verbs::record::run(*arguments, context),
            Self::Info(arguments) => verbs::info::run(&arguments, context),
            Self::Cat(arguments) => verbs::cat::run(&arguments, context),
            Self::Convert(arguments) => verbs::convert::run(&arguments, context),
            Self::Play(arguments) => verbs::play::run(&arguments, context),
            Self::Burst(arguments) => verbs::burst::run(&arguments, context),
            Self::Clock(arguments) => verbs::clock::run(arguments, context),
            Self::View(arguments) => verbs::view::run(&arguments, context),
            Self::Reindex(arguments) => verbs::reindex::run(&arguments, context),
            Self::Recover(arguments) => verbs::recover::run(&arguments, context),
            Self::List(arguments) => verbs::list::run(&arguments, context),
            Self::Topic(arguments) => verbs::topic::run(arguments, context),
            Self::Node(arguments) => verbs::node::run(arguments, context),
            Self::Service(arguments) => verbs::service::run(arguments, context),
            Self::Doctor(arguments) => verbs::doctor::run(arguments, context),
            Self::Sync(arguments) => verbs::sync::run(arguments, context),
            Self::Trace(arguments) => verbs::trace::run(arguments, context),
            Self::Completions(arguments) => verbs::completions::run(&arguments, context),
            Self::Manual(arguments) => verbs::manual::run(&arguments, context),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_verb_shows_examples() {
        for verb in Cli::command().get_subcommands() {
            let help = verb
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(help.contains("EXAMPLES"), "{}", verb.get_name());
            assert!(verb.get_about().is_some(), "{}", verb.get_name());
        }
    }
}
