//! The law under faults: published = recorded + lost in transport + lost in recorder.

use std::sync::Arc;

use proptest::prelude::*;
use timeloom_bag::BagOptions;
use timeloom_msg::QosProfile;
use timeloom_node::recorder::{Control, DropPolicy};
use timeloom_time::Duration;
use timeloom_wire::loopback::{Chance, Connection, Faults, Scope};
use timeloom_wire::{Gid, PublishOptions, Publisher};

use crate::recorder_world::{BEST_EFFORT, LATCHED, RELIABLE, World, finish, text, topic};

/// An event between two messages.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The publisher of that number sends so many messages.
    Send(usize, u32),
    Lose(u8),
    Duplicate,
    Reorder,
    Disconnect,
    Heal,
    Split,
    Pass(i64),
    /// The publisher ends and another one replaces it.
    Restart(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0usize..3, 1u32..30).prop_map(|(who, count)| Step::Send(who, count)),
        1 => (1u8..80).prop_map(Step::Lose),
        1 => Just(Step::Duplicate),
        1 => Just(Step::Reorder),
        1 => Just(Step::Disconnect),
        2 => Just(Step::Heal),
        1 => Just(Step::Split),
        1 => (1i64..300).prop_map(Step::Pass),
        1 => (0usize..3).prop_map(Step::Restart),
    ];
    prop::collection::vec(step, 1..40)
}

struct Robot<'a> {
    world: &'a World,
    publishers: Vec<Box<dyn Publisher>>,
    /// Number of messages and topic of each publisher, past ones included.
    sent: Vec<(Gid, &'static str, u64)>,
    started: usize,
}

const TOPICS: [(&str, QosProfile); 3] = [("/a", BEST_EFFORT), ("/a", RELIABLE), ("/b", LATCHED)];

impl Robot<'_> {
    fn start(&mut self, who: usize) -> Box<dyn Publisher> {
        let (name, qos) = TOPICS[who];
        self.started += 1;
        let publisher = self
            .world
            .publisher(&format!("talker{}", self.started), name, qos);
        self.sent.push((publisher.gid(), name, 0));
        // The two find each other, so that nothing is published before.
        self.world.pass(5);
        publisher
    }

    fn send(&mut self, who: usize, count: u32) {
        let publisher = &self.publishers[who];
        let sent = self
            .sent
            .iter_mut()
            .find(|(gid, ..)| *gid == publisher.gid());
        sent.unwrap().2 += u64::from(count);
        for number in 0..count {
            publisher
                .publish(text(number, 500), PublishOptions::default())
                .unwrap();
            let _woke = self.world.clock.sleep_for(Duration::from_micros(200));
        }
    }

    fn faults(&self, faults: Faults) {
        self.world.network.set_faults(Scope::everywhere(), faults);
    }

    /// Publishes a last message from every publisher, so that no loss follows the last message received.
    fn end(&mut self) {
        self.faults(Faults::NONE);
        self.world.pass(500);
        for who in 0..self.publishers.len() {
            self.send(who, 1);
        }
        self.world.pass(500);
    }
}

fn apply(robot: &mut Robot<'_>, recorder: &timeloom_node::recorder::Recorder, step: Step) {
    let reorder = Faults {
        reorder: Chance::Fraction(0.3),
        reorder_by: Duration::from_millis(2),
        ..Faults::NONE
    };
    match step {
        Step::Send(who, count) => robot.send(who, count),
        Step::Lose(percent) => robot.faults(Faults {
            drop: Chance::Fraction(f64::from(percent) / 100.0),
            ..Faults::NONE
        }),
        Step::Duplicate => robot.faults(Faults {
            duplicate: Chance::EveryNth(2),
            ..Faults::NONE
        }),
        Step::Reorder => robot.faults(reorder),
        Step::Disconnect => robot.faults(Faults {
            connection: Connection::Down,
            ..Faults::NONE
        }),
        Step::Heal => robot.faults(Faults::NONE),
        Step::Split => recorder.control(&Control::Split).unwrap(),
        Step::Pass(millis) => robot.world.pass(millis),
        Step::Restart(who) => {
            // With nothing on its way to be left behind.
            robot.faults(Faults::NONE);
            robot.world.pass(500);
            robot.send(who, 1);
            robot.world.pass(50);
            robot.publishers[who] = robot.start(who);
            robot.send(who, 1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn published_is_recorded_and_lost(
        steps in steps(),
        cache in prop_oneof![Just(4_000usize), Just(100 << 20)],
        slow in any::<bool>(),
        oldest in any::<bool>(),
    ) {
        let world = World::new();
        let mut robot = Robot { world: &world, publishers: Vec::new(), sent: Vec::new(), started: 0 };
        let mut options = world.options();
        options.max_cache_bytes = cache;
        options.drop_policy = if oldest { DropPolicy::Oldest } else { DropPolicy::Newest };
        options.bag = Arc::new(|| BagOptions {
            max_file_duration_ns: 50_000_000,
            ..BagOptions::default()
        });
        if slow {
            let clock = world.clock.clone();
            options.before_write = Some(Arc::new(move |_| {
                let _woke = clock.sleep_for(Duration::from_millis(20));
            }));
        }
        let recorder = world.record(options);
        for who in 0..TOPICS.len() {
            let publisher = robot.start(who);
            robot.publishers.push(publisher);
            robot.send(who, 1);
        }
        for step in steps {
            apply(&mut robot, &recorder, step);
        }
        robot.end();
        let report = finish(&recorder);
        for name in ["/a", "/b"] {
            let found = topic(&report.topics, name);
            let (kept, lost, dropped) = crate::recorder_world::account(found);
            let sent = robot.sent.iter().filter(|(_, topic, _)| *topic == name);
            let sent: u64 = sent.map(|(.., count)| *count).sum();
            prop_assert_eq!(
                kept + lost + dropped + found.statistics.unknown.before_first,
                sent,
                "{}: {:?}",
                name,
                found
            );
            if cache > 1 << 20 {
                prop_assert_eq!(dropped, 0);
            }
        }
    }
}

#[test]
fn announced_messages_that_never_arrive_are_lost_at_the_end() {
    let world = World::new();
    let strong = world.publisher("strong", "/strong", RELIABLE);
    let weak = world.publisher("weak", "/weak", BEST_EFFORT);
    let recorder = world.record(world.options());
    for publisher in [&strong, &weak] {
        world.publish(&**publisher, 10, 1_000);
    }
    let slow = |delay| Faults {
        delay,
        ..Faults::NONE
    };
    let network = &world.network;
    network.set_faults(Scope::everywhere(), slow(Duration::from_secs(60)));
    for publisher in [&strong, &weak] {
        world.publish(&**publisher, 7, 1_000);
    }
    let report = finish(&recorder);
    let account = crate::recorder_world::account;
    let found = topic(&report.topics, "/strong");
    assert_eq!(account(found), (10, 7, 0), "its heartbeats came");
    assert_eq!(found.statistics.unknown.open_publishers, 0);
    let found = topic(&report.topics, "/weak");
    assert_eq!(account(found), (10, 0, 0));
    assert_eq!(
        found.statistics.unknown.open_publishers, 1,
        "unknown, not zero"
    );
}

#[test]
fn a_publisher_that_vanishes_may_have_sent_more_than_it_announced() {
    let world = World::new();
    let [calm, troubled, mute] =
        ["/calm", "/troubled", "/mute"].map(|topic| world.publisher(&topic[1..], topic, RELIABLE));
    let recorder = world.record(world.options());
    world.publish(&*calm, 10, 1_000);
    world.publish(&*troubled, 10, 1_000);
    world.pass(100);
    let slow = Faults {
        delay: Duration::from_secs(60),
        ..Faults::NONE
    };
    world.network.set_faults(Scope::everywhere(), slow);
    world.publish(&*troubled, 7, 1_000);
    world.publish(&*mute, 3, 1_000);
    drop((calm, troubled));
    world.pass(100);
    let report = finish(&recorder);
    let found = |name| {
        let found = topic(&report.topics, name);
        let unknown = found.statistics.unknown;
        let account = crate::recorder_world::account(found);
        (account, unknown.before_first, unknown.open_publishers)
    };
    assert_eq!(found("/calm"), ((10, 0, 0), 0, 0), "all of it is here");
    assert_eq!(found("/troubled"), ((10, 7, 0), 0, 1));
    assert_eq!(found("/mute"), ((0, 0, 0), 3, 0), "none of it came");
    let written = &report.metadata.topics;
    for (record, status) in written.iter().zip(&report.topics) {
        let kept = record.statistics.unwrap().unknown;
        assert_eq!(kept, status.statistics.unknown, "{}", status.name);
    }
}

#[test]
fn the_end_waits_for_messages_in_flight() {
    let world = World::new();
    let strong = world.publisher("strong", "/strong", RELIABLE);
    let recorder = world.record(world.options());
    world.publish(&*strong, 10, 1_000);
    let late = Faults {
        delay: Duration::from_millis(100),
        ..Faults::NONE
    };
    world.network.set_faults(Scope::everywhere(), late);
    world.publish(&*strong, 7, 1_000);
    let report = finish(&recorder);
    let found = topic(&report.topics, "/strong");
    assert_eq!(crate::recorder_world::account(found), (17, 0, 0));
}
