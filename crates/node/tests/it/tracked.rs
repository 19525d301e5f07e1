//! Tracked nodes on the loopback: TILDE's own tests of its node (tilde.md §2), and cases that they leave out.

use std::sync::{Arc, Mutex};

use timeloom_msg::{Definitions, QosProfile, Value};
use timeloom_node::{NodeOptions, RosNode, TrackedNode, TrackedPublisher};
use timeloom_testkit::transport::Collector;
use timeloom_time::{Duration, Ros, Time};
use timeloom_trace::{InputSet, MatchRule, MessageTrackingTag, TAG_TYPE};
use timeloom_wire::{EndpointKind, Node, Subscription};

use crate::refusing::Refusing;
use crate::world::{World, listen, topic, watch};

const IMU: &str = "sensor_msgs/msg/Imu";
const STRING: &str = "std_msgs/msg/String";
const TOP_LEVEL: &str = "tilde_msg/msg/TestTopLevelStamp";
const CLOCK: &str = "rosgraph_msgs/msg/Clock";

pub(crate) fn tracked(world: &World, name: &str) -> TrackedNode {
    TrackedNode::new(world.node(NodeOptions::new(name))).unwrap()
}

/// A subscription of the tags of a topic.
struct Tags(
    Arc<Collector>,
    #[expect(dead_code, reason = "held, not read")] Box<dyn Subscription>,
);

impl Tags {
    fn of(peer: &Arc<dyn Node>, main: &str) -> Self {
        let spec = topic(
            &format!("{main}/message_tracking_tag"),
            TAG_TYPE,
            QosProfile::DEFAULT,
        );
        let (subscription, collector) = listen(peer, &spec);
        Self(collector, subscription)
    }

    fn all(&self) -> Vec<MessageTrackingTag> {
        let samples = self.0.samples();
        let decode = |sample: &timeloom_wire::Sample| MessageTrackingTag::decode(&sample.payload);
        samples
            .iter()
            .map(|sample| decode(sample).unwrap())
            .collect()
    }
}

fn imu(stamp_ms: i64) -> Value {
    let schema = Definitions::builtin().schema(IMU).unwrap();
    let mut value = schema.default_value().unwrap();
    let sec = i32::try_from(stamp_ms / 1000).unwrap();
    let nanosec = u32::try_from(stamp_ms % 1000 * 1_000_000).unwrap();
    value.set("header.stamp.sec", Value::Int32(sec)).unwrap();
    value
        .set("header.stamp.nanosec", Value::Uint32(nanosec))
        .unwrap();
    value
}

fn stamp(ms: i64) -> Time<Ros> {
    Time::from_nanos(ms * 1_000_000)
}

/// Publishes messages of a topic from outside.
fn sensor(world: &World, name: &str, topic: &str) -> TrackedPublisher {
    let node = tracked(world, name);
    node.create_tracked_publisher(topic, IMU, QosProfile::DEFAULT)
        .unwrap()
}

#[test]
fn the_tag_of_a_relay_has_the_inputs_of_its_output() {
    let world = World::new();
    let peer = world.peer("peer");
    let tags = Tags::of(&peer, "/robot/out");
    let mut options = NodeOptions::new("relay");
    options.namespace = "/robot".into();
    let relay = TrackedNode::new(world.node(options)).unwrap();
    let publisher = relay
        .create_tracked_publisher("out", IMU, QosProfile::DEFAULT)
        .unwrap();
    let _subscription = relay
        .create_tracked_subscription("/in", IMU, QosProfile::DEFAULT, move |message| {
            publisher.publish(&message.value().unwrap()).unwrap();
        })
        .unwrap();
    let source = sensor(&world, "sensor", "/in");
    world.pass(100);
    for number in 1..=3 {
        source.publish(&imu(number * 10)).unwrap();
        world.pass(10);
    }
    let tags = tags.all();
    assert_eq!(tags.len(), 3);
    for (number, tag) in (0_i64..).zip(&tags) {
        let output = &tag.output;
        assert_eq!(
            (output.topic.as_str(), output.node.as_str()),
            ("/robot/out", "/robot/relay")
        );
        assert_eq!(
            (output.sequence, output.stamp),
            (number, Some(stamp(10 + number * 10)))
        );
        let [input] = tag.inputs.as_slice() else {
            panic!("{tag:?}");
        };
        assert_eq!((input.topic.as_str(), input.stamp), ("/in", output.stamp));
        assert!(input.received.steady <= output.published.steady);
        assert!(!input.received.is_unknown());
    }
}

#[test]
fn tags_are_published_as_tilde_does() {
    let world = World::new();
    let (graph, _watch) = watch(world.participant("observer"));
    let publisher = sensor(&world, "sensor", "/in");
    world.pass(50);
    let graph = graph.lock();
    let tags: Vec<_> = graph
        .on("/in/message_tracking_tag", EndpointKind::Publisher)
        .collect();
    let [tag] = tags.as_slice() else {
        panic!("{tags:?}");
    };
    assert_eq!(tag.type_name, TAG_TYPE);
    assert_eq!(tag.qos.depth, 1);
    assert_eq!(tag.qos.reliability, QosProfile::DEFAULT.reliability);
    let hash = tag.type_hash.unwrap().to_string();
    assert_eq!(
        hash,
        "RIHS01_31cb6a72f5cb53e1ef81c334de611ab0bc2cb162b6f47a12b86671f40f8a6fa7"
    );
    assert_eq!(publisher.topic(), "/in");
}

#[test]
fn times_follow_the_clock_of_the_node() {
    let world = World::new();
    let peer = world.peer("peer");
    let tags = Tags::of(&peer, "/out");
    let mut options = NodeOptions::new("node");
    options.use_sim_time = true;
    let node = TrackedNode::new(world.node(options)).unwrap();
    let publisher = node
        .create_tracked_publisher("/out", IMU, QosProfile::DEFAULT)
        .unwrap();
    let _subscription = node
        .create_tracked_subscription("/in", IMU, QosProfile::DEFAULT, |_| {})
        .unwrap();
    let simulator = world.node(NodeOptions::new("simulator"));
    let clock = simulator
        .publisher("/clock", CLOCK, QosProfile::CLOCK)
        .unwrap();
    let tick = |sec: i32, nanosec: u32| {
        let mut message = clock.message().unwrap();
        message.set("clock.sec", Value::Int32(sec)).unwrap();
        message
            .set("clock.nanosec", Value::Uint32(nanosec))
            .unwrap();
        clock.publish(&message).unwrap();
        world.pass(10);
    };
    let source = sensor(&world, "sensor", "/in");
    world.pass(100);
    tick(100, 0);
    source.publish(&imu(1)).unwrap();
    world.pass(5);
    tick(123, 456);
    source.publish(&imu(2)).unwrap();
    world.pass(5);
    // The clock jumps back, as when a bag is played again.
    tick(50, 0);
    publisher.publish(&imu(3)).unwrap();
    world.pass(5);
    // The first message is still known, with its arrival time.
    assert!(publisher.add_explicit_input("/in", stamp(1)));
    publisher.publish(&imu(4)).unwrap();
    world.pass(5);
    let tags = tags.all();
    assert_eq!(
        tags[0].output.published.ros,
        Time::from_nanos(50_000_000_000)
    );
    assert_eq!(
        tags[0].inputs[0].received.ros,
        Time::from_nanos(123_000_000_456)
    );
    assert_eq!(
        tags[1].inputs[0].received.ros,
        Time::from_nanos(100_000_000_000)
    );
    // The steady clock does not jump.
    assert!(tags[0].inputs[0].received.steady < tags[0].output.published.steady);
}

#[test]
fn header_top_level_stamp_or_none() {
    let world = World::new();
    let peer = world.peer("peer");
    let node = tracked(&world, "node");
    let published = |type_name: &str, topic: &str, fill: &dyn Fn(&mut Value)| {
        let tags = Tags::of(&peer, topic);
        let publisher = node
            .create_tracked_publisher(topic, type_name, QosProfile::DEFAULT)
            .unwrap();
        world.pass(50);
        let mut message = publisher.message().unwrap();
        fill(&mut message);
        publisher.publish(&message).unwrap();
        world.pass(5);
        tags.all()[0].output.stamp
    };
    let header = |value: &mut Value| value.set("header.stamp.sec", Value::Int32(7)).unwrap();
    assert_eq!(published(IMU, "/a", &header), Some(stamp(7000)));
    let top = |value: &mut Value| value.set("stamp.sec", Value::Int32(8)).unwrap();
    assert_eq!(published(TOP_LEVEL, "/b", &top), Some(stamp(8000)));
    assert_eq!(published(STRING, "/c", &|_| {}), None);
    // Both: the header wins.
    let both = |value: &mut Value| {
        value.set("header.stamp.sec", Value::Int32(1)).unwrap();
        value.set("stamp.sec", Value::Int32(2)).unwrap();
    };
    let notification = "tilde_msg/msg/DeadlineNotification";
    assert_eq!(published(notification, "/d", &both), Some(stamp(1000)));
}

#[test]
fn the_parameter_switches_tags_off_and_on() {
    let world = World::new();
    let peer = world.peer("peer");
    let tags = Tags::of(&peer, "/out");
    let (_main, messages) = listen(&peer, &topic("/out", IMU, QosProfile::DEFAULT));
    let mut options = NodeOptions::new("node");
    options
        .parameters
        .insert("enable_tilde".into(), false.into());
    let node: RosNode = world.node(options);
    // The node's own parameter callbacks still work.
    let changes = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&changes);
    node.on_parameter_change(move |name, _| heard.lock().unwrap().push(name.to_owned()));
    let node = TrackedNode::new(node).unwrap();
    let publisher = node
        .create_tracked_publisher("/out", IMU, QosProfile::DEFAULT)
        .unwrap();
    world.pass(50);
    publisher.publish(&imu(1)).unwrap();
    node.node().set_parameter("enable_tilde", true).unwrap();
    publisher.publish(&imu(2)).unwrap();
    node.node().set_parameter("enable_tilde", false).unwrap();
    publisher.publish(&imu(3)).unwrap();
    world.pass(10);
    assert_eq!(messages.samples().len(), 3);
    let tags = tags.all();
    assert_eq!(tags.len(), 1);
    assert_eq!(
        (tags[0].output.stamp, tags[0].output.sequence),
        (Some(stamp(2)), 0)
    );
    assert!(
        changes
            .lock()
            .unwrap()
            .iter()
            .all(|name| name == "enable_tilde")
    );
    assert_eq!(changes.lock().unwrap().len(), 2);
}

#[test]
fn a_node_that_buffers_sets_explicit_inputs() {
    let world = World::new();
    let peer = world.peer("peer");
    let tags = Tags::of(&peer, "/out");
    let node = tracked(&world, "node");
    let publisher = node
        .create_tracked_publisher("/out", IMU, QosProfile::DEFAULT)
        .unwrap();
    let buffer = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&buffer);
    let _subscription = node
        .create_tracked_subscription("/in", IMU, QosProfile::DEFAULT, move |message| {
            kept.lock().unwrap().push(message.used());
        })
        .unwrap();
    let source = sensor(&world, "sensor", "/in");
    world.pass(100);
    for number in 1..=4 {
        source.publish(&imu(number)).unwrap();
        world.pass(5);
    }
    let inputs: InputSet = buffer.lock().unwrap()[1..3].iter().copied().collect();
    publisher.publish_made_of(&imu(9), &inputs).unwrap();
    publisher.publish(&imu(10)).unwrap();
    world.pass(5);
    let tags = tags.all();
    let stamps = |tag: &MessageTrackingTag| {
        let stamps = tag
            .inputs
            .iter()
            .map(|input| input.stamp.unwrap().nanos() / 1_000_000);
        stamps.collect::<Vec<_>>()
    };
    assert_eq!(stamps(&tags[0]), [2, 3]);
    // No state remains: the next one is made of the latest.
    assert_eq!(stamps(&tags[1]), [4]);
}

#[test]
fn the_synchroniser_lists_exactly_the_set_it_used() {
    let world = World::new();
    let peer = world.peer("peer");
    let tags = Tags::of(&peer, "/fused");
    let node = tracked(&world, "fusion");
    let publisher = node
        .create_tracked_publisher("/fused", IMU, QosProfile::DEFAULT)
        .unwrap();
    let topics = [("/left", IMU), ("/right", IMU)];
    let rule = MatchRule::Within(Duration::from_millis(3));
    let sync = node
        .create_tracked_synchronizer(
            &topics,
            QosProfile::DEFAULT,
            5,
            rule,
            move |samples, set| {
                assert_eq!(samples.len(), 2);
                publisher.publish_made_of(&imu(1), set).unwrap();
            },
        )
        .unwrap();
    let (left, right) = (sensor(&world, "l", "/left"), sensor(&world, "r", "/right"));
    world.pass(100);
    // The left one is ahead: three messages wait when the first right one arrives.
    for number in 1..=3 {
        left.publish(&imu(number * 10)).unwrap();
        world.pass(5);
    }
    right.publish(&imu(21)).unwrap();
    world.pass(5);
    let tags = tags.all();
    let [tag] = tags.as_slice() else {
        panic!("{tags:?}");
    };
    let inputs: Vec<_> = tag
        .inputs
        .iter()
        .map(|input| (input.topic.as_str(), input.stamp.unwrap()))
        .collect();
    assert_eq!(inputs, [("/left", stamp(20)), ("/right", stamp(21))]);
    assert_eq!(sync.unmatched(), [1, 0]);
    assert_eq!(sync.subscriptions().len(), 2);
}

#[test]
fn two_publishers_of_one_topic_both_tag_their_inputs() {
    let world = World::new();
    let peer = world.peer("peer");
    let tags = Tags::of(&peer, "/out");
    let node = tracked(&world, "node");
    let make = || {
        node.create_tracked_publisher("/out", IMU, QosProfile::DEFAULT)
            .unwrap()
    };
    let (first, second) = (make(), make());
    let _subscription = node
        .create_tracked_subscription("/in", IMU, QosProfile::DEFAULT, |_| {})
        .unwrap();
    let source = sensor(&world, "sensor", "/in");
    world.pass(100);
    source.publish(&imu(1)).unwrap();
    world.pass(5);
    first.publish(&imu(5)).unwrap();
    second.publish(&imu(6)).unwrap();
    world.pass(5);
    let tags = tags.all();
    assert_eq!(tags.len(), 2);
    assert!(
        tags.iter()
            .all(|tag| tag.inputs.len() == 1 && tag.output.sequence == 0)
    );
}

#[test]
fn a_truncated_payload_is_sent_with_a_tag_without_stamp() {
    let world = World::new();
    let peer = world.peer("peer");
    let tags = Tags::of(&peer, "/out");
    let publisher = sensor(&world, "sensor", "/out");
    world.pass(50);
    let payload = bytes::Bytes::from_static(&[0, 1, 0, 0, 7]);
    publisher.publish_payload(payload).unwrap();
    world.pass(5);
    assert_eq!(tags.all()[0].output.stamp, None);
}

#[test]
fn a_refused_tag_does_not_stop_its_message() {
    let world = World::new();
    let peer = world.peer("peer");
    let (_subscription, messages) = listen(&peer, &topic("/out", IMU, QosProfile::DEFAULT));
    let participant = Arc::new(Refusing {
        inner: world.participant("relay"),
        suffix: "/message_tracking_tag",
    });
    let node = RosNode::new(participant, NodeOptions::new("relay")).unwrap();
    let said = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&said);
    node.set_reporter(move |_, text| hears.lock().unwrap().push(text.to_owned()));
    let node = TrackedNode::new(node).unwrap();
    let publisher = node
        .create_tracked_publisher("/out", IMU, QosProfile::DEFAULT)
        .unwrap();
    world.pass(100);
    for number in 1..=5 {
        publisher.publish(&imu(number)).unwrap();
        world.pass(10);
    }
    assert_eq!(messages.samples().len(), 5);
    assert_eq!(publisher.refused_tags(), 5);
    let said = said.lock().unwrap();
    let warnings: Vec<_> = said
        .iter()
        .filter(|text| text.contains("tags of /out"))
        .collect();
    assert_eq!(
        warnings.len(),
        3,
        "the first, the second, the fourth: {said:?}"
    );
    assert!(warnings[0].contains("it is full"), "{warnings:?}");
}
