//! The graph of the robot goes into the bag, and no other trouble with it.

use std::sync::Arc;

use timeloom_bag::{BagReader, EndpointRole, GraphEndpoint, RobotGraph, StorageReader as _};
use timeloom_msg::QosProfile;
use timeloom_node::recorder::Control;
use timeloom_testkit::transport::Collector;

use crate::recorder_world::{BEST_EFFORT, RELIABLE, STRING, World, finish, spec};

fn graph(world: &World) -> RobotGraph {
    BagReader::open(&world.bag()).unwrap().graph().unwrap()
}

fn one<'a>(
    graph: &'a RobotGraph,
    node: &str,
    role: EndpointRole,
    topic: &str,
) -> &'a GraphEndpoint {
    let mut found = graph.endpoints().filter(|endpoint| {
        (
            endpoint.node.as_str(),
            endpoint.role,
            endpoint.topic.as_str(),
        ) == (node, role, topic)
    });
    let first = found.next();
    assert_eq!(found.count(), 0, "{graph:?}");
    first.unwrap_or_else(|| panic!("no {role:?} of {node} on {topic} in {graph:?}"))
}

#[test]
fn a_bag_knows_who_published_and_who_subscribed_and_when() {
    let world = World::new();
    let driver = world.publisher("driver", "/raw", BEST_EFFORT);
    let filter = world.node("filter");
    let input = filter
        .subscribe(
            &spec("/raw", STRING, BEST_EFFORT),
            Arc::new(Collector::default()),
        )
        .unwrap();
    let output = filter
        .publish(&spec("/filtered", STRING, RELIABLE))
        .unwrap();
    let recorder = world.record(world.options());
    world.publish(&*driver, 10, 100_000);
    world.publish(&*output, 10, 100_000);
    drop(input);
    world.publish(&*driver, 20, 100_000);
    finish(&recorder);
    let graph = graph(&world);
    assert_eq!(graph.len(), 3, "not the recorder itself: {graph:?}");
    let raw = one(&graph, "/driver", EndpointRole::Publisher, "/raw");
    assert_eq!((&*raw.type_name, raw.vanished_ns), (STRING, None));
    assert_eq!(raw.qos.reliability, BEST_EFFORT.reliability);
    let took = one(&graph, "/filter", EndpointRole::Subscription, "/raw");
    let gone = took.vanished_ns.unwrap();
    let seconds = (gone - took.appeared_ns) / 1_000_000_000;
    assert!((1..=2).contains(&seconds), "{took:?}");
    one(&graph, "/filter", EndpointRole::Publisher, "/filtered");
}

#[test]
fn a_bag_knows_who_published_each_message() {
    let world = World::new();
    let first = world.publisher("first", "/a", RELIABLE);
    let second = world.publisher("second", "/a", RELIABLE);
    let recorder = world.record(world.options());
    for _ in 0..5 {
        world.publish(&*first, 3, 10_000);
        world.publish(&*second, 2, 10_000);
    }
    recorder.control(&Control::Split).unwrap();
    world.publish(&*second, 3, 10_000);
    finish(&recorder);
    let mut reader = BagReader::open(&world.bag()).unwrap();
    let (graph, publishers) = (reader.graph().unwrap(), reader.publishers().unwrap());
    let mut nodes = Vec::new();
    while let Some(message) = reader.next_message().unwrap() {
        let gid = publishers.of("/a", message.log_time_ns).unwrap();
        nodes.push(graph.endpoint(gid).unwrap().node.clone());
    }
    let mut expected = Vec::new();
    for _ in 0..5 {
        expected.extend(["/first"; 3]);
        expected.extend(["/second"; 2]);
    }
    expected.extend(["/second"; 3]);
    assert_eq!(nodes, expected);
    let runs = publishers.runs().count();
    assert_eq!(runs, 10, "one for each change: {publishers:?}");
}

#[test]
fn each_file_and_each_bag_has_the_graph() {
    let world = World::new();
    let talker = world.publisher("talker", "/a", QosProfile::DEFAULT);
    let recorder = world.record(world.options());
    world.publish(&*talker, 15, 100_000);
    recorder.control(&Control::Split).unwrap();
    world.publish(&*talker, 15, 100_000);
    let report = finish(&recorder);
    let files = &report.metadata.relative_file_paths;
    assert_eq!(files.len(), 2);
    for file in files {
        let path = world.bag().join(file);
        let graph = BagReader::open(&path).unwrap().graph().unwrap();
        one(&graph, "/talker", EndpointRole::Publisher, "/a");
    }
}
