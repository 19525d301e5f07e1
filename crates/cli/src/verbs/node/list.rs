//! `timeloom node list`.

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
  timeloom node list
  timeloom node list -a                         hidden nodes too
  timeloom node list -c                         how many";

/// List the nodes
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Hidden nodes too, those with a part that starts with `_`
    #[arg(short, long)]
    all: bool,
    /// Only the number
    #[arg(short = 'c', long)]
    count_nodes: bool,
    /// Output format; json prints one line per name
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join_to_look(&arguments.live, context)?;
    let mut nodes: BTreeMap<String, usize> = BTreeMap::new();
    for name in live.nodes(&live.settled()) {
        if arguments.all || !is_hidden(&name.full()) {
            *nodes.entry(name.full()).or_default() += 1;
        }
    }
    let total: usize = nodes.values().sum();
    let out = context.printer.data();
    match (arguments.count_nodes, arguments.format) {
        (true, Format::Text) => writeln!(out, "{total}")?,
        (true, Format::Json) => writeln!(out, "{}", json!({ "nodes": total }))?,
        (false, format) => {
            for (name, count) in &nodes {
                match format {
                    Format::Json => writeln!(out, "{}", json!({"name": name, "count": count}))?,
                    Format::Text => (0..*count).try_for_each(|_| writeln!(out, "{name}"))?,
                }
            }
        }
    }
    let doubles: Vec<String> = nodes
        .iter()
        .filter(|(_, count)| **count > 1)
        .map(|(name, count)| format!("{count} nodes have the name {name}: give each its own"))
        .collect();
    context.printer.warnings(&doubles);
    Ok(Outcome::Done)
}
