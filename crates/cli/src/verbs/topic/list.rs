//! `timeloom topic list`.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::json;
use timeloom_msg::name::is_hidden;
use timeloom_wire::{EndpointKind, Graph};

use crate::context::Context;
use crate::live::{Live, LiveArguments};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom topic list
  timeloom topic list -t                        with their types
  timeloom topic list --format json | jq -r .name";

/// List the topics
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// With their types
    #[arg(short = 't', long)]
    show_types: bool,
    /// Only how many there are
    #[arg(short = 'c', long)]
    count_topics: bool,
    /// Hidden topics too, those with a part that starts with `_`
    #[arg(long)]
    include_hidden_topics: bool,
    /// Form of the output; as JSON, one line for each topic
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join(&arguments.live, context)?;
    let graph = live.settled();
    let mut topics: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, type_name) in graph.topics() {
        if arguments.include_hidden_topics || !is_hidden(name) {
            topics.entry(name).or_default().push(type_name);
        }
    }
    let out = context.printer.data();
    if arguments.count_topics {
        match arguments.format {
            Format::Text => writeln!(out, "{}", topics.len())?,
            Format::Json => writeln!(out, "{}", json!({"topics": topics.len()}))?,
        }
        return Ok(Outcome::Done);
    }
    for (name, types) in topics {
        match arguments.format {
            Format::Json => writeln!(out, "{}", as_json(&graph, name, &types))?,
            Format::Text if arguments.show_types => writeln!(out, "{name} [{}]", types.join(", "))?,
            Format::Text => writeln!(out, "{name}")?,
        }
    }
    Ok(Outcome::Done)
}

fn as_json(graph: &Graph, name: &str, types: &[&str]) -> serde_json::Value {
    let count = |kind| graph.on(name, kind).count();
    json!({
        "name": name,
        "types": types,
        "publishers": count(EndpointKind::Publisher),
        "subscriptions": count(EndpointKind::Subscription),
    })
}
