//! `timeloom service list`.

use clap::Args;

use crate::context::Context;
use crate::live::{Live, LiveArguments, NameList, Shown};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom service list
  timeloom service list -t                      with their types";

/// List the services
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// With their types
    #[arg(short = 't', long)]
    show_types: bool,
    /// Only the number
    #[arg(short = 'c', long)]
    count_services: bool,
    /// Hidden services too, those with a part that starts with `_`
    #[arg(long)]
    include_hidden_services: bool,
    /// Output format; json prints one line per service
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join_to_look(&arguments.live, context)?;
    let graph = live.settled();
    let shown = Shown::new(arguments.count_services, arguments.show_types);
    NameList::new(graph.services(), arguments.include_hidden_services).print(
        context.printer.data(),
        (shown, arguments.format),
        "services",
        |_| serde_json::Map::new(),
    )?;
    Ok(Outcome::Done)
}
