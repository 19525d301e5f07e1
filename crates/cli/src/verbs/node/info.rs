//! `timeloom node info`.

use std::collections::BTreeSet;

use clap::Args;
use serde_json::json;
use timeloom_msg::name::{ActionPart, action_of, is_hidden};
use timeloom_wire::{EndpointInfo, EndpointKind};

use crate::context::Context;
use crate::live::{Live, LiveArguments};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom node info /talker
  timeloom node info /talker --include-hidden --format json";

/// Show the publishers, subscriptions, services and actions of a node
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The node
    #[arg(value_name = "NODE")]
    node: String,
    /// Also hidden topics and services
    #[arg(long)]
    include_hidden: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

/// As `ros2 node info` orders and calls them.
const KINDS: [(&str, &str, Listed); 6] = [
    (
        "Subscribers",
        "subscriptions",
        Listed::Endpoints(EndpointKind::Subscription),
    ),
    (
        "Publishers",
        "publishers",
        Listed::Endpoints(EndpointKind::Publisher),
    ),
    (
        "Service Servers",
        "servers",
        Listed::Endpoints(EndpointKind::Server),
    ),
    (
        "Service Clients",
        "clients",
        Listed::Endpoints(EndpointKind::Client),
    ),
    (
        "Action Servers",
        "action_servers",
        Listed::Actions(EndpointKind::Publisher),
    ),
    (
        "Action Clients",
        "action_clients",
        Listed::Actions(EndpointKind::Subscription),
    ),
];

/// The content of a section.
#[derive(Clone, Copy)]
enum Listed {
    /// Endpoints of a kind.
    Endpoints(EndpointKind),
    /// Actions, by what the node does with their feedback: a server publishes it, a client subscribes to it.
    Actions(EndpointKind),
}

impl Listed {
    /// The name and type that an endpoint stands for in this section, if it does.
    fn of(self, info: &EndpointInfo, hidden: bool) -> Option<(&str, String)> {
        match self {
            Self::Endpoints(kind) => (info.kind == kind && (hidden || !is_hidden(&info.topic)))
                .then(|| (info.topic.as_str(), info.type_name.clone())),
            Self::Actions(kind) => {
                let (action, part) = action_of(&info.topic)?;
                let type_name = info.type_name.strip_suffix("_FeedbackMessage")?;
                let shown = hidden || !is_hidden(action);
                (info.kind == kind && part == ActionPart::Feedback && shown)
                    .then(|| (action, type_name.to_owned()))
            }
        }
    }
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let name = format!("/{}", arguments.node.trim_start_matches('/'));
    let live = Live::join_to_look(&arguments.live, context)?;
    live.look_for(|graph| graph.nodes().any(|(node, _)| node.full() == name));
    let graph = live.settled();
    let known: Vec<String> = live.nodes(&graph).iter().map(ToString::to_string).collect();
    if !known.contains(&name) {
        return Err(live
            .missing("node", &name, known.iter().map(String::as_str))
            .into());
    }
    let of = |listed: Listed| -> BTreeSet<(&str, String)> {
        graph
            .endpoints()
            .filter(|info| info.node.as_ref().is_some_and(|node| node.full() == name))
            .filter_map(|info| listed.of(info, arguments.include_hidden))
            .collect()
    };
    let out = context.printer.data();
    if arguments.format == Format::Json {
        let mut report = serde_json::Map::new();
        report.insert("name".into(), json!(name));
        for (_, key, listed) in KINDS {
            let all: Vec<_> = of(listed)
                .into_iter()
                .map(|(name, type_name)| json!({"name": name, "type": type_name}))
                .collect();
            report.insert(key.into(), json!(all));
        }
        writeln!(out, "{}", serde_json::Value::Object(report))?;
        return Ok(Outcome::Done);
    }
    writeln!(out, "{name}")?;
    for (label, _, listed) in KINDS {
        writeln!(out, "  {label}:")?;
        for (topic, type_name) in of(listed) {
            writeln!(out, "    {topic}: {type_name}")?;
        }
    }
    Ok(Outcome::Done)
}
