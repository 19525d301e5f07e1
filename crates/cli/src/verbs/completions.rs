//! `timeloom completions`: tab completion for shells.

use clap::{Args, CommandFactory as _};
use clap_complete::{Shell, generate};

use crate::cli::Cli;
use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom completions bash > ~/.local/share/bash-completion/completions/timeloom
  timeloom completions zsh > ~/.zfunc/_timeloom
  timeloom completions fish > ~/.config/fish/completions/timeloom.fish";

/// Print the tab completion of a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    // Generated into memory first: the generator panics when its writer fails.
    let mut script = Vec::new();
    generate(
        arguments.shell,
        &mut Cli::command(),
        "timeloom",
        &mut script,
    );
    context.printer.data().write_all(&script)?;
    Ok(Outcome::Done)
}
