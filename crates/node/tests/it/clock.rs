//! `use_sim_time` and `/clock`.

use std::sync::{Arc, Mutex};

use timeloom_msg::QosProfile;
use timeloom_msg::qos::Reliability;
use timeloom_node::{NodeOptions, RosArguments, RosNode, ServiceTypes, TypedPublisher};
use timeloom_time::{Duration, Event, SourceState};
use timeloom_wire::queue::{Overflow, QueueLimits, SampleQueue};
use timeloom_wire::{EndpointKind, PublishOptions};

use crate::world::{World, topic, watch};

const CLOCK: &str = "rosgraph_msgs/msg/Clock";

pub(crate) fn simulated(name: &str) -> NodeOptions {
    let mut options = NodeOptions::new(name);
    options.use_sim_time = true;
    options
}

/// A publisher of time.
pub(crate) struct Simulator {
    pub(crate) node: RosNode,
    publisher: TypedPublisher,
}

impl Simulator {
    pub(crate) fn new(world: &World, name: &str) -> Self {
        Self::of(world.node(NodeOptions::new(name)))
    }

    pub(crate) fn of(node: RosNode) -> Self {
        let publisher = node
            .publisher("/clock", CLOCK, QosProfile::CLOCK)
            .expect("it works in tests");
        Self { node, publisher }
    }

    pub(crate) fn tick(&self, sec: i32) {
        let mut message = self.publisher.message().expect("it works in tests");
        message.set("clock.sec", sec).expect("it works in tests");
        self.publisher.publish(&message).expect("it works in tests");
    }
}

fn words(node: &RosNode) -> Arc<Mutex<Vec<String>>> {
    let said = Arc::new(Mutex::new(Vec::new()));
    let words = Arc::clone(&said);
    node.set_reporter(move |_, text| {
        words
            .lock()
            .expect("it works in tests")
            .push(text.to_owned());
    });
    said
}

#[test]
fn the_clock_follows_the_topic() {
    let world = World::new();
    let node = world.node(simulated("node"));
    let simulator = Simulator::new(&world, "gazebo");
    world.pass(10);
    assert!(!node.clock().started());
    simulator.tick(100);
    world.pass(10);
    assert_eq!(node.clock().now().nanos(), 100_000_000_000);
    world.pass(1000);
    assert_eq!(
        node.clock().now().nanos(),
        100_000_000_000,
        "time stands between samples"
    );
    simulator.tick(101);
    world.pass(10);
    assert_eq!(node.clock().now().nanos(), 101_000_000_000);
}

#[test]
fn the_parameter_attaches_and_detaches_the_clock() {
    let world = World::new();
    let node = world.node(NodeOptions::new("node"));
    let (graph, _watch) = watch(world.participant("observer"));
    let listens = || {
        world.pass(10);
        graph
            .lock()
            .on("/clock", EndpointKind::Subscription)
            .count()
    };
    let simulator = Simulator::new(&world, "gazebo");
    assert_eq!(listens(), 0);
    let machine = node.clock().now();
    node.set_parameter("use_sim_time", true).unwrap();
    assert_eq!(listens(), 1);
    assert_eq!(node.time_hub().source_state(), SourceState::Active);
    simulator.tick(5);
    world.pass(10);
    assert_eq!(node.clock().now().nanos(), 5_000_000_000);
    node.set_parameter("use_sim_time", false).unwrap();
    assert_eq!(listens(), 0);
    assert!(node.clock().now() > machine, "the machine's time again");
}

#[test]
fn the_subscription_equals_that_of_rclcpp() {
    let world = World::new();
    let _node = world.node(simulated("node"));
    let (graph, _watch) = watch(world.participant("observer"));
    world.pass(10);
    let graph = graph.lock();
    let clock = graph
        .on("/clock", EndpointKind::Subscription)
        .next()
        .unwrap();
    assert_eq!(clock.qos.reliability, QosProfile::CLOCK.reliability);
    assert_eq!((clock.qos.depth, clock.type_hash.is_some()), (1, true));
}

#[test]
fn the_qos_of_the_subscription_can_be_overridden_as_in_rclcpp() {
    let world = World::new();
    let line = [
        "--ros-args",
        "-p",
        "qos_overrides./clock.subscription.reliability:=reliable",
        "-p",
        "qos_overrides./clock.subscription.depth:=7",
    ];
    let (arguments, _) = RosArguments::split(line).unwrap();
    let no_file = |_: &str| Err(std::io::Error::from(std::io::ErrorKind::NotFound));
    let options = arguments.options(NodeOptions::new("node"), no_file);
    let node = world.node(options.unwrap());
    let durability = "qos_overrides./clock.subscription.durability";
    assert_eq!(
        node.parameter(durability),
        None,
        "as long as there is no subscription"
    );
    node.set_parameter("use_sim_time", true).unwrap();
    assert_eq!(node.parameter(durability), Some("volatile".into()));
    let refused = node.set_parameter(durability, "transient_local");
    assert!(refused.unwrap_err().to_string().contains("read-only"));
    let (graph, _watch) = watch(world.participant("observer"));
    world.pass(10);
    let graph = graph.lock();
    let clock = graph.on("/clock", EndpointKind::Subscription).next();
    let qos = clock.unwrap().qos;
    assert_eq!((qos.reliability, qos.depth), (Reliability::Reliable, 7));
}

#[test]
fn an_invalid_override_changes_nothing() {
    let world = World::new();
    let mut options = NodeOptions::new("node");
    let name = "qos_overrides./clock.subscription.history";
    options.parameters.insert(name.into(), "keep_some".into());
    let node = world.node(options.clone());
    let error = node.set_parameter("use_sim_time", true).unwrap_err();
    assert!(error.to_string().contains("one of"), "{error}");
    assert_eq!(node.parameter("use_sim_time"), Some(false.into()));
    assert_eq!(node.time_hub().source_state(), SourceState::Inactive);
    options.use_sim_time = true;
    let error = RosNode::new(world.participant("other"), options).unwrap_err();
    assert!(error.to_string().contains(name), "{error}");
}

#[test]
fn the_clock_waits_for_neither_data_nor_handlers() {
    let world = World::new();
    let node = world.node(simulated("node"));
    let base = world.time.base();
    let (busy, release) = (Event::new(&base), Event::new(&base));
    let (entered, wait) = (busy.clone(), release.clone());
    let trigger = "std_srvs/srv/Trigger";
    let _service = node.serve("~/slow", trigger, move |_| {
        entered.set();
        wait.wait();
        Ok(ServiceTypes::builtin("std_srvs/srv/Trigger")?
            .response
            .default_value()?)
    });
    // A queue without a consumer.
    let limits = QueueLimits {
        messages: 10,
        bytes: 1 << 20,
    };
    let queue = SampleQueue::new(&base, limits, Overflow::DropOldest);
    let text = "std_msgs/msg/String";
    let spec = topic("/data", text, QosProfile::DEFAULT);
    let _subscription = node.wire().subscribe(&spec, Arc::clone(&queue) as _);
    let simulator = Simulator::new(&world, "gazebo");
    let data = simulator.node.publisher("/data", text, QosProfile::DEFAULT);
    let data = data.unwrap();
    let caller = simulator.node.client("/node/slow", trigger).unwrap();
    assert!(caller.wait_for_server(Duration::from_secs(1)));
    let payload = caller.request().unwrap();
    let call = base.spawn("caller", move || {
        caller.call(&payload, Duration::from_secs(3600)).is_ok()
    });
    assert!(busy.wait_for(Duration::from_secs(1)), "the handler is busy");
    for second in 1..=50 {
        for _ in 0..20 {
            data.publish(&data.message().unwrap()).unwrap();
        }
        simulator.tick(second);
        world.pass(10);
        assert_eq!(
            node.clock().now().nanos(),
            i64::from(second) * 1_000_000_000
        );
    }
    assert!(queue.dropped().messages > 0, "the data was too much");
    release.set();
    assert!(call.unwrap().join().unwrap());
}

#[test]
fn two_owners_are_named_once() {
    let world = World::new();
    let node = world.node(simulated("node"));
    let said = words(&node);
    let (one, two) = (
        Simulator::new(&world, "gazebo"),
        Simulator::new(&world, "player"),
    );
    world.pass(10);
    for second in 1..4 {
        one.tick(second);
        world.pass(10);
        two.tick(1000 + second);
        world.pass(10);
    }
    assert_eq!(
        *said.lock().unwrap(),
        ["two sources send time: `/gazebo` and `/player`; stop one of them"]
    );
}

#[test]
fn malformed_samples_are_reported_once_and_ignored() {
    let world = World::new();
    let node = world.node(simulated("node"));
    let said = words(&node);
    let liar = world.peer("liar");
    let liar = liar
        .publish(&topic("/clock", CLOCK, QosProfile::CLOCK))
        .unwrap();
    world.pass(10);
    let send = |bytes: &'static [u8]| {
        liar.publish(bytes.into(), PublishOptions::default())
            .unwrap();
        world.pass(10);
    };
    send(b"\0\x01\0\0\x01\0");
    send(b"\0\x01\0\0\x01\0");
    assert!(!node.clock().started());
    send(b"\0\x01\0\0\x07\0\0\0\0\0\0\0");
    assert_eq!(node.clock().now().nanos(), 7_000_000_000);
    let said = said.lock().unwrap();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("malformed /clock sample of 6 bytes from /liar"),
        "{said:?}"
    );
}

#[test]
fn a_clock_that_outlives_its_node_shows_the_machine_again() {
    let world = World::new();
    let node = world.node(simulated("node"));
    let clock = node.clock();
    drop(node);
    let before = clock.now();
    world.pass(1000);
    assert_eq!(clock.now() - before, Duration::from_secs(1));
}

#[test]
fn sleepers_wake_with_simulated_time() {
    let world = World::new();
    let node = world.node(simulated("node"));
    let simulator = Simulator::new(&world, "gazebo");
    world.pass(10);
    simulator.tick(10);
    world.pass(10);
    let clock = node.clock();
    let sleeper = world
        .time
        .spawn("sleeper", move || clock.sleep_for(Duration::from_secs(5)));
    for second in 11..=15 {
        assert!(!sleeper.is_finished());
        simulator.tick(second);
        world.pass(10);
    }
    assert!(sleeper.join().unwrap().is_reached());
}
