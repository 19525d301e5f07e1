//! The parameters of the robot's nodes go into the bag: at the start, with every change, and why where they are missing.

use std::path::Path;
use std::sync::Arc;

use timeloom_bag::{
    BagOptions, BagReader, NodeParameters, RobotParameters, StorageId, StorageOptions,
    StorageReader as _,
};
use timeloom_msg::QosProfile;
use timeloom_node::recorder::{Control, RecordedState};
use timeloom_node::{
    NodeOptions, ParameterAccess, ParameterValue, RemoteParameters, RosNode, ServiceTypes,
};
use timeloom_time::Duration;
use timeloom_wire::{Request, RequestHandler, ServiceServer};

use crate::recorder_world::{RELIABLE, World, finish};

fn ros_node(world: &World, name: &str) -> RosNode {
    let participant = world.network.participant(name).unwrap();
    RosNode::new(participant, NodeOptions::new(name)).unwrap()
}

fn parameters(path: &Path) -> RobotParameters {
    BagReader::open(path).unwrap().parameters().unwrap()
}

fn values(node: &NodeParameters, name: &str) -> Vec<Option<ParameterValue>> {
    let history = node.parameters[name].history.iter();
    history.map(|entry| entry.value.clone()).collect()
}

/// Hears requests and never answers.
struct Deaf;

impl RequestHandler for Deaf {
    fn request(&self, _request: Request, _server: &dyn ServiceServer) {}
}

#[test]
fn the_first_values_and_every_change_are_in_each_file() {
    for storage in StorageId::ALL {
        let world = World::new();
        let talker = ros_node(&world, "talker");
        talker.declare_parameter("rate", 10_i64).unwrap();
        let access = ParameterAccess::ReadOnly;
        talker
            .declare_parameter_with("frame", "map", "where it is", access)
            .unwrap();
        let publisher = world.publisher("driver", "/a", RELIABLE);
        let mut options = world.options();
        options.state = RecordedState::GraphAndParameters;
        options.bag = Arc::new(move || BagOptions {
            storage: StorageOptions::preset(storage, "").unwrap(),
            ..BagOptions::default()
        });
        let recorder = world.record(options);
        world.publish(&*publisher, 15, 100_000);
        talker.set_parameter("rate", 20_i64).unwrap();
        world.publish(&*publisher, 15, 100_000);
        recorder.control(&Control::Split).unwrap();
        let late = ros_node(&world, "late");
        late.declare_parameter("gain", 0.5).unwrap();
        talker.set_parameter("rate", 30_i64).unwrap();
        world.publish(&*publisher, 15, 100_000);
        let report = finish(&recorder);
        let whole = parameters(&world.bag());
        let node = &whole.nodes["/talker"];
        assert_eq!(node.unanswered, None, "{storage:?}");
        let rates = [10_i64, 20, 30].map(|rate| Some(rate.into()));
        assert_eq!(values(node, "rate"), rates);
        let frame = &node.parameters["frame"];
        assert!(frame.read_only && frame.description == "where it is");
        let gains = values(&whole.nodes["/late"], "gain");
        assert_eq!(gains, [Some(0.5.into())]);
        assert!(!whole.nodes.contains_key("/rosbag2_recorder"), "{whole:?}");
        let second = report.metadata.relative_file_paths.last().unwrap();
        let second = parameters(&world.bag().join(second));
        let rates = [20_i64, 30].map(|rate| Some(rate.into()));
        assert_eq!(values(&second.nodes["/talker"], "rate"), rates);
        assert_eq!(
            values(&second.nodes["/talker"], "frame"),
            [Some("map".into())]
        );
    }
}

#[test]
fn nodes_that_do_not_answer_are_listed_with_the_reason() {
    let world = World::new();
    let publisher = world.publisher("bare", "/a", RELIABLE);
    let silent = world.node("silent");
    let types = ServiceTypes::builtin("rcl_interfaces/srv/ListParameters").unwrap();
    let spec = types.spec("/silent/list_parameters", QosProfile::PARAMETERS);
    let _service = silent.serve(&spec, Arc::new(Deaf)).unwrap();
    let mut options = world.options();
    options.state = RecordedState::GraphAndParameters;
    let recorder = world.record(options);
    world.publish(&*publisher, 50, 100_000);
    finish(&recorder);
    let nodes = parameters(&world.bag()).nodes;
    let reason = |node: &str| nodes[node].unanswered.clone().unwrap();
    assert_eq!(reason("/bare"), "it has no parameter services");
    assert!(
        reason("/silent").contains("/silent/list_parameters"),
        "{}",
        reason("/silent")
    );
    assert!(
        reason("/silent").contains("within 3s"),
        "{}",
        reason("/silent")
    );
}

#[test]
fn the_end_of_a_recording_does_not_wait_for_a_node_that_does_not_answer() {
    let world = World::new();
    let silent = world.node("silent");
    let types = ServiceTypes::builtin("rcl_interfaces/srv/ListParameters").unwrap();
    let spec = types.spec("/silent/list_parameters", QosProfile::PARAMETERS);
    let _service = silent.serve(&spec, Arc::new(Deaf)).unwrap();
    let mut options = world.options();
    options.state = RecordedState::GraphAndParameters;
    let recorder = world.record(options);
    world.pass(100);
    let before = world.clock.now();
    finish(&recorder);
    assert!(world.clock.now() - before < Duration::from_secs(2));
    let nodes = parameters(&world.bag()).nodes;
    let reason = nodes["/silent"].unanswered.as_deref();
    assert_eq!(reason, Some("the recording ended before it answered"));
}

#[test]
fn without_the_option_a_bag_has_neither_parameters_nor_graph() {
    let world = World::new();
    let _talker = ros_node(&world, "talker");
    let mut options = world.options();
    options.state = RecordedState::Nothing;
    let recorder = world.record(options);
    world.pass(3_000);
    finish(&recorder);
    assert!(parameters(&world.bag()).nodes.is_empty());
    let mut reader = BagReader::open(&world.bag()).unwrap();
    assert_eq!(reader.graph().unwrap().len(), 0);
}

#[test]
fn parameters_of_another_node_are_set_or_refused_one_by_one() {
    let world = World::new();
    let talker = ros_node(&world, "talker");
    talker.declare_parameter("rate", 10_i64).unwrap();
    let access = ParameterAccess::ReadOnly;
    talker
        .declare_parameter_with("frame", "map", "", access)
        .unwrap();
    let me = world.node("me");
    let remote = RemoteParameters::new(me, &world.base, Duration::from_secs(3));
    let wanted = [
        ("rate".to_owned(), ParameterValue::Integer(20)),
        ("frame".to_owned(), ParameterValue::from("odom")),
        ("rate".to_owned(), ParameterValue::from("fast")),
        ("absent".to_owned(), ParameterValue::from("x")),
    ];
    let results = remote.set("/talker", &wanted).unwrap();
    let done: Vec<bool> = results.iter().map(Result::is_ok).collect();
    assert_eq!(done, [true, false, false, false], "{results:?}");
    let read = remote.read("/talker").unwrap();
    assert_eq!(read["rate"].value, ParameterValue::Integer(20));
    assert!(read["frame"].read_only);
    let missing = remote.read("/nobody").unwrap_err().to_string();
    assert!(missing.contains("/nobody/list_parameters"), "{missing}");
    remote.stop();
    assert!(remote.read("/talker").is_err());
}
