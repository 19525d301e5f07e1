//! The top level of the command line.

use clap::{Parser, Subcommand};

use crate::context::Context;
use crate::outcome::Outcome;
use crate::printer::ColorChoice;
use crate::verbs;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom record -a                                    record all topics
  timeloom play my_bag --clock                          at its times; SPACE pauses, arrows step
  timeloom view my_bag --open                           in the browser, and in Foxglove
  timeloom info my_bag -v                               what is in it, and what was lost
  timeloom cat my_bag --topics /imu/data -n 1           one message as JSON
  timeloom convert my_bag -o cut --start +10s --end +20s
  timeloom merge car arm -o both --correct              bags of several hosts on one timeline
  timeloom diff before after                            two bags, message by message
  timeloom check my_bag contract.yaml                   check a recording against a contract
  timeloom replay-test plan.yaml                        compare the outputs of a node with a bag
  timeloom recover my_bag                               after a crash or a power cut
  timeloom trace report my_bag                          which inputs made this output, and how late
  timeloom sync fit samples.csv                         a sensor's clock against the host's
  timeloom topic echo /odom                             a running robot's messages as JSON
  timeloom doctor net                                   why two nodes do not communicate

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
    Play(Box<verbs::play::Arguments>),
    Burst(Box<verbs::burst::Arguments>),
    Fleet(verbs::fleet::Arguments),
    View(Box<verbs::view::Arguments>),
    Info(verbs::info::Arguments),
    Cat(Box<verbs::cat::Arguments>),
    Query(verbs::query::Arguments),
    Index(verbs::index::Arguments),
    Worker(verbs::worker::Arguments),
    Align(verbs::align::Arguments),
    Convert(Box<verbs::convert::Arguments>),
    Merge(Box<verbs::merge::Arguments>),
    Diff(Box<verbs::diff::Arguments>),
    Check(Box<verbs::check::Arguments>),
    ReplayTest(verbs::replay_test::Arguments),
    Upload(verbs::upload::Arguments),
    Reindex(verbs::reindex::Arguments),
    Recover(verbs::recover::Arguments),
    Trace(verbs::trace::Arguments),
    Sync(verbs::sync::Arguments),
    Clock(verbs::clock::Arguments),
    Topic(verbs::topic::Arguments),
    Node(verbs::node::Arguments),
    Service(verbs::service::Arguments),
    Doctor(verbs::doctor::Arguments),
    List(verbs::list::Arguments),
    Completions(verbs::completions::Arguments),
    Manual(verbs::manual::Arguments),
}

impl Verb {
    pub(crate) fn run(self, context: &mut Context) -> anyhow::Result<Outcome> {
        match self {
            Self::Record(arguments) => verbs::record::run(*arguments, context),
            Self::Info(arguments) => verbs::info::run(&arguments, context),
            Self::Cat(arguments) => verbs::cat::run(&arguments, context),
            Self::Query(arguments) => verbs::query::run(&arguments, context),
            Self::Index(arguments) => verbs::index::run(&arguments, context),
            Self::Worker(arguments) => verbs::worker::run(&arguments, context),
            Self::Align(arguments) => verbs::align::run(&arguments, context),
            Self::Convert(arguments) => verbs::convert::run(&arguments, context),
            Self::Check(arguments) => verbs::check::run(&arguments, context),
            Self::Merge(arguments) => verbs::merge::run(&arguments, context),
            Self::Diff(arguments) => verbs::diff::run(&arguments, context),
            Self::ReplayTest(arguments) => verbs::replay_test::run(&arguments, context),
            Self::Play(arguments) => verbs::play::run(*arguments, context),
            Self::Burst(arguments) => verbs::burst::run(*arguments, context),
            Self::Fleet(arguments) => verbs::fleet::run(&arguments, context),
            Self::Clock(arguments) => verbs::clock::run(&arguments, context),
            Self::View(arguments) => verbs::view::run(&arguments, context),
            Self::Upload(arguments) => verbs::upload::run(&arguments, context),
            Self::Reindex(arguments) => verbs::reindex::run(&arguments, context),
            Self::Recover(arguments) => verbs::recover::run(&arguments, context),
            Self::List(arguments) => verbs::list::run(&arguments, context),
            Self::Topic(arguments) => verbs::topic::run(&arguments, context),
            Self::Node(arguments) => verbs::node::run(&arguments, context),
            Self::Service(arguments) => verbs::service::run(&arguments, context),
            Self::Doctor(arguments) => verbs::doctor::run(arguments, context),
            Self::Sync(arguments) => verbs::sync::run(&arguments, context),
            Self::Trace(arguments) => verbs::trace::run(&arguments, context),
            Self::Completions(arguments) => verbs::completions::run(&arguments, context),
            Self::Manual(arguments) => verbs::manual::run(&arguments, context),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _};

    use super::Cli;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Every verb and every part of one: examples, and a sentence that says what it is for.
    #[test]
    fn every_verb_shows_examples() {
        let top = Cli::command();
        let mut verbs: Vec<&Command> = top.get_subcommands().collect();
        let mut count = 0;
        while let Some(verb) = verbs.pop() {
            let help = verb.get_after_help().map(ToString::to_string);
            let name = verb.get_name();
            assert!(help.unwrap_or_default().contains("EXAMPLES"), "{name}");
            assert!(verb.get_about().is_some(), "{name}");
            verbs.extend(verb.get_subcommands());
            count += 1;
        }
        assert!(count > 40, "{count}");
    }
}
