//! Our endpoints against those of a node of rclcpp (Jazzy), captured from the wire.

use timeloom_msg::qos::{Durability, Reliability};
use timeloom_msg::{QosProfile, TypeName};
use timeloom_node::{NodeOptions, ServiceTypes};
use timeloom_wire::EndpointKind;

use crate::world::{World, watch};

const TABLE: &str = include_str!("../data/talker_endpoints.txt");

/// A line of the table.
struct Row {
    topic: String,
    type_name: TypeName,
    hash: String,
    latched: bool,
    depth: u64,
    lifespan: bool,
}

fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().map(|line| {
        let columns: Vec<_> = line.split(" | ").collect();
        let hash = columns[3].split("typehash=").nth(1).expect("a hash");
        let history = columns[6].strip_prefix("hist=").expect("a history");
        assert!(history.starts_with("00000000"), "keep last");
        let depth = u32::from_str_radix(&history[8..16], 16).expect("a number");
        Row {
            topic: columns[1].to_owned(),
            type_name: TypeName::from_dds(columns[2]).expect("a type"),
            hash: hash[..hash.find(';').expect("an end")].to_owned(),
            latched: columns[5] == "dur=01000000",
            depth: u64::from(depth.swap_bytes()),
            lifespan: columns[7] == "lifespan=0a00000000000000",
        }
    })
}

#[test]
fn topics_and_services_equal_those_of_rclcpp() {
    let world = World::new();
    let _node = world.node(NodeOptions::new("talker"));
    let (graph, _watch) = watch(world.participant("observer"));
    world.pass(100);
    let graph = graph.lock();
    let mut seen = 0;
    for row in rows() {
        let qos = if let Some(topic) = row.topic.strip_prefix("rt") {
            let info = graph.on(topic, EndpointKind::Publisher).next().unwrap();
            assert_eq!(info.type_name, row.type_name.to_string());
            assert_eq!(info.type_hash.unwrap().to_string(), row.hash);
            info.qos
        } else {
            service(&graph, &row)
        };
        assert_eq!(qos.depth, row.depth, "{}", row.topic);
        assert_eq!(qos.reliability, Reliability::Reliable);
        assert_eq!(qos.durability == Durability::TransientLocal, row.latched);
        assert_eq!(
            qos.lifespan.limit().is_some(),
            row.lifespan,
            "{}",
            row.topic
        );
        seen += 1;
    }
    assert_eq!(seen, 16, "seven services with two sides, two topics");
    assert_eq!(graph.endpoints().count(), 9, "and nothing else");
}

/// The side of a service that a row describes: its name, and the hash of its message.
fn service(graph: &timeloom_wire::Graph, row: &Row) -> QosProfile {
    let (side, name) = row.topic.split_once('/').expect("a name");
    let (ending, suffix) = if side == "rq" {
        ("Request", "_Request")
    } else {
        ("Reply", "_Response")
    };
    let name = format!("/{}", name.strip_suffix(ending).expect("an ending"));
    let type_name = row.type_name.without_suffix(suffix).expect("a part");
    let server = graph.on(&name, EndpointKind::Server).next();
    let server = server.expect("we serve it");
    assert_eq!(server.type_name, type_name.to_string());
    let types = ServiceTypes::builtin(&server.type_name).expect("a type");
    let spec = types.spec(&name, server.qos);
    let hash = if side == "rq" {
        spec.request_hash
    } else {
        spec.response_hash
    };
    assert_eq!(hash.expect("a hash").to_string(), row.hash, "{name}");
    server.qos
}
