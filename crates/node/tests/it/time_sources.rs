//! The sources of a node's simulated time: `/clock`, the process, or a source of its own.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use timeloom_msg::QosProfile;
use timeloom_node::{NodeOptions, RosNode, TimeSourceChoice};
use timeloom_testkit::transport::Collector;
use timeloom_time::{
    Clock, ClockSink, Duration, JumpHandle, JumpHandler, JumpThreshold, Ros, SourceId, Steady,
    Time, TimeBase, TimeHub, TimeSource,
};
use timeloom_wire::EndpointKind;
use timeloom_wire::loopback::LoopbackNetwork;

use crate::clock::{Simulator, simulated};
use crate::world::{World, topic, watch};

/// A source that sends one time, and keeps its sink as a source with a thread would.
struct Fixed(Time<Ros>, Option<ClockSink>);

impl Fixed {
    fn at(secs: i64) -> Box<dyn TimeSource> {
        Box::new(Self(Time::from_secs(secs), None))
    }
}

impl TimeSource for Fixed {
    fn id(&self) -> SourceId {
        SourceId::named("fixed")
    }

    fn start(&mut self, sink: ClockSink) -> io::Result<()> {
        sink.tick(self.0);
        self.1 = Some(sink);
        Ok(())
    }

    fn stop(&mut self) {
        self.1 = None;
    }
}

/// Waits for other threads.
#[track_caller]
fn eventually(what: &str, mut happened: impl FnMut() -> bool) {
    let clock = Clock::<Steady>::new();
    let end = clock.now() + Duration::from_secs(40);
    while !happened() {
        assert!(clock.now() < end, "{what}: not within 40 s");
        let _slept = clock.sleep_for(Duration::from_millis(5));
    }
}

#[test]
fn a_source_of_the_nodes_own_replaces_the_topic() {
    let world = World::new();
    let node = world.node(simulated("node"));
    let (graph, _watch) = watch(world.participant("observer"));
    let listens = || {
        world.pass(10);
        let graph = graph.lock();
        graph.on("/clock", EndpointKind::Subscription).count()
    };
    assert_eq!(listens(), 1);
    node.set_time_source(Some(Fixed::at(7))).unwrap();
    assert_eq!(node.clock().now(), Time::from_secs(7));
    assert_eq!(listens(), 0, "no subscription of /clock any more");
    node.set_parameter("use_sim_time", false).unwrap();
    assert!(
        node.clock().now() > Time::from_secs(1_000_000),
        "the machine's"
    );
    node.set_parameter("use_sim_time", true).unwrap();
    assert_eq!(node.clock().now(), Time::from_secs(7));
    node.set_time_source(None).unwrap();
    assert_eq!(listens(), 1);
    let simulator = Simulator::new(&world, "gazebo");
    world.pass(10);
    simulator.tick(9);
    world.pass(10);
    assert_eq!(node.clock().now(), Time::from_secs(9));
}

#[test]
fn with_a_source_that_cannot_start_the_node_follows_the_topic() {
    struct Broken;
    impl TimeSource for Broken {
        fn id(&self) -> SourceId {
            SourceId::named("broken")
        }
        fn start(&mut self, _sink: ClockSink) -> io::Result<()> {
            Err(io::Error::other("no such device"))
        }
        fn stop(&mut self) {}
    }
    let world = World::new();
    let node = world.node(simulated("node"));
    let error = node.set_time_source(Some(Box::new(Broken))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot start the time source: no such device"
    );
    let simulator = Simulator::new(&world, "gazebo");
    world.pass(10);
    simulator.tick(9);
    world.pass(10);
    assert_eq!(node.clock().now(), Time::from_secs(9));
}

#[test]
fn the_clock_of_a_node_may_have_its_own_source() {
    let world = World::new();
    let node = world.node(simulated("node"));
    let hub = TimeHub::new(&world.time.base());
    hub.attach(&node.clock());
    hub.set_source(Fixed::at(3)).unwrap();
    hub.activate();
    let simulator = Simulator::new(&world, "gazebo");
    world.pass(10);
    simulator.tick(9);
    world.pass(10);
    assert_eq!(node.clock().now(), Time::from_secs(3));
}

#[test]
fn the_process_may_have_a_source_for_all_its_nodes() {
    let network = LoopbackNetwork::new(&TimeBase::machine());
    let make = |options: NodeOptions| {
        let participant = network.participant(&options.name).unwrap();
        RosNode::new(participant, options).unwrap()
    };
    TimeHub::process().set_source(Fixed::at(42)).unwrap();
    let node = make(simulated("node"));
    assert_eq!(node.clock().now(), Time::from_secs(42));
    let mut by_topic = simulated("by_topic");
    by_topic
        .parameters
        .insert("sim_time_source".into(), "topic".into());
    let by_topic = make(by_topic);
    assert!(!by_topic.clock().started(), "no publisher of /clock");
    by_topic
        .set_parameter("sim_time_source", "process")
        .unwrap();
    assert_eq!(by_topic.clock().now(), Time::from_secs(42));
    let error = by_topic
        .set_parameter("sim_time_source", "gps")
        .unwrap_err();
    let expected = "`gps` is none of default, topic, process";
    assert!(error.to_string().contains(expected), "{error}");
    assert_eq!(
        by_topic.parameter("sim_time_source"),
        Some("process".into())
    );
    node.set_parameter("use_sim_time", false).unwrap();
    assert!(node.clock().now() > Time::from_secs(1_000_000));
    assert_eq!(by_topic.clock().now(), Time::from_secs(42), "still");
    TimeHub::process().remove_source();
}

#[test]
fn the_source_of_the_process_is_not_used_on_virtual_time() {
    let world = World::new();
    let mut options = simulated("node");
    options.time_source = TimeSourceChoice::Process;
    let error = RosNode::new(world.participant("node"), options).unwrap_err();
    assert!(error.to_string().contains("virtual time"), "{error}");
}

#[test]
fn the_first_of_two_publishers_can_be_followed_alone() {
    let world = World::new();
    let mut options = simulated("node");
    let conflict = "sim_time_conflict";
    let parameters = &mut options.parameters;
    parameters.insert(conflict.into(), "follow_first".into());
    let node = world.node(options);
    let (one, two) = (
        Simulator::new(&world, "gazebo"),
        Simulator::new(&world, "player"),
    );
    world.pass(10);
    let both = |second: i32| {
        one.tick(second);
        world.pass(10);
        two.tick(1_000 + second);
        world.pass(10);
        node.clock().now()
    };
    assert_eq!(both(5), Time::from_secs(5));
    node.set_parameter(conflict, "follow_both").unwrap();
    assert_eq!(both(6), Time::from_secs(1_006));
    assert!(node.set_parameter(conflict, "follow_none").is_err());
}

/// Adds a jump handler that blocks until the sender is dropped; the receiver gets its calls.
fn add_hanging(clock: &Clock<Ros>) -> (JumpHandle, Sender<()>, Receiver<()>) {
    let (enter, entered) = channel();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let handler = JumpHandler::new("hangs", JumpThreshold::DISRUPTIVE).before(move |_| {
        let _entered = enter.send(());
        let _ended = released.lock().unwrap().recv();
    });
    (clock.add_jump_handler(handler), release, entered)
}

/// All subscriptions of a participant share one receive thread.
#[test]
fn a_jump_handler_that_hangs_blocks_neither_data_nor_time() {
    let network = LoopbackNetwork::new(&TimeBase::machine());
    let mut options = simulated("node");
    options.time_source = TimeSourceChoice::Topic;
    let node = RosNode::new(network.participant("node").unwrap(), options).unwrap();
    let peer = NodeOptions::new("gazebo");
    let peer = RosNode::new(network.participant("gazebo").unwrap(), peer).unwrap();
    let text = "std_msgs/msg/String";
    let data = peer.publisher("/data", text, QosProfile::DEFAULT).unwrap();
    let collector = Collector::new();
    let spec = topic("/data", text, QosProfile::DEFAULT);
    let subscription = node.wire().subscribe(&spec, Arc::clone(&collector) as _);
    let _subscription = subscription.unwrap();
    let simulator = Simulator::of(peer);
    let clock = node.clock();
    eventually("time starts", || {
        simulator.tick(100);
        clock.started()
    });

    let (handle, release, inside) = add_hanging(&clock);
    // Longer than the wait for data below.
    clock.set_handler_patience(Duration::from_secs(90));
    eventually("the handler is called", || {
        simulator.tick(40);
        inside.try_recv().is_ok()
    });
    eventually("data arrives while the handler hangs", || {
        data.publish(&data.message().unwrap()).unwrap();
        !collector.samples().is_empty()
    });
    drop(release);
    drop(handle);

    let (handle, release, inside) = add_hanging(&clock);
    clock.set_handler_patience(Duration::from_millis(5));
    eventually("the handler is called again", || {
        simulator.tick(20);
        inside.try_recv().is_ok()
    });
    eventually("time goes on while the handler hangs", || {
        simulator.tick(30);
        clock.try_now() == Ok(Time::from_secs(30))
    });
    drop(release);
    drop(handle);
}
