//! Recorders of one name are found, controlled and looked at together.

use std::sync::Arc;

use timeloom_msg::QosProfile;
use timeloom_node::fleet::{FleetCommand, FleetIdentity, FleetMember, FleetRecorder, call_all};
use timeloom_node::recorder::{Phase, Recorder};
use timeloom_node::{NodeOptions, RosNode, ServiceTypes};
use timeloom_time::Duration;
use timeloom_wire::{Graph, Node, Request, RequestHandler, ServiceServer, WatchedGraph};

use crate::recorder_world::{RELIABLE, World};

const TIMEOUT: Duration = Duration::from_secs(5);

/// A recorder of a fleet, with its own participant and the same node name as all others.
fn member(world: &World, label: &str, fleet: &str, paused: bool) -> (Recorder, FleetMember) {
    let participant = world.network.participant(label).unwrap();
    let node = RosNode::new(Arc::clone(&participant), NodeOptions::new("recorder")).unwrap();
    let mut options = world.options();
    options.output = world.directory.path().join(label);
    options.start_paused = paused;
    let recorder = Recorder::start(participant, Arc::clone(node.wire()), options).unwrap();
    let identity = FleetIdentity {
        host: label.to_owned(),
        process: 7,
        version: "1.2.3".into(),
    };
    let member = FleetMember::join(&node, &recorder, fleet, identity).unwrap();
    (recorder, member)
}

fn graph(world: &World) -> Graph {
    let participant = world.network.participant("looker").unwrap();
    WatchedGraph::new(&*participant).snapshot()
}

fn fleet(world: &World, name: &str) -> Vec<FleetRecorder> {
    let mut found = FleetRecorder::all(&graph(world));
    found.retain(|recorder| recorder.fleet == name);
    found
}

/// Calls a fleet; the phases in the order of the hosts, and what was recorded.
fn call(world: &World, node: &Arc<dyn Node>, command: FleetCommand) -> Vec<(Phase, u64)> {
    let recorders = fleet(world, "yard");
    let answers = call_all(node, &world.base, &recorders, command, TIMEOUT);
    let answers = answers.into_iter().map(|answer| {
        let answer = answer.unwrap();
        assert_eq!(answer.refused, None, "{command:?}");
        (answer.status.phase, answer.status.recorded)
    });
    answers.collect()
}

#[test]
fn recorders_with_one_node_name_start_and_stop_together() {
    let world = World::new();
    let publisher = world.publisher("talker", "/a", RELIABLE);
    let (first, _first_member) = member(&world, "alpha", "yard", true);
    let (second, _second_member) = member(&world, "beta", "yard", true);
    let (other, _other_member) = member(&world, "gamma", "dock", false);
    world.pass(100);
    let me = world.node("me");
    let found = fleet(&world, "yard");
    let nodes: Vec<&str> = found.iter().map(|it| it.node.as_str()).collect();
    assert_eq!(nodes, ["/recorder", "/recorder"]);
    let paused = call(&world, &me, FleetCommand::Status);
    assert_eq!(paused, [(Phase::Paused, 0), (Phase::Paused, 0)]);
    call(&world, &me, FleetCommand::Start);
    world.publish(&*publisher, 10, 10_000);
    world.pass(500);
    let running = call(&world, &me, FleetCommand::Status);
    assert_eq!(running, [(Phase::Recording, 10), (Phase::Recording, 10)]);
    call(&world, &me, FleetCommand::Pause);
    world.publish(&*publisher, 5, 10_000);
    call(&world, &me, FleetCommand::Resume);
    call(&world, &me, FleetCommand::Split);
    let stopped = call(&world, &me, FleetCommand::Stop);
    assert_eq!(stopped, [(Phase::Stopped, 10), (Phase::Stopped, 10)]);
    assert_eq!(other.status().phase, Phase::Recording, "another fleet");
    // Also those that were stopped begin again, in a bag of their own, though they start paused.
    let again = call(&world, &me, FleetCommand::Start);
    assert_eq!(again, [(Phase::Recording, 0), (Phase::Recording, 0)]);
    for recorder in [first, second, other] {
        recorder.finish().unwrap();
    }
    for bag in ["alpha", "alpha_1", "beta", "beta_1", "gamma"] {
        assert!(world.directory.path().join(bag).exists(), "{bag}");
    }
}

#[test]
fn a_command_that_a_recorder_cannot_execute_is_refused_with_the_reason() {
    let world = World::new();
    let (recorder, member) = member(&world, "alpha", "yard", false);
    world.pass(100);
    let me = world.node("me");
    let recorders = fleet(&world, "yard");
    let answers = call_all(
        &me,
        &world.base,
        &recorders,
        FleetCommand::Snapshot,
        TIMEOUT,
    );
    let answer = answers[0].as_ref().unwrap();
    let reason = answer.refused.as_deref().unwrap();
    assert!(reason.contains("snapshot mode"), "{reason}");
    assert_eq!(answer.status.host, "alpha");
    assert!(answer.status.disk_available.is_some());
    recorder.finish().unwrap();
    drop(member);
    world.pass(100);
    assert_eq!(fleet(&world, "yard"), []);
}

/// Hears requests and never answers.
struct Deaf;

impl RequestHandler for Deaf {
    fn request(&self, _request: Request, _server: &dyn ServiceServer) {}
}

#[test]
fn a_recorder_that_does_not_answer_does_not_hold_up_the_others() {
    let world = World::new();
    let (recorder, _member) = member(&world, "alpha", "yard", false);
    let types = ServiceTypes::builtin("timeloom_interfaces/srv/ControlRecorder").unwrap();
    let spec = types.spec("/timeloom/fleet/yard/zed_9_0/control", QosProfile::SERVICES);
    let _deaf = world.node("zed").serve(&spec, Arc::new(Deaf)).unwrap();
    world.pass(100);
    let me = world.node("me");
    let recorders = fleet(&world, "yard");
    assert_eq!(recorders[1].identity, "zed_9_0");
    let answers = call_all(&me, &world.base, &recorders, FleetCommand::Status, TIMEOUT);
    assert_eq!(answers[0].as_ref().unwrap().status.version, "1.2.3");
    let missing = answers[1].as_ref().unwrap_err().to_string();
    assert!(missing.contains("within 5s"), "{missing}");
    recorder.finish().unwrap();
}
