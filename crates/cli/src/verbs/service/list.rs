//! `timeloom service list`.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::json;
use timeloom_msg::name::is_hidden;

use crate::context::Context;
use crate::live::{Live, LiveArguments};
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
    /// Only how many there are
    #[arg(short = 'c', long)]
    count_services: bool,
    /// Hidden services too, those with a part that starts with `_`
    #[arg(long)]
    include_hidden_services: bool,
    /// Form of the output; as JSON, one line for each service
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join(&arguments.live, context)?;
    let graph = live.settled();
    let mut services: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, type_name) in graph.services() {
        if arguments.include_hidden_services || !is_hidden(name) {
            services.entry(name).or_default().push(type_name);
        }
    }
    let out = context.printer.data();
    if arguments.count_services {
        match arguments.format {
            Format::Text => writeln!(out, "{}", services.len())?,
            Format::Json => writeln!(out, "{}", json!({"services": services.len()}))?,
        }
        return Ok(Outcome::Done);
    }
    for (name, types) in services {
        match arguments.format {
            Format::Json => writeln!(out, "{}", json!({"name": name, "types": types}))?,
            Format::Text if arguments.show_types => writeln!(out, "{name} [{}]", types.join(", "))?,
            Format::Text => writeln!(out, "{name}")?,
        }
    }
    Ok(Outcome::Done)
}
