//! What can be wrong with a graph: pure functions of it.

use std::collections::{BTreeMap, BTreeSet};

use timeloom_text::counted;
use timeloom_wire::{EndpointInfo, EndpointKind, Graph};

/// Who an endpoint belongs to, for people.
fn owner(info: &EndpointInfo) -> String {
    info.node
        .as_ref()
        .map_or_else(|| info.gid.to_string(), ToString::to_string)
}

fn owners(graph: &Graph, topic: &str, kind: EndpointKind) -> Vec<String> {
    graph.on(topic, kind).map(owner).collect()
}

/// Time must have one owner.
pub(super) fn two_clocks(graph: &Graph) -> Option<String> {
    let owners = owners(graph, "/clock", EndpointKind::Publisher);
    (owners.len() > 1).then(|| {
        format!(
            "/clock: {} nodes publish it ({}), so time jumps back and forth: stop all but one",
            owners.len(),
            owners.join(", ")
        )
    })
}

/// Who waits for simulated time waits for ever if nobody makes it.
pub(super) fn clock_without_owner(graph: &Graph) -> Option<String> {
    let waiting = owners(graph, "/clock", EndpointKind::Subscription);
    let nobody = graph.on("/clock", EndpointKind::Publisher).next().is_none();
    (nobody && !waiting.is_empty()).then(|| {
        format!(
            "/clock: nobody publishes it, so the time of {} stands still: start a simulator or `timeloom play --clock`, \
             or set use_sim_time to false",
            waiting.join(", ")
        )
    })
}

/// Names that more than one node has.
pub(super) fn doubles(nodes: &[String]) -> Vec<String> {
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

/// Services that more than one node answers: each call gets several answers.
pub(super) fn crowded_services(graph: &Graph) -> Vec<String> {
    let mut sentences = Vec::new();
    let names: BTreeSet<&str> = graph.services().into_iter().map(|(name, _)| name).collect();
    for name in names {
        let servers: Vec<_> = graph.on(name, EndpointKind::Server).collect();
        if servers.len() < 2 {
            continue;
        }
        let nodes: Vec<String> = servers.iter().map(|server| owner(server)).collect();
        let cyclone = |server: &&&EndpointInfo| vendor(server) == Vendor::Cyclone;
        let mixed = ![0, servers.len()].contains(&servers.iter().filter(cyclone).count());
        let why = if mixed {
            "of two vendors, which do not understand each other's requests"
        } else {
            "so that each call has several answers"
        };
        sentences.push(format!(
            "{name}: {} nodes answer it ({}), {why}: stop all but one",
            nodes.len(),
            nodes.join(", ")
        ));
    }
    sentences
}

/// Types of one name and two definitions: what is received is not what was sent.
pub(super) fn two_definitions(graph: &Graph) -> Vec<String> {
    let mut known: BTreeMap<(&str, &str), BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for info in graph.endpoints() {
        let is_topic = [EndpointKind::Publisher, EndpointKind::Subscription].contains(&info.kind);
        if let Some(hash) = info.type_hash.filter(|_| is_topic) {
            let hashes = known.entry((&info.topic, &info.type_name)).or_default();
            hashes
                .entry(hash.to_string())
                .or_default()
                .push(owner(info));
        }
    }
    let sentence = |((topic, type_name), hashes): (_, BTreeMap<_, Vec<String>>)| {
        let groups: Vec<String> = hashes.values().map(|nodes| nodes.join(" and ")).collect();
        format!(
            "{topic}: {} have different definitions of {type_name}: build them against the same one",
            groups.join(", ")
        )
    };
    known
        .into_iter()
        .filter(|(_, hashes)| hashes.len() > 1)
        .map(sentence)
        .collect()
}

/// Who made a peer's middleware, by the first bytes of its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Vendor {
    Cyclone,
    FastDds,
    Connext,
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

/// How many participants of a DDS graph there are of each make, such as `2 Cyclone DDS`, `1 Fast DDS`.
pub(super) fn vendors(graph: &Graph) -> Vec<String> {
    let participants: BTreeSet<([u8; 12], Vendor)> = graph
        .endpoints()
        .map(|info| (info.gid.prefix(), vendor(info)))
        .collect();
    let mut counts: BTreeMap<Vendor, u64> = BTreeMap::new();
    for (_, vendor) in participants {
        *counts.entry(vendor).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(vendor, count)| match vendor {
            Vendor::Cyclone => format!("{count} Cyclone DDS"),
            Vendor::FastDds => format!("{count} Fast DDS"),
            Vendor::Connext => format!("{count} Connext"),
            Vendor::Other => counted(count, "other"),
        })
        .collect()
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
    fn time_has_one_owner_and_not_none() {
        use EndpointKind::{Publisher, Subscription};
        let listens = endpoint(1, 0x10, Subscription, "/clock", 1);
        let graph_of =
            |more: &[GraphEvent]| graph(&[std::slice::from_ref(&listens), more].concat());
        let alone = graph_of(&[]);
        let words = clock_without_owner(&alone).unwrap();
        assert!(words.starts_with("/clock: nobody publishes it, so the time of /n1 stands still"));
        let one = graph_of(&[endpoint(2, 0x10, Publisher, "/clock", 1)]);
        assert_eq!((clock_without_owner(&one), two_clocks(&one)), (None, None));
        let two = graph_of(&[
            endpoint(2, 0x10, Publisher, "/clock", 1),
            endpoint(3, 0x10, Publisher, "/clock", 1),
        ]);
        assert!(two_clocks(&two).unwrap().contains("(/n2, /n3)"));
        assert_eq!(clock_without_owner(&graph(&[])), None);
    }

    #[test]
    fn names_that_are_given_twice_are_told_once() {
        let nodes = ["/a", "/b", "/a"].map(str::to_owned);
        assert_eq!(
            doubles(&nodes),
            ["2 nodes have the name /a: give each its own"]
        );
    }

    #[test]
    fn services_have_one_server() {
        use EndpointKind::{Client, Server};
        let same = graph(&[
            endpoint(1, 0x10, Server, "/add", 1),
            endpoint(2, 0x10, Server, "/add", 1),
            endpoint(3, 0x10, Client, "/add", 1),
            endpoint(4, 0x10, Server, "/other", 1),
        ]);
        assert_eq!(
            crowded_services(&same),
            [
                "/add: 2 nodes answer it (/n1, /n2), so that each call has several answers: stop all but one"
            ]
        );
        let mixed = graph(&[
            endpoint(1, 0x10, Server, "/add", 1),
            endpoint(2, 0x0f, Server, "/add", 1),
        ]);
        assert!(crowded_services(&mixed)[0].contains("of two vendors"));
        assert_eq!(vendors(&mixed), ["1 Cyclone DDS", "1 Fast DDS"]);
    }

    #[test]
    fn definitions_that_differ_are_named_with_their_nodes() {
        use EndpointKind::{Publisher, Subscription};
        let good = endpoint(1, 0x10, Publisher, "/scan", 1);
        let same = endpoint(2, 0x10, Subscription, "/scan", 1);
        let old = endpoint(3, 0x10, Subscription, "/scan", 2);
        assert!(two_definitions(&graph(&[good.clone(), same.clone()])).is_empty());
        assert_eq!(
            two_definitions(&graph(&[good, same, old])),
            [
                "/scan: /n1 and /n2, /n3 have different definitions of a/msg/A: build them against the same one"
            ]
        );
    }
}
