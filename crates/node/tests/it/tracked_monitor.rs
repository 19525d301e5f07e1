//! The monitor of lineage: discovery, deadlines, diagnostics.

use timeloom_msg::{Definitions, QosProfile, Value};
use timeloom_node::{
    LineageMonitor, MonitorOptions, NodeOptions, TrackedNode, TrackedPublisher, TrackedSubscription,
};
use timeloom_time::Duration;
use timeloom_trace::{
    Deadline, DeadlineNotification, EngineOptions, Evidence, FoundBy, NOTIFICATION_TOPIC,
    NOTIFICATION_TYPE,
};

use crate::tracked::tracked;
use crate::world::{World, listen, topic, values};

const IMU: &str = "sensor_msgs/msg/Imu";

fn imu(stamp_ms: i64) -> Value {
    let schema = Definitions::builtin().schema(IMU).unwrap();
    let mut value = schema.default_value().unwrap();
    let nanosec = u32::try_from(stamp_ms * 1_000_000).unwrap();
    value
        .set("header.stamp.nanosec", Value::Uint32(nanosec))
        .unwrap();
    value
}

/// A node that subscribes to `from` and publishes `to` on request.
struct TrackedRelay {
    publisher: TrackedPublisher,
    _subscription: TrackedSubscription,
    _node: TrackedNode,
}

impl TrackedRelay {
    fn new(world: &World, from: &str, to: &str) -> Self {
        let node = tracked(world, &format!("makes{}", to.replace('/', "_")));
        Self {
            publisher: node
                .create_tracked_publisher(to, IMU, QosProfile::DEFAULT)
                .unwrap(),
            _subscription: node
                .create_tracked_subscription(from, IMU, QosProfile::DEFAULT, |_| {})
                .unwrap(),
            _node: node,
        }
    }
}

fn monitor(world: &World, options: MonitorOptions) -> LineageMonitor {
    let node = world.node(NodeOptions::new("monitor"));
    LineageMonitor::new(node, options).unwrap()
}

fn deadline(limit_ms: i64) -> MonitorOptions {
    MonitorOptions {
        engine: EngineOptions {
            deadlines: vec![Deadline {
                name: "a to c".into(),
                source: Some("/a".into()),
                via: Vec::new(),
                target: "/c".into(),
                limit: Duration::from_millis(limit_ms),
            }],
            ..EngineOptions::default()
        },
        ..MonitorOptions::default()
    }
}

#[test]
fn topics_that_appear_later_are_subscribed_to() {
    let world = World::new();
    let mut monitor = monitor(&world, MonitorOptions::default());
    let source = tracked(&world, "source")
        .create_tracked_publisher("/a", IMU, QosProfile::DEFAULT)
        .unwrap();
    world.pass(50);
    monitor.tick().unwrap();
    source.publish(&imu(1)).unwrap();
    world.pass(10);
    // A node is started during the analysis.
    let relay = TrackedRelay::new(&world, "/a", "/b");
    world.pass(50);
    monitor.tick().unwrap();
    world.pass(50);
    for number in 2..=5 {
        source.publish(&imu(number)).unwrap();
        world.pass(10);
        relay.publisher.publish(&imu(number)).unwrap();
        world.pass(10);
    }
    monitor.tick().unwrap();
    let topics: Vec<_> = monitor.topics().collect();
    assert_eq!(
        topics,
        ["/a/message_tracking_tag", "/b/message_tracking_tag"]
    );
    let report = monitor.report();
    assert_eq!((report.tags, monitor.lost_in_transport()), (9, 0));
    let path = &report.targets[0].paths[0];
    assert_eq!(
        (path.topics.join(" "), path.best.count),
        ("/a /b".into(), 4)
    );
    assert!(
        path.best.min_ns >= 9_000_000 && path.best.max_ns < 11_000_000,
        "{:?}",
        path.best
    );
}

#[test]
fn a_late_target_and_a_stuck_path_are_reported() {
    let world = World::new();
    let peer = world.peer("peer");
    let spec = topic(
        NOTIFICATION_TOPIC,
        NOTIFICATION_TYPE,
        QosProfile::SENSOR_DATA,
    );
    let (_notified, notifications) = listen(&peer, &spec);
    let array = "diagnostic_msgs/msg/DiagnosticArray";
    let (_diagnosed, diagnostics) =
        listen(&peer, &topic("/diagnostics", array, QosProfile::DEFAULT));
    let mut monitor = monitor(&world, deadline(50));
    let source = tracked(&world, "source")
        .create_tracked_publisher("/a", IMU, QosProfile::DEFAULT)
        .unwrap();
    let (b, c) = (
        TrackedRelay::new(&world, "/a", "/b"),
        TrackedRelay::new(&world, "/b", "/c"),
    );
    world.pass(50);
    monitor.tick().unwrap();
    world.pass(50);
    let mut events = Vec::new();
    // In time, then too late, then stuck before /c.
    for (number, pause, last) in [(1, 10, true), (2, 60, true), (3, 10, false)] {
        source.publish(&imu(number)).unwrap();
        world.pass(5);
        b.publisher.publish(&imu(number)).unwrap();
        world.pass(pause);
        if last {
            c.publisher.publish(&imu(number)).unwrap();
            world.pass(5);
        }
        events.extend(monitor.tick().unwrap());
    }
    world.pass(100);
    events.extend(monitor.tick().unwrap());
    monitor.publish_diagnostics().unwrap();
    world.pass(10);
    let found: Vec<_> = events
        .iter()
        .map(|event| (event.found_by, event.missing_hop.as_deref()))
        .collect();
    assert!(found.contains(&(FoundBy::Arrival, None)), "{found:?}");
    assert!(found.contains(&(FoundBy::Timer, Some("/c"))), "{found:?}");
    let sent = notifications.samples();
    assert_eq!(sent.len(), events.len());
    let first = DeadlineNotification::decode(&sent[0].payload).unwrap();
    assert_eq!(
        (first.topic.as_str(), first.deadline),
        ("/c", Duration::from_millis(50))
    );
    assert!(
        first
            .sources
            .iter()
            .any(|source| source.topic == "/a" && source.is_overrun)
    );
    let status = &values(&diagnostics, array)[0];
    assert_eq!(status.get("status[0].level"), Some(Value::Uint8(2)));
    let name = status.get("status[0].name");
    assert_eq!(
        name,
        Some(Value::String("timeloom: deadline a to c".into()))
    );
}

#[test]
fn nodes_without_tags_are_linked_by_the_graph() {
    let world = World::new();
    let options = MonitorOptions {
        plain_topics: vec!["/a".into(), "/b".into()],
        ..MonitorOptions::default()
    };
    let mut monitor = monitor(&world, options);
    let driver = world.node(NodeOptions::new("driver"));
    let a = driver.publisher("/a", IMU, QosProfile::DEFAULT).unwrap();
    let filter = world.node(NodeOptions::new("filter"));
    let (_reads, _) = listen(filter.wire(), &topic("/a", IMU, QosProfile::DEFAULT));
    let b = filter.publisher("/b", IMU, QosProfile::DEFAULT).unwrap();
    world.pass(50);
    monitor.tick().unwrap();
    world.pass(50);
    for number in 1..=5 {
        a.publish(&imu(number)).unwrap();
        world.pass(7);
        // The stamp is kept every second time only.
        b.publish(&imu(number + number % 2 * 100)).unwrap();
        world.pass(3);
    }
    monitor.tick().unwrap();
    let report = monitor.report();
    let hop = &report.hops[0];
    assert_eq!(
        (hop.from.as_str(), hop.to.as_str(), hop.nodes.join("")),
        ("/a", "/b", "/filter".into())
    );
    assert_eq!(hop.known_by.get(&Evidence::EqualStamp), Some(&2));
    // Once a message had the stamp of its input, one without it has lost its input.
    assert_eq!(hop.known_by.get(&Evidence::OnlyInput), Some(&1));
    let path = &report.targets[0].paths[0];
    assert_eq!(path.best.count, 3);
    assert!(
        (7_000_000..8_000_000).contains(&path.best.p50_ns),
        "{:?}",
        path.best
    );
}

#[test]
fn publish_times_of_autoware_stand_for_topics_without_a_subscription() {
    const NOTE: &str = "autoware_internal_msgs/msg/PublishedTime";
    let world = World::new();
    let mut monitor = monitor(&world, MonitorOptions::default());
    // Two nodes of Autoware: large messages, and beside each the time when it was published.
    let driver = world.node(NodeOptions::new("driver"));
    let (a, a_note) = (
        driver.publisher("/a", IMU, QosProfile::DEFAULT).unwrap(),
        driver
            .publisher("/a/debug/published_time", NOTE, QosProfile::DEFAULT)
            .unwrap(),
    );
    let filter = world.node(NodeOptions::new("filter"));
    let (b, b_note) = (
        filter.publisher("/b", IMU, QosProfile::DEFAULT).unwrap(),
        filter
            .publisher("/b/debug/published_time", NOTE, QosProfile::DEFAULT)
            .unwrap(),
    );
    world.pass(50);
    monitor.tick().unwrap();
    // The subscription is seen later than the publishers.
    let (_reads, _) = listen(filter.wire(), &topic("/a", IMU, QosProfile::DEFAULT));
    world.pass(50);
    monitor.tick().unwrap();
    let note = |stamp_ms: i64, published_ms: i64| {
        let schema = Definitions::builtin().schema(NOTE).unwrap();
        let mut value = schema.default_value().unwrap();
        for (field, ms) in [
            ("header.stamp", stamp_ms),
            ("published_stamp", published_ms),
        ] {
            let nanosec = u32::try_from(ms * 1_000_000).unwrap();
            value
                .set(&format!("{field}.nanosec"), Value::Uint32(nanosec))
                .unwrap();
        }
        value
    };
    for cycle in 1..=5 {
        let at = cycle * 100;
        a.publish(&imu(at)).unwrap();
        a_note.publish(&note(at, at)).unwrap();
        world.pass(7);
        b.publish(&imu(at)).unwrap();
        b_note.publish(&note(at, at + 7)).unwrap();
        world.pass(3);
    }
    monitor.tick().unwrap();
    let topics: Vec<_> = monitor.topics().collect();
    assert_eq!(
        topics,
        ["/a/debug/published_time", "/b/debug/published_time"]
    );
    let report = monitor.report();
    let hop = &report.hops[0];
    assert_eq!(
        (hop.from.as_str(), hop.to.as_str(), hop.nodes.join("")),
        ("/a", "/b", "/filter".into())
    );
    assert_eq!(hop.known_by.get(&Evidence::EqualStamp), Some(&5));
    let path = &report.targets[0].paths[0];
    assert_eq!(
        (path.best.count, path.best.min_ns, path.best.max_ns),
        (5, 7_000_000, 7_000_000)
    );
}
