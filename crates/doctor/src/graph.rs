use std::collections::{BTreeMap, BTreeSet};

use timeloom_wire::{EndpointInfo, EndpointKind, Graph};

use crate::mismatch::owner;
use crate::{Finding, mismatches};

/// The checks of a graph; on a transport that matches endpoints by name alone, `qos_must_fit` is false.
pub fn check_graph(graph: &Graph, qos_must_fit: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(clock(graph));
    findings.extend(several_servers(graph));
    findings.extend(definitions(graph));
    let topics: BTreeSet<&str> = graph.topics().into_iter().map(|(name, _)| name).collect();
    for topic in topics.into_iter().filter(|_| qos_must_fit) {
        let of_topic = |mismatch| Finding::Mismatch {
            topic: topic.to_owned(),
            mismatch,
        };
        findings.extend(mismatches(graph, topic).into_iter().map(of_topic));
    }
    findings
}

/// Node names that more than one node has.
pub fn check_nodes(nodes: &[String]) -> Vec<Finding> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for name in nodes {
        *counts.entry(name).or_default() += 1;
    }
    let twice = counts.into_iter().filter(|(_, count)| *count > 1);
    twice
        .map(|(name, count)| Finding::DuplicateNodeName {
            name: name.clone(),
            count,
        })
        .collect()
}

/// Simulated time needs exactly one publisher.
fn clock(graph: &Graph) -> Option<Finding> {
    let owners = |kind| graph.on("/clock", kind).map(owner).collect::<Vec<_>>();
    let nodes = owners(EndpointKind::Publisher);
    let waiting = owners(EndpointKind::Subscription);
    match nodes.len() {
        0 if !waiting.is_empty() => Some(Finding::ClockWithoutPublisher { waiting }),
        0 | 1 => None,
        _ => Some(Finding::SeveralClocks { nodes }),
    }
}

/// A service with several servers: each call gets several answers.
fn several_servers(graph: &Graph) -> Vec<Finding> {
    let mut findings = Vec::new();
    let names: BTreeSet<&str> = graph.services().into_iter().map(|(name, _)| name).collect();
    for name in names {
        let servers: Vec<_> = graph.on(name, EndpointKind::Server).collect();
        if servers.len() < 2 {
            continue;
        }
        let cyclone = |server: &&&EndpointInfo| vendor(server) == Vendor::Cyclone;
        let cyclones = servers.iter().filter(cyclone).count();
        findings.push(Finding::SeveralServers {
            service: name.to_owned(),
            nodes: servers.iter().map(|server| owner(server)).collect(),
            mixed_vendors: cyclones > 0 && cyclones < servers.len(),
        });
    }
    findings
}

/// Types with one name and several definitions: receivers decode something else than was sent.
fn definitions(graph: &Graph) -> Vec<Finding> {
    let mut known: BTreeMap<(&str, &str), BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for info in graph.endpoints() {
        let is_topic = [EndpointKind::Publisher, EndpointKind::Subscription].contains(&info.kind);
        if let Some(hash) = info.type_hash.filter(|_| is_topic) {
            let hashes = known.entry((&info.topic, &info.type_name)).or_default();
            let nodes = hashes.entry(hash.to_string()).or_default();
            nodes.push(owner(info));
        }
    }
    let differ = known.into_iter().filter(|(_, hashes)| hashes.len() > 1);
    differ
        .map(|((topic, type_name), hashes)| Finding::DefinitionsDiffer {
            topic: topic.to_owned(),
            type_name: type_name.to_owned(),
            nodes: hashes.into_values().collect(),
        })
        .collect()
}

/// The maker of a peer's middleware, by the first bytes of its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Vendor {
    /// Eclipse Cyclone DDS.
    Cyclone,
    /// eProsima Fast DDS.
    FastDds,
    /// RTI Connext.
    Connext,
    /// Any other.
    Other,
}

fn vendor(info: &EndpointInfo) -> Vendor {
    match info.gid.0 {
        [1, 0x10, ..] => Vendor::Cyclone,
        [1, 0x0f, ..] => Vendor::FastDds,
        [1, 1, ..] => Vendor::Connext,
        _ => Vendor::Other,
    }
}

/// The number of participants of each vendor in a DDS graph.
pub fn vendors(graph: &Graph) -> BTreeMap<Vendor, u64> {
    let participants: BTreeSet<([u8; 12], Vendor)> = graph
        .endpoints()
        .map(|info| (info.gid.prefix(), vendor(info)))
        .collect();
    let mut counts = BTreeMap::new();
    for (_, vendor) in participants {
        *counts.entry(vendor).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_msg::{QosProfile, TypeHash};
    use timeloom_wire::{Gid, GraphEvent, NodeName};

    /// An endpoint: its number, make, kind, topic and hash.
    fn endpoint(n: u8, make: u8, kind: EndpointKind, topic: &str, hash: u8) -> GraphEvent {
        let mut gid = [n; 16];
        gid[..2].copy_from_slice(&[1, make]);
        GraphEvent::EndpointChanged(Box::new(EndpointInfo {
            gid: Gid(gid),
            kind,
            node: NodeName::new("/", &format!("n{n}")).ok(),
            topic: topic.into(),
            type_name: "a/msg/A".into(),
            type_hash: Some(TypeHash::from_bytes([hash; 32])),
            qos: QosProfile::DEFAULT,
        }))
    }

    fn graph(events: &[GraphEvent]) -> Graph {
        let mut graph = Graph::default();
        for event in events {
            graph.apply(event);
        }
        graph
    }

    #[test]
    fn the_clock_has_exactly_one_publisher() {
        use EndpointKind::{Publisher, Subscription};
        let listens = endpoint(1, 0x10, Subscription, "/clock", 1);
        let graph_of =
            |more: &[GraphEvent]| graph(&[std::slice::from_ref(&listens), more].concat());
        let waiting = Finding::ClockWithoutPublisher {
            waiting: vec!["/n1".into()],
        };
        assert_eq!(clock(&graph_of(&[])), Some(waiting));
        let second = endpoint(2, 0x10, Publisher, "/clock", 1);
        let third = endpoint(3, 0x10, Publisher, "/clock", 1);
        assert_eq!(clock(&graph_of(std::slice::from_ref(&second))), None);
        let several = Finding::SeveralClocks {
            nodes: vec!["/n2".into(), "/n3".into()],
        };
        assert_eq!(clock(&graph_of(&[second, third])), Some(several));
        assert_eq!(clock(&graph(&[])), None);
    }

    #[test]
    fn services_with_several_servers_are_found() {
        use EndpointKind::{Client, Server};
        let found = |nodes: [&str; 2], mixed_vendors| Finding::SeveralServers {
            service: "/add".into(),
            nodes: nodes.map(str::to_owned).to_vec(),
            mixed_vendors,
        };
        let same = graph(&[
            endpoint(1, 0x10, Server, "/add", 1),
            endpoint(2, 0x10, Server, "/add", 1),
            endpoint(3, 0x10, Client, "/add", 1),
            endpoint(4, 0x10, Server, "/other", 1),
        ]);
        assert_eq!(check_graph(&same, true), [found(["/n1", "/n2"], false)]);
        let mixed = graph(&[
            endpoint(1, 0x10, Server, "/add", 1),
            endpoint(2, 0x0f, Server, "/add", 1),
        ]);
        // Endpoints are sorted by their identities, which begin with the vendor.
        assert_eq!(check_graph(&mixed, true), [found(["/n2", "/n1"], true)]);
        let counts = BTreeMap::from([(Vendor::Cyclone, 1), (Vendor::FastDds, 1)]);
        assert_eq!(vendors(&mixed), counts);
    }

    #[test]
    fn different_definitions_are_found_with_their_nodes() {
        use EndpointKind::{Publisher, Subscription};
        let good = endpoint(1, 0x10, Publisher, "/scan", 1);
        let same = endpoint(2, 0x10, Subscription, "/scan", 1);
        let old = endpoint(3, 0x10, Subscription, "/scan", 2);
        assert_eq!(check_graph(&graph(&[good.clone(), same.clone()]), true), []);
        let differ = Finding::DefinitionsDiffer {
            topic: "/scan".into(),
            type_name: "a/msg/A".into(),
            nodes: vec![vec!["/n1".into(), "/n2".into()], vec!["/n3".into()]],
        };
        assert_eq!(check_graph(&graph(&[good, same, old]), true), [differ]);
    }
}
