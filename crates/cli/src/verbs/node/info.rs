//! `timeloom node info`.

use std::collections::BTreeSet;

use clap::Args;
use serde_json::json;
use timeloom_msg::name::is_hidden;
use timeloom_wire::EndpointKind;

use crate::context::Context;
use crate::live::{Live, LiveArguments};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom node info /talker
  timeloom node info /talker --include-hidden --format json";

/// Show the publishers, subscriptions and services of a node
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The node
    #[arg(value_name = "NODE")]
    node: String,
    /// Hidden topics and services too
    #[arg(long)]
    include_hidden: bool,
    /// Form of the output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

/// As `ros2 node info` orders and calls them.
const KINDS: [(&str, &str, EndpointKind); 4] = [
    ("Subscribers", "subscriptions", EndpointKind::Subscription),
    ("Publishers", "publishers", EndpointKind::Publisher),
    ("Service Servers", "servers", EndpointKind::Server),
    ("Service Clients", "clients", EndpointKind::Client),
];

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let name = format!("/{}", arguments.node.trim_start_matches('/'));
    let live = Live::join(&arguments.live, context)?;
    live.look_for(|graph| graph.nodes().any(|(node, _)| node.full() == name));
    let graph = live.settled();
    let known: Vec<String> = live.nodes(&graph).iter().map(ToString::to_string).collect();
    if !known.contains(&name) {
        return Err(live
            .missing("node", &name, known.iter().map(String::as_str))
            .into());
    }
    let of = |kind| -> BTreeSet<(&str, &str)> {
        graph
            .endpoints()
            .filter(|info| {
                info.kind == kind && info.node.as_ref().is_some_and(|node| node.full() == name)
            })
            .filter(|info| arguments.include_hidden || !is_hidden(&info.topic))
            .map(|info| (info.topic.as_str(), info.type_name.as_str()))
            .collect()
    };
    let out = context.printer.data();
    if arguments.format == Format::Json {
        let mut report = serde_json::Map::new();
        report.insert("name".into(), json!(name));
        for (_, key, kind) in KINDS {
            let all: Vec<_> = of(kind)
                .into_iter()
                .map(|(name, type_name)| json!({"name": name, "type": type_name}))
                .collect();
            report.insert(key.into(), json!(all));
        }
        writeln!(out, "{}", serde_json::Value::Object(report))?;
        return Ok(Outcome::Done);
    }
    writeln!(out, "{name}")?;
    for (label, _, kind) in KINDS {
        writeln!(out, "  {label}:")?;
        for (topic, type_name) in of(kind) {
            writeln!(out, "    {topic}: {type_name}")?;
        }
    }
    Ok(Outcome::Done)
}
