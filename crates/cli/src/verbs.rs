//! The verbs: each holds its arguments and what it does with them.

/// Declares the arguments of a verb with subverbs only, and the function that runs the chosen one.
macro_rules! subverbs {
    ($(#[$attribute:meta])* { $($name:ident => $module:ident,)* }) => {
        #[derive(Debug, clap::Args)]
        $(#[$attribute])*
        pub(crate) struct Arguments {
            #[command(subcommand)]
            verb: Verb,
        }

        #[derive(Debug, clap::Subcommand)]
        enum Verb {
            $($name(Box<$module::Arguments>),)*
        }

        pub(crate) fn run(
            arguments: &Arguments,
            context: &mut crate::context::Context,
        ) -> anyhow::Result<crate::outcome::Outcome> {
            match &arguments.verb {
                $(Verb::$name(arguments) => $module::run(arguments, context),)*
            }
        }
    };
}
use subverbs;

pub(crate) mod align;
pub(crate) mod burst;
pub(crate) mod cat;
pub(crate) mod check;
pub(crate) mod clock;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod fleet;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod list;
pub(crate) mod manual;
pub(crate) mod merge;
pub(crate) mod node;
pub(crate) mod play;
pub(crate) mod query;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod reindex;
pub(crate) mod replay_test;
pub(crate) mod service;
pub(crate) mod sync;
pub(crate) mod topic;
pub(crate) mod trace;
pub(crate) mod upload;
pub(crate) mod view;
pub(crate) mod worker;
