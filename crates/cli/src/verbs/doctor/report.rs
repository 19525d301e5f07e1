//! What was found, for people and for programs.

use serde_json::json;
use timeloom_text::{counted, grouped};
use timeloom_wire::environment::{Backend, Environment};

use super::findings::{Findings, Seen, WANTED_BUFFER};
use crate::context::Context;

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

fn what_is_set(findings: &Findings) -> String {
    let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "not set".to_owned());
    let environment = &findings.environment;
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

/// As text.
pub(super) fn print(findings: &Findings, context: &mut Context) -> anyhow::Result<()> {
    print_machine(findings, context)?;
    let out = context.printer.data();
    if let Some(seen) = &findings.seen {
        writeln!(out, "{}", seen_line(seen))?;
        for name in &seen.nodes {
            writeln!(out, "  {name}")?;
        }
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

fn print_machine(findings: &Findings, context: &mut Context) -> anyhow::Result<()> {
    let environment = &findings.environment;
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
        let name = &interface.name;
        writeln!(out, "  {name}: {state}, {multicast}, {addresses}")?;
    }
    if let Some(limit) = findings.rmem_max {
        writeln!(
            out,
            "Receive buffers: rmem_max is {} bytes; Cyclone DDS asks for {} and gets {}",
            grouped(limit),
            grouped(WANTED_BUFFER),
            grouped(limit.min(WANTED_BUFFER))
        )?;
    }
    let transport = findings.seen.as_ref();
    let transport = transport.map_or("not joined", |seen| seen.transport.as_str());
    let listens = where_it_listens(environment);
    writeln!(out, "Domain: {} ({transport}){listens}", environment.domain)?;
    writeln!(
        out,
        "Environment: RMW_IMPLEMENTATION {}, {}",
        environment.rmw.as_deref().unwrap_or("not set"),
        what_is_set(findings)
    )?;
    for note in &environment.notes {
        writeln!(out, "  {note}")?;
    }
    Ok(())
}

fn seen_line(seen: &Seen) -> String {
    let vendors = if seen.vendors.is_empty() {
        String::new()
    } else {
        format!(" ({})", seen.vendors.join(", "))
    };
    format!(
        "Seen: {}{vendors}, {}, {}",
        counted(seen.participants as u64, "participant"),
        counted(seen.nodes.len() as u64, "node"),
        counted(seen.topics as u64, "topic")
    )
}

/// As one object.
pub(super) fn json(findings: &Findings) -> serde_json::Value {
    let environment = &findings.environment;
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
    let seen = findings.seen.as_ref();
    json!({
        "interfaces": interfaces,
        "rmem_max": findings.rmem_max,
        "receive_buffer": findings.rmem_max.map(|limit| limit.min(WANTED_BUFFER)),
        "domain": environment.domain,
        "transport": seen.map(|seen| &seen.transport),
        "rmw_implementation": environment.rmw,
        "discovery_range": findings.range,
        "static_peers": environment.static_peers,
        "environment_notes": notes,
        "participants": seen.map(|seen| seen.participants),
        "vendors": seen.map(|seen| &seen.vendors),
        "nodes": seen.map(|seen| &seen.nodes),
        "topics": seen.map(|seen| seen.topics),
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
}
