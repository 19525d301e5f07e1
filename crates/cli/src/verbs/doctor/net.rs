//! `timeloom doctor net`: the network, the domain, the nodes in it, and the endpoints that do not match.

use std::collections::BTreeSet;

use clap::Args;
use timeloom_doctor::{Finding, check_graph, check_network, check_nodes};
use timeloom_doctor::{interfaces, receive_buffer_limit, vendors};
use timeloom_wire::environment::Backend;

use super::report::{self, Network, Seen};
use super::text::{self, Sentences};
use crate::context::Context;
use crate::hint::hint_for;
use crate::live::{Live, LiveArguments};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom doctor net
  timeloom doctor net --spin-time 5             look longer for other nodes
  timeloom doctor net --format json | jq -r '.problems[]'

EXIT CODES
  0 no problem found   1 a problem was found";

/// Check the network, the domain and the QoS of all topics
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let environment = LiveArguments::environment()?;
    let dds = environment.backend == Backend::Dds;
    let localhost = arguments.live.localhost;
    let (interfaces, rmem_max) = (interfaces(), receive_buffer_limit().filter(|_| dds));
    let mut findings = check_network(&environment, &interfaces, rmem_max, localhost);
    let seen = match Live::join(&arguments.live, context) {
        Ok(live) => Some(look(&live, &mut findings)),
        // To find out why is the purpose of this verb.
        Err(error) => {
            let hint = hint_for(&error).map(|hint| format!(": {hint}"));
            let text = format!("{error}{}", hint.unwrap_or_default());
            findings.push(Finding::NotJoined(text));
            None
        }
    };
    let sentences = Sentences::new(&findings);
    let range = if localhost {
        "127.0.0.1 only (--localhost)".to_owned()
    } else {
        format!("{:?}", environment.range)
    };
    let network = Network {
        environment,
        interfaces,
        rmem_max,
        range,
        seen,
    };
    let out = context.printer.data();
    match arguments.format {
        Format::Text => {
            report::print(&network, out)?;
            write!(out, "{}", sentences.lines(None))?;
        }
        Format::Json => writeln!(out, "{}", report::json(&network, &sentences))?,
    }
    Ok(sentences.outcome())
}

/// Adds the findings about the graph; returns its size.
fn look(live: &Live, findings: &mut Vec<Finding>) -> Seen {
    let graph = live.settled();
    let nodes: Vec<String> = live.nodes(&graph).iter().map(ToString::to_string).collect();
    let topics: BTreeSet<&str> = graph.topics().into_iter().map(|(name, _)| name).collect();
    let participants = graph.endpoints().map(|info| info.gid.prefix());
    let participants: BTreeSet<[u8; 12]> = participants.collect();
    // On Zenoh, endpoints match by name alone and have no vendor.
    let dds = live.qos_must_fit();
    findings.extend(check_nodes(&nodes));
    findings.extend(check_graph(&graph, dds));
    findings.extend(live.notes().into_iter().map(Finding::Transport));
    let vendors = vendors(&graph).into_iter().filter(|_| dds);
    Seen {
        transport: live.participant().describe(),
        topics: topics.len(),
        participants: participants.len(),
        vendors: vendors
            .map(|(vendor, count)| text::participants(vendor, count))
            .collect(),
        nodes,
    }
}
