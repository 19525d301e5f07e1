//! `timeloom doctor net`: the network, the domain, who is there, and what does not match.

use std::collections::BTreeSet;
use std::fs;

use clap::Args;
use serde_json::json;
use timeloom_wire::environment::{Backend, DiscoveryRange, Environment};
use timeloom_wire::{EndpointKind, Graph};

use super::interfaces::{Interface, interfaces};
use crate::context::Context;
use crate::json_text::{counted, grouped};
use crate::live::{Live, LiveArguments, mismatches};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom doctor net
  timeloom doctor net --spin-time 5             look longer for others
  timeloom doctor net --format json | jq -r '.problems[]'

EXIT CODES
  0 nothing is wrong   1 a problem was found";

/// What Cyclone DDS asks the kernel for: `8MB` in its units.
const WANTED_BUFFER: u64 = 8 << 20;

/// Check the network, the domain and the QoS of all topics
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Form of the output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

/// What was found.
struct Findings {
    interfaces: Vec<Interface>,
    /// The kernel's limit of receive buffers, where it tells one.
    rmem_max: Option<u64>,
    nodes: Vec<String>,
    topics: usize,
    participants: usize,
    /// How far is looked for others.
    range: String,
    problems: Vec<String>,
    advice: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join(&arguments.live, context)?;
    let graph = live.settled();
    let findings = examine(&live, &graph, arguments.live.localhost);
    match arguments.format {
        Format::Text => print(&findings, &live, context)?,
        Format::Json => {
            let report = as_json(&findings, &live);
            writeln!(context.printer.data(), "{report}")?;
        }
    }
    Ok(if findings.problems.is_empty() {
        Outcome::Done
    } else {
        Outcome::ProblemFound
    })
}

fn examine(live: &Live, graph: &Graph, localhost: bool) -> Findings {
    let nodes: Vec<String> = live.nodes(graph).iter().map(ToString::to_string).collect();
    let topics: BTreeSet<&str> = graph.topics().into_iter().map(|(name, _)| name).collect();
    let participants: BTreeSet<[u8; 12]> =
        graph.endpoints().map(|info| info.gid.prefix()).collect();
    let rmem = fs::read_to_string("/proc/sys/net/core/rmem_max").ok();
    let rmem_max = rmem
        .filter(|_| live.qos_must_fit())
        .and_then(|text| text.trim().parse().ok());
    let interfaces = interfaces();
    let mut problems = Vec::new();
    // Zenoh needs neither multicast nor matching QoS, and reads no UDP.
    let dds = live.qos_must_fit();
    let subnet = dds && live.environment().range == DiscoveryRange::Subnet && !localhost;
    let usable =
        |interface: &&Interface| interface.up && interface.multicast && !interface.loopback;
    if subnet && !interfaces.is_empty() && !interfaces.iter().any(|interface| usable(&interface)) {
        problems.push(
            "no interface is up with multicast: other machines are not found; name them in ROS_STATIC_PEERS, or set \
             ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST if there are none"
                .to_owned(),
        );
    }
    problems.extend(two_clocks(graph));
    problems.extend(doubles(&nodes));
    for topic in topics.iter().filter(|_| dds) {
        problems.extend(
            mismatches(graph, topic)
                .iter()
                .map(|sentence| format!("{topic}: {sentence}")),
        );
    }
    problems.extend(live.notes());
    let mut advice = Vec::new();
    if rmem_max.is_some_and(|limit| limit < WANTED_BUFFER) {
        advice.push(format!(
            "receive buffers are limited: large messages on best effort may be lost; run `sudo sysctl -w \
             net.core.rmem_max={WANTED_BUFFER}`"
        ));
    }
    let range = if localhost {
        "127.0.0.1 only (--localhost)".to_owned()
    } else {
        format!("{:?}", live.environment().range)
    };
    Findings {
        interfaces,
        range,
        rmem_max,
        participants: participants.len(),
        topics: topics.len(),
        nodes,
        problems,
        advice,
    }
}

/// Time must have one owner.
fn two_clocks(graph: &Graph) -> Option<String> {
    let owners: Vec<String> = graph
        .on("/clock", EndpointKind::Publisher)
        .map(|info| {
            info.node
                .as_ref()
                .map_or_else(|| info.gid.to_string(), ToString::to_string)
        })
        .collect();
    (owners.len() > 1).then(|| {
        format!(
            "/clock: {} nodes publish it ({}), so time jumps back and forth: stop all but one",
            owners.len(),
            owners.join(", ")
        )
    })
}

fn doubles(nodes: &[String]) -> Vec<String> {
    let names: BTreeSet<&String> = nodes.iter().collect();
    let count = |name: &String| nodes.iter().filter(|other| *other == name).count();
    names
        .into_iter()
        .filter(|name| count(name) > 1)
        .map(|name| {
            format!(
                "{} nodes have the name {name}: give each its own",
                count(name)
            )
        })
        .collect()
}

/// The ports that DDS uses for discovery: multicast, then those of the first participant.
fn ports(domain: u32) -> (u32, u32, u32) {
    let base = 7400 + 250 * domain;
    (base, base + 10, base + 11)
}

fn where_it_listens(environment: &Environment) -> String {
    match environment.backend {
        Backend::Dds => {
            let (multicast, discovery, data) = ports(environment.domain);
            format!("; UDP ports {multicast} (multicast), {discovery} and {data} and up")
        }
        Backend::Zenoh => String::new(),
    }
}

fn what_is_set(findings: &Findings, environment: &Environment) -> String {
    let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "not set".to_owned());
    match environment.backend {
        Backend::Dds => {
            let peers = &environment.static_peers;
            format!(
                "discovery range {}, static peers {}, CYCLONEDDS_URI {}",
                findings.range,
                if peers.is_empty() {
                    "none".to_owned()
                } else {
                    peers.join(", ")
                },
                or(&environment.cyclonedds_uri),
            )
        }
        Backend::Zenoh => {
            let zenoh = &environment.zenoh;
            let overrides: Vec<String> = zenoh
                .overrides
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            let overrides = (!overrides.is_empty()).then(|| overrides.join(";"));
            format!(
                "ZENOH_SESSION_CONFIG_URI {}, ZENOH_ROUTER_CONFIG_URI {}, ZENOH_CONFIG_OVERRIDE {}",
                or(&zenoh.session_config),
                or(&zenoh.router_config),
                or(&overrides),
            )
        }
    }
}

fn print(findings: &Findings, live: &Live, context: &mut Context) -> anyhow::Result<()> {
    let environment = live.environment();
    let out = context.printer.data();
    writeln!(out, "Interfaces:")?;
    for interface in &findings.interfaces {
        let state = if interface.up { "up" } else { "down" };
        let multicast = if interface.multicast {
            "multicast"
        } else {
            "no multicast"
        };
        let addresses = if interface.addresses.is_empty() {
            "no address".to_owned()
        } else {
            interface.addresses.join(", ")
        };
        writeln!(
            out,
            "  {}: {state}, {multicast}, {addresses}",
            interface.name
        )?;
    }
    if let Some(limit) = findings.rmem_max {
        let given = limit.min(WANTED_BUFFER);
        writeln!(
            out,
            "Receive buffers: rmem_max is {} bytes; Cyclone DDS asks for {} and gets {}",
            grouped(limit),
            grouped(WANTED_BUFFER),
            grouped(given)
        )?;
    }
    writeln!(
        out,
        "Domain: {} ({}){}",
        environment.domain,
        live.participant().describe(),
        where_it_listens(environment)
    )?;
    writeln!(
        out,
        "Environment: RMW_IMPLEMENTATION {}, {}",
        environment.rmw.as_deref().unwrap_or("not set"),
        what_is_set(findings, environment)
    )?;
    for note in &environment.notes {
        writeln!(out, "  {note}")?;
    }
    writeln!(
        out,
        "Seen: {}, {}, {}",
        counted(findings.participants as u64, "participant"),
        counted(findings.nodes.len() as u64, "node"),
        counted(findings.topics as u64, "topic")
    )?;
    for name in &findings.nodes {
        writeln!(out, "  {name}")?;
    }
    for text in &findings.advice {
        writeln!(out, "Advice: {text}")?;
    }
    for text in &findings.problems {
        writeln!(out, "Problem: {text}")?;
    }
    if findings.problems.is_empty() {
        writeln!(out, "No problem found")?;
    }
    Ok(())
}

fn as_json(findings: &Findings, live: &Live) -> serde_json::Value {
    let environment = live.environment();
    let interfaces: Vec<_> = findings
        .interfaces
        .iter()
        .map(|interface| {
            json!({
                "name": interface.name,
                "addresses": interface.addresses,
                "up": interface.up,
                "multicast": interface.multicast,
            })
        })
        .collect();
    let notes: Vec<String> = environment.notes.iter().map(ToString::to_string).collect();
    json!({
        "interfaces": interfaces,
        "rmem_max": findings.rmem_max,
        "receive_buffer": findings.rmem_max.map(|limit| limit.min(WANTED_BUFFER)),
        "domain": environment.domain,
        "transport": live.participant().describe(),
        "rmw_implementation": environment.rmw,
        "discovery_range": findings.range,
        "static_peers": environment.static_peers,
        "environment_notes": notes,
        "participants": findings.participants,
        "nodes": findings.nodes,
        "topics": findings.topics,
        "advice": findings.advice,
        "problems": findings.problems,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_those_of_dds() {
        assert_eq!(ports(0), (7400, 7410, 7411));
        assert_eq!(ports(232), (65400, 65410, 65411));
    }

    #[test]
    fn names_that_are_given_twice_are_told_once() {
        let nodes = ["/a", "/b", "/a"].map(str::to_owned);
        assert_eq!(
            doubles(&nodes),
            ["2 nodes have the name /a: give each its own"]
        );
    }
}
