//! Commands that take effect at a given time, and the clock that they use.

use timeloom_msg::QosProfile;
use timeloom_node::Error;
use timeloom_node::recorder::{Control, Moment, Phase, Report, Stamp};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_time::{Clock, Duration, System, Time};
use timeloom_wire::{PublishOptions, Publisher};

use crate::recorder_world::{RELIABLE, World, account, finish, recorded, text, topic};

fn now_ns(world: &World) -> i64 {
    Clock::<System>::on(world.clock.base()).now().nanos()
}

fn at(time_ns: i64, stamp: Stamp, topic: Option<&str>) -> Moment {
    Moment {
        time_ns,
        stamp,
        topic: topic.map(str::to_owned),
    }
}

/// Number of messages of a topic in each file.
fn per_file(report: &Report, topic: &str) -> Vec<u64> {
    let files = report.metadata.files.iter();
    files
        .map(|file| {
            let mut topics = file.topics_statistics.iter();
            let found = topics.find(|(name, _)| name == topic);
            found.map_or(0, |(_, statistics)| statistics.messages_recorded)
        })
        .collect()
}

/// Publishes messages that say that they were published at these times.
fn publish_dated(publisher: &dyn Publisher, times: std::ops::Range<i64>) {
    for time in times {
        let options = PublishOptions {
            source_time: Some(Time::from_nanos(time)),
            ..PublishOptions::default()
        };
        publisher.publish(text(0, 20), options).unwrap();
    }
}

#[test]
fn a_new_file_begins_with_the_message_of_a_publish_time() {
    let world = World::new();
    let tracked = world.publisher("tracked", "/tracked", RELIABLE);
    let other = world.publisher("other", "/other", RELIABLE);
    let recorder = world.record(world.options());
    let moment = at(1_040, Stamp::Publish, Some("/tracked"));
    recorder.control(&Control::SplitAt(moment)).unwrap();
    publish_dated(&*other, 5_000..5_010);
    publish_dated(&*tracked, 1_000..1_100);
    world.pass(100);
    let report = finish(&recorder);
    assert_eq!(per_file(&report, "/tracked"), [40, 60]);
    assert_eq!(per_file(&report, "/other"), [10, 0]);
    let unknown = at(1, Stamp::Publish, Some("/nobody"));
    let recorder = world.record({
        let mut options = world.options();
        options.output = world.directory.path().join("second");
        options
    });
    let refused = recorder.control(&Control::SplitAt(unknown)).unwrap_err();
    assert!(matches!(refused, Error::UnknownTopic { .. }), "{refused}");
    finish(&recorder);
}

#[test]
fn a_new_file_begins_at_a_time_of_the_clock_even_if_nothing_comes() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let recorder = world.record(world.options());
    world.publish(&*talker, 10, 1_000);
    let soon = at(now_ns(&world) + 1_000_000_000, Stamp::Node, None);
    recorder.control(&Control::SplitAt(soon)).unwrap();
    world.publish(&*talker, 5, 1_000);
    world.pass(900);
    assert_eq!(recorder.status().files, 1);
    world.pass(300);
    assert_eq!(recorder.status().files, 2);
    world.publish(&*talker, 7, 1_000);
    let past = at(1, Stamp::Node, None);
    recorder.control(&Control::SplitAt(past)).unwrap();
    let report = finish(&recorder);
    assert_eq!(per_file(&report, "/chatter"), [15, 7, 0], "past is now");
}

#[test]
fn a_pause_ends_at_its_moment() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let recorder = world.record(world.options());
    recorder.control(&Control::Pause).unwrap();
    let moment = at(2_000, Stamp::Publish, Some("/chatter"));
    recorder
        .control(&Control::ResumeAt(moment.clone()))
        .unwrap();
    publish_dated(&*talker, 1_990..2_005);
    world.pass(10);
    assert_eq!(recorder.status().phase, Phase::Recording);
    recorder.control(&Control::Pause).unwrap();
    let soon = at(now_ns(&world) + 500_000_000, Stamp::Node, None);
    recorder.control(&Control::ResumeAt(soon)).unwrap();
    world.pass(300);
    assert_eq!(recorder.status().phase, Phase::Paused);
    world.pass(400);
    assert_eq!(recorder.status().phase, Phase::Recording, "nothing came");
    // Another pause forgets what was planned.
    recorder.control(&Control::Pause).unwrap();
    recorder.control(&Control::ResumeAt(moment)).unwrap();
    recorder.control(&Control::Pause).unwrap();
    publish_dated(&*talker, 3_000..3_003);
    world.pass(200);
    let report = finish(&recorder);
    let chatter = topic(&report.topics, "/chatter");
    assert_eq!(account(chatter), (5, 0, 0));
    assert_eq!(chatter.statistics.left_out.paused, 13);
}

#[test]
fn simulated_time_stamps_messages_and_is_waited_for() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let participant = world.network.participant("recorder").unwrap();
    let node = RosNode::new(
        participant,
        NodeOptions {
            use_sim_time: true,
            ..NodeOptions::new("rosbag2_recorder")
        },
    )
    .unwrap();
    let mut options = world.options();
    options.selection.exclude_regex = Some(fancy_regex::Regex::new("rosout|param").unwrap());
    options.log_clock = Some(node.clock());
    let recorder = timeloom_node::recorder::Recorder::start(
        std::sync::Arc::clone(node.participant()),
        std::sync::Arc::clone(node.wire()),
        options,
    )
    .unwrap();
    world.publish(&*talker, 10, 1_000);
    assert!(recorder.status().topics.is_empty(), "no time, no stamps");
    assert_eq!(world.notes(), ["waiting for /clock"]);
    let sim = world.network.participant("sim").unwrap();
    let sim = RosNode::new(sim, NodeOptions::new("sim")).unwrap();
    let clock = sim
        .publisher("/clock", "rosgraph_msgs/msg/Clock", QosProfile::DEFAULT)
        .unwrap();
    let mut tick = clock.message().unwrap();
    for second in 100..103_i32 {
        tick.set("clock.sec", second).unwrap();
        clock.publish(&tick).unwrap();
        world.pass(20);
        world.publish(&*talker, 1, 1_000);
    }
    let report = finish(&recorder);
    assert_eq!(account(topic(&report.topics, "/chatter")), (3, 0, 0));
    let chatter = &report.metadata.files[0];
    assert_eq!(chatter.starting_time_ns / 1_000_000_000, 100);
    assert!(chatter.duration_ns < Duration::from_secs(3).nanos());
    assert_eq!(recorded(&world.bag())["/chatter"], [0; 3]);
}
