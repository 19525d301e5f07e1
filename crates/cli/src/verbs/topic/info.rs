//! `timeloom topic info`.

use clap::Args;
use serde_json::json;
use timeloom_wire::{EndpointInfo, EndpointKind, Graph};

use crate::context::Context;
use crate::live::{Live, LiveArguments, endpoint_json, endpoint_text, mismatches};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom topic info /scan                     the type, and how many publish and subscribe
  timeloom topic info /scan -v                  each of them with its node and QoS; what does not match, and why
  timeloom topic info /scan --format json";

/// Show the publishers and subscriptions of a topic
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The topic
    #[arg(value_name = "TOPIC")]
    topic: String,
    /// Each endpoint with its node, type hash, GID and QoS
    #[arg(short, long)]
    verbose: bool,
    /// Accepted for compatibility with ros2; has no effect
    #[arg(short = 's', long, hide = true)]
    use_sim_time: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join_to_look(&arguments.live, context)?;
    let topic = live.topic(&arguments.topic)?;
    live.look_for(|graph| graph.topics().iter().any(|(name, _)| *name == topic));
    let graph = live.settled();
    let known = graph.topics();
    let mut types: Vec<&str> = known
        .iter()
        .filter(|(name, _)| *name == topic)
        .map(|(_, type_name)| *type_name)
        .collect();
    types.dedup();
    if types.is_empty() {
        let names = known.iter().map(|(name, _)| *name);
        return Err(live.missing("topic", &topic, names).into());
    }
    let publishers = endpoints(&graph, &topic, EndpointKind::Publisher);
    let subscriptions = endpoints(&graph, &topic, EndpointKind::Subscription);
    let problems = if live.qos_must_fit() {
        mismatches(&graph, &topic)
    } else {
        Vec::new()
    };
    let out = context.printer.data();
    if arguments.format == Format::Json {
        let all = |found: &[&EndpointInfo]| {
            found
                .iter()
                .map(|info| endpoint_json(info))
                .collect::<Vec<_>>()
        };
        let report = json!({
            "name": topic,
            "types": types,
            "publishers": all(&publishers),
            "subscriptions": all(&subscriptions),
            "problems": problems,
        });
        writeln!(out, "{report}")?;
        return Ok(Outcome::Done);
    }
    let end = if arguments.verbose { "\n\n" } else { "\n" };
    let label = if types.len() == 1 {
        types.concat()
    } else {
        format!("[{}]", types.join(", "))
    };
    write!(out, "Type: {label}{end}")?;
    for (name, found) in [("Publisher", &publishers), ("Subscription", &subscriptions)] {
        write!(out, "{name} count: {}{end}", found.len())?;
        if arguments.verbose {
            for endpoint in found {
                writeln!(out, "{}", endpoint_text(endpoint))?;
            }
        }
    }
    context.printer.warnings(&problems);
    Ok(Outcome::Done)
}

fn endpoints<'a>(graph: &'a Graph, topic: &str, kind: EndpointKind) -> Vec<&'a EndpointInfo> {
    graph
        .endpoints()
        .filter(|info| info.topic == topic && info.kind == kind)
        .collect()
}
