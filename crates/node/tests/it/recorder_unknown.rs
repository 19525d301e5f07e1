//! The account reports unknown messages of publishers, and only those.

use std::sync::Arc;

use timeloom_bag::UnknownMessages;
use timeloom_node::recorder::{Control, Report};
use timeloom_time::TimeBase;
use timeloom_wire::loopback::{Connection, Faults, Scope};
use timeloom_wire::{
    Capabilities, EndpointInfo, EndpointKind, Gid, GraphEvent, GraphObserver, GraphWatch, Node,
    NodeName, Participant, Result,
};

use crate::recorder_world::{BEST_EFFORT, LATCHED, RELIABLE, World, account, finish, spec, topic};

fn unknown(report: &Report, name: &str) -> UnknownMessages {
    let unknown = topic(&report.topics, name).statistics.unknown;
    let written = report.metadata.topics.iter();
    let written = written.filter(|record| record.topic.name == name);
    for record in written {
        assert_eq!(record.statistics.unwrap().unknown, unknown, "in the bag");
    }
    unknown
}

fn open(open_publishers: u64) -> UnknownMessages {
    UnknownMessages {
        open_publishers,
        ..UnknownMessages::default()
    }
}

#[test]
fn a_publisher_that_vanishes_before_its_lease_ends_may_have_sent_more() {
    let world = World::new();
    let gone = world.publisher("gone", "/gone", RELIABLE);
    let here = world.publisher("here", "/here", RELIABLE);
    let recorder = world.record(world.options());
    for publisher in [&gone, &here] {
        world.publish(&**publisher, 10, 1_000);
    }
    world.pass(100);
    assert_eq!(world.network.kill("gone"), 1);
    world.pass(100);
    let report = finish(&recorder);
    for name in ["/gone", "/here"] {
        assert_eq!(account(topic(&report.topics, name)), (10, 0, 0));
    }
    assert_eq!(unknown(&report, "/gone"), open(1));
    assert_eq!(unknown(&report, "/here"), open(0), "it answers");
}

#[test]
fn a_publisher_behind_a_cut_wire_may_have_sent_more() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let recorder = world.record(world.options());
    world.publish(&*talker, 10, 1_000);
    let cut = Faults {
        connection: Connection::Down,
        ..Faults::NONE
    };
    world.network.set_faults(Scope::everywhere(), cut);
    world.publish(&*talker, 5, 1_000);
    let report = finish(&recorder);
    assert_eq!(account(topic(&report.topics, "/chatter")), (10, 0, 0));
    assert_eq!(unknown(&report, "/chatter"), open(1));
}

#[test]
fn publishers_that_left_without_a_message_are_unknown() {
    let world = World::new();
    let recorder = world.record(world.options());
    for number in 0..8 {
        let name = format!("short{number}");
        let short = world.publisher(&name, "/short", RELIABLE);
        world.publish(&*short, 10, 0);
    }
    world.pass(3_000);
    let live = recorder.status();
    let live = topic(&live.topics, "/short").statistics;
    let report = finish(&recorder);
    let short = topic(&report.topics, "/short");
    let (recorded, lost, dropped) = account(short);
    let unknown = unknown(&report, "/short");
    assert!(recorded < 80, "{recorded}");
    assert_eq!((lost, dropped), (0, 0));
    assert!(unknown.open_publishers > 0, "{unknown:?}");
    assert!(unknown.before_first + 10 * unknown.open_publishers >= 80 - recorded);
    assert_eq!(live.unknown, unknown, "known before the end");
}

#[test]
fn silent_publishers_are_unknown_only_without_an_answer() {
    let world = World::new();
    let latched = world.publisher("latched", "/latched", LATCHED);
    let strong = world.publisher("strong", "/strong", RELIABLE);
    let early = world.publisher("early", "/early", BEST_EFFORT);
    world.publish(&*early, 7, 1_000);
    let recorder = world.record(world.options());
    world.pass(1_000);
    let live = recorder.status();
    for topic in &live.topics {
        assert_eq!(topic.statistics.unknown, open(0), "{} is here", topic.name);
    }
    let report = finish(&recorder);
    assert_eq!(unknown(&report, "/latched"), open(0), "it says: nothing");
    assert_eq!(unknown(&report, "/strong"), open(0), "it says: nothing");
    assert_eq!(
        unknown(&report, "/early"),
        open(1),
        "best effort says nothing"
    );
    drop((latched, strong, early));
}

#[test]
fn a_publisher_that_publishes_to_the_end_is_not_unknown() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let recorder = world.record(world.options());
    let (other, stopped) = (world.clock.clone(), recorder.clone());
    let publishing = world.base.spawn("talker", move || {
        while stopped.status().phase != timeloom_node::recorder::Phase::Stopped {
            let sent = talker.publish(
                crate::recorder_world::text(0, 20),
                timeloom_wire::PublishOptions::default(),
            );
            sent.unwrap();
            let _woke = other.sleep_for(timeloom_time::Duration::from_millis(1));
        }
    });
    world.pass(500);
    let report = finish(&recorder);
    publishing.unwrap().join().unwrap();
    assert_eq!(unknown(&report, "/chatter"), open(0));
}

#[test]
fn publishers_that_left_in_order_are_not_doubted_and_those_that_come_back_neither() {
    let world = World::new();
    let recorder = world.record(world.options());
    for round in 0..3 {
        let name = format!("talker{round}");
        let talker = world.publisher(&name, "/chatter", RELIABLE);
        world.pass(5);
        world.publish(&*talker, 10, 1_000);
        drop(talker);
        world.pass(2_000);
    }
    recorder.control(&Control::Split).unwrap();
    let report = finish(&recorder);
    assert_eq!(account(topic(&report.topics, "/chatter")), (30, 0, 0));
    assert_eq!(unknown(&report, "/chatter"), open(0));
}

/// A participant that also sees publishers of DDS programs, whose types have no ROS name.
struct WithForeignPublishers {
    inner: Arc<dyn Participant>,
    topics: Vec<&'static str>,
}

impl Participant for WithForeignPublishers {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn time_base(&self) -> TimeBase {
        self.inner.time_base()
    }

    fn node(&self, name: NodeName) -> Result<Arc<dyn Node>> {
        self.inner.node(name)
    }

    fn watch_graph(&self, observer: GraphObserver) -> GraphWatch {
        for (number, topic) in (1..).zip(&self.topics) {
            observer(&GraphEvent::EndpointChanged(Box::new(EndpointInfo {
                gid: Gid([number; 16]),
                kind: EndpointKind::Publisher,
                node: None,
                topic: (*topic).to_owned(),
                type_name: "Not::A::RosType".to_owned(),
                type_hash: None,
                qos: RELIABLE,
            })));
        }
        self.inner.watch_graph(observer)
    }
}

#[test]
fn publishers_of_types_that_cannot_be_subscribed_to_are_unknown() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let participant = WithForeignPublishers {
        inner: world.network.participant("recorder").unwrap(),
        topics: vec!["/chatter", "/foreign"],
    };
    let recorder = world.record_on(Arc::new(participant), world.options());
    world.publish(&*talker, 10, 1_000);
    let report = finish(&recorder);
    let chatter = topic(&report.topics, "/chatter").statistics;
    assert_eq!(chatter.left_out.type_conflict, 10, "counted: {chatter:?}");
    assert_eq!(unknown(&report, "/chatter"), open(1));
    assert_eq!(account(topic(&report.topics, "/foreign")), (0, 0, 0));
    assert_eq!(unknown(&report, "/foreign"), open(1));
}

#[test]
fn publishers_of_another_type_that_come_after_discovery_stopped_are_unknown() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let recorder = world.record(world.options());
    world.publish(&*talker, 10, 1_000);
    recorder.control(&Control::StopDiscovery).unwrap();
    world.pass(10);
    let node = world.node("numbers");
    let number = spec("/chatter", "std_msgs/msg/UInt64", RELIABLE);
    let numbers = node.publish(&number).unwrap();
    world.publish(&*numbers, 5, 1_000);
    let short_lived = node.publish(&number).unwrap();
    world.pass(10);
    drop(short_lived);
    world.pass(10);
    let report = finish(&recorder);
    assert_eq!(account(topic(&report.topics, "/chatter")), (10, 0, 0));
    assert_eq!(unknown(&report, "/chatter"), open(2));
}
