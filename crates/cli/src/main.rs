//! The binary `timeloom`: it turns arguments into options of the libraries, prints, and chooses the exit code.

// As a fuzz target (fuzz/Cargo.toml), libFuzzer brings the `main`.
#![cfg_attr(
    fuzzing,
    no_main,
    allow(dead_code, reason = "libFuzzer calls the parsers alone")
)]

mod bags;
#[cfg(feature = "query")]
mod catalogs;
mod cli;
mod context;
mod damage;
mod decode;
#[cfg(test)]
mod documented;
mod environment;
mod extras;
mod failure;
mod field_path;
mod files;
#[cfg(any(test, fuzzing))]
mod fuzzing;
mod hint;
mod live;
mod log_level;
mod logging;
mod outcome;
mod params_file;
mod plain_text;
mod printer;
mod progress;
mod ros_line;
mod selection_arguments;
mod table_arguments;
#[cfg(feature = "query")]
mod table_output;
mod time_argument;
mod time_format;
mod time_range;
mod topic_selection;
mod verbs;

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::Parser as _;
use timeloom_node::RosArguments;

use crate::cli::Cli;
use crate::context::Context;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::printer::ColorChoice;

fn main() -> ExitCode {
    logging::from_environment();
    let (ros, words) = match ros_line::split(std::env::args_os()) {
        Ok(split) => split,
        Err(error) => {
            let mut context = Context::new(ColorChoice::default(), RosArguments::default());
            context.printer.error(&error);
            return ExitCode::from(2);
        }
    };
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return usage(&ros_line::explain(error)),
    };
    let mut context = Context::new(cli.color, ros);
    let result = cli.verb.run(&mut context).and_then(|outcome| {
        context.printer.flush()?;
        Ok(outcome)
    });
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::ProblemFound) => ExitCode::FAILURE,
        Ok(Outcome::DataLost) => ExitCode::from(3),
        // The reader has seen enough, as `head` does.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            context.printer.error(&error);
            ExitCode::from(if is_usage(&error) { 2 } else { 1 })
        }
    }
}

/// Help and version are printed to stdout and succeed; everything else is wrong usage.
fn usage(error: &clap::Error) -> ExitCode {
    let printed = error.print();
    let wrong =
        error.use_stderr() || printed.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe);
    if wrong {
        ExitCode::from(2)
    } else {
        ExitCode::SUCCESS
    }
}

fn is_usage(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<Failure>())
        .any(Failure::is_usage)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|cause| cause.kind() == ErrorKind::BrokenPipe)
}
