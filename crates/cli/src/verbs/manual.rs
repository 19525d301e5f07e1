//! `timeloom manual`: the man pages of all verbs, from the same types as the help.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};

use crate::cli::Cli;
use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom manual man1                  timeloom.1, timeloom-info.1, timeloom-topic-echo.1, ...
  man ./man1/timeloom-info.1";

/// Write the man pages of all verbs into a directory
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Created if it does not exist
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let directory = &arguments.directory;
    std::fs::create_dir_all(directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    // It writes the pages of the verbs below verbs too.
    clap_mangen::generate_to(Cli::command(), directory)
        .with_context(|| format!("cannot write the pages to {}", directory.display()))?;
    let pages = std::fs::read_dir(directory)?.count();
    context
        .printer
        .aside(&format!("{pages} pages in {}", directory.display()));
    Ok(Outcome::Done)
}
