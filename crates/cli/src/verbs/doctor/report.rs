//! The network and the domain, as text and as JSON.

use std::io::Write;

use serde_json::json;
use timeloom_doctor::{Interface, WANTED_RECEIVE_BUFFER};
use timeloom_text::{counted, grouped};
use timeloom_wire::environment::{Backend, Environment};

use super::text::Sentences;

/// The state of the network.
pub(super) struct Network {
    pub(super) environment: Environment,
    pub(super) interfaces: Vec<Interface>,
    /// The kernel's limit of receive buffers, where it matters.
    pub(super) rmem_max: Option<u64>,
    /// The range of discovery.
    pub(super) range: String,
    /// The domain, if it could be joined.
    pub(super) seen: Option<Seen>,
}

/// The participants of a domain.
pub(super) struct Seen {
    pub(super) transport: String,
    pub(super) nodes: Vec<String>,
    pub(super) topics: usize,
    pub(super) participants: usize,
    /// The number of participants of each vendor.
    pub(super) vendors: Vec<String>,
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

fn what_is_set(network: &Network) -> String {
    let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "not set".to_owned());
    let environment = &network.environment;
    match environment.backend {
        Backend::Dds => {
            let peers = &environment.static_peers;
            format!(
                "discovery range {}, static peers {}, CYCLONEDDS_URI {}",
                network.range,
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
pub(super) fn print(network: &Network, out: &mut dyn Write) -> std::io::Result<()> {
    print_machine(network, out)?;
    if let Some(seen) = &network.seen {
        writeln!(out, "{}", seen_line(seen))?;
        for name in &seen.nodes {
            writeln!(out, "  {name}")?;
        }
    }
    Ok(())
}

fn print_machine(network: &Network, out: &mut dyn Write) -> std::io::Result<()> {
    let environment = &network.environment;
    writeln!(out, "Interfaces:")?;
    for interface in &network.interfaces {
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
    if let Some(limit) = network.rmem_max {
        writeln!(
            out,
            "Receive buffers: rmem_max is {} bytes; Cyclone DDS asks for {} and gets {}",
            grouped(limit),
            grouped(WANTED_RECEIVE_BUFFER),
            grouped(limit.min(WANTED_RECEIVE_BUFFER))
        )?;
    }
    let transport = network.seen.as_ref();
    let transport = transport.map_or("not joined", |seen| seen.transport.as_str());
    let listens = where_it_listens(environment);
    writeln!(out, "Domain: {} ({transport}){listens}", environment.domain)?;
    writeln!(
        out,
        "Environment: RMW_IMPLEMENTATION {}, {}",
        environment.rmw.as_deref().unwrap_or("not set"),
        what_is_set(network)
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
pub(super) fn json(network: &Network, sentences: &Sentences) -> serde_json::Value {
    let environment = &network.environment;
    let interfaces: Vec<_> = network
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
    let seen = network.seen.as_ref();
    json!({
        "interfaces": interfaces,
        "rmem_max": network.rmem_max,
        "receive_buffer": network.rmem_max.map(|limit| limit.min(WANTED_RECEIVE_BUFFER)),
        "domain": environment.domain,
        "transport": seen.map(|seen| &seen.transport),
        "rmw_implementation": environment.rmw,
        "discovery_range": network.range,
        "static_peers": environment.static_peers,
        "environment_notes": notes,
        "participants": seen.map(|seen| seen.participants),
        "vendors": seen.map(|seen| &seen.vendors),
        "nodes": seen.map(|seen| &seen.nodes),
        "topics": seen.map(|seen| seen.topics),
        "advice": sentences.advice,
        "problems": sentences.problems,
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
