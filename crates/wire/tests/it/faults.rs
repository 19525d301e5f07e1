//! Faults on demand, and complete accounts of them.

use timeloom_time::Duration;
use timeloom_wire::loopback::{Chance, Connection, Faults, LoopbackOptions, Scope};
use timeloom_wire::queue::QueueLimits;
use timeloom_wire::{Caller, Error, LossTracker, PublishOptions, SequenceStep};

use crate::world::{
    BEST_EFFORT, KEEP_ALL, TOPIC, World, numbers, publish, service, subscribe, topic,
};
use timeloom_msg::QosProfile;
use timeloom_testkit::transport::payload;

#[test]
fn every_third_best_effort_sample_is_lost_and_shows_as_a_gap() {
    let world = World::new();
    let (near, far) = (world.node("near"), world.node("far"));
    world.network.set_faults(
        Scope::topic(TOPIC),
        Faults {
            drop: Chance::EveryNth(3),
            ..Faults::NONE
        },
    );
    let publisher = near.publish(&topic(BEST_EFFORT)).unwrap();
    let (_subscription, collector) = subscribe(&far, BEST_EFFORT);
    publish(&*publisher, 10);
    world.pass(1);
    assert_eq!(numbers(&collector), [1, 2, 4, 5, 7, 8, 10]);
}

#[test]
fn a_sample_dropped_on_a_reliable_link_arrives_later_and_in_order() {
    let world = World::new();
    let (near, far) = (world.node("near"), world.node("far"));
    world.network.set_faults(
        Scope::everywhere(),
        Faults {
            drop: Chance::Fraction(0.4),
            duplicate: Chance::EveryNth(2),
            ..Faults::NONE
        },
    );
    let publisher = near.publish(&topic(KEEP_ALL)).unwrap();
    let (_subscription, collector) = subscribe(&far, KEEP_ALL);
    publish(&*publisher, 100);
    assert!(
        !publisher
            .wait_for_acknowledgements(Duration::from_nanos(1))
            .unwrap()
    );
    assert!(
        publisher
            .wait_for_acknowledgements(Duration::from_secs(5))
            .unwrap()
    );
    world.pass(1);
    assert_eq!(numbers(&collector), (1..=100).collect::<Vec<_>>());
}

#[test]
fn a_delay_shows_in_the_receive_time() {
    let world = World::new();
    let (near, far) = (world.node("near"), world.node("far"));
    let delay = Duration::from_millis(30);
    world.network.set_faults(
        Scope::between("near", "far"),
        Faults {
            delay,
            ..Faults::NONE
        },
    );
    let publisher = near.publish(&topic(KEEP_ALL)).unwrap();
    let (_subscription, collector) = subscribe(&far, KEEP_ALL);
    publish(&*publisher, 1);
    world.pass(29);
    assert_eq!(collector.count(), 0);
    world.pass(2);
    let sample = &collector.samples()[0];
    assert_eq!(sample.receive_time - sample.source_time.unwrap(), delay);
}

#[test]
fn jitter_keeps_the_order_and_reordering_does_not() {
    let world = World::new();
    let (near, far) = (world.node("near"), world.node("far"));
    let jitter = Faults {
        jitter: Duration::from_millis(50),
        ..Faults::NONE
    };
    world.network.set_faults(Scope::everywhere(), jitter);
    let publisher = near.publish(&topic(BEST_EFFORT)).unwrap();
    let (_subscription, collector) = subscribe(&far, BEST_EFFORT);
    for _ in 0..20 {
        publish(&*publisher, 1);
        world.pass(5);
    }
    world.pass(100);
    assert_eq!(numbers(&collector), (1..=20).collect::<Vec<_>>());
    world.network.set_faults(
        Scope::everywhere(),
        Faults {
            reorder: Chance::EveryNth(5),
            reorder_by: Duration::from_millis(12),
            ..Faults::NONE
        },
    );
    for _ in 0..10 {
        publish(&*publisher, 1);
        world.pass(5);
    }
    world.pass(100);
    assert_eq!(
        numbers(&collector)[20..],
        [21, 22, 23, 24, 26, 27, 25, 28, 29, 30]
    );
    let mut losses = LossTracker::default();
    let steps: Vec<_> = numbers(&collector)[20..]
        .iter()
        .map(|number| losses.sample(publisher.gid(), *number))
        .collect();
    assert_eq!(
        steps[4..7],
        [SequenceStep::Gap(1), SequenceStep::Next, SequenceStep::Late]
    );
    assert_eq!(losses.lost(), 0);
}

#[test]
fn duplicates_come_twice_on_best_effort() {
    let world = World::new();
    let (near, far) = (world.node("near"), world.node("far"));
    world.network.set_faults(
        Scope::everywhere(),
        Faults {
            duplicate: Chance::EveryNth(2),
            ..Faults::NONE
        },
    );
    let publisher = near.publish(&topic(BEST_EFFORT)).unwrap();
    let (_subscription, collector) = subscribe(&far, BEST_EFFORT);
    publish(&*publisher, 4);
    world.pass(1);
    assert_eq!(numbers(&collector), [1, 2, 2, 3, 4, 4]);
}

#[test]
fn a_partition_stops_best_effort_and_only_delays_reliable_within_the_history() {
    let world = World::new();
    let (near, far) = (world.node("near"), world.node("far"));
    let last_three = QosProfile {
        depth: 3,
        ..QosProfile::DEFAULT
    };
    let weak = near.publish(&topic(BEST_EFFORT)).unwrap();
    let strong = near.publish(&topic(last_three)).unwrap();
    let (_one, heard) = subscribe(&far, BEST_EFFORT);
    let (_two, kept) = subscribe(&far, KEEP_ALL);
    let link = |connection| {
        let faults = Faults {
            connection,
            ..Faults::NONE
        };
        world
            .network
            .set_faults(Scope::between("near", "far"), faults);
    };
    link(Connection::Down);
    publish(&*weak, 5);
    publish(&*strong, 5);
    world.pass(100);
    assert_eq!((heard.count(), kept.count()), (0, 0));
    assert!(
        !strong
            .wait_for_acknowledgements(Duration::from_millis(50))
            .unwrap()
    );
    assert_eq!(strong.matched(), 2, "a partition changes no graph");
    link(Connection::Up);
    assert!(
        strong
            .wait_for_acknowledgements(Duration::from_millis(50))
            .unwrap()
    );
    world.pass(1);
    assert_eq!(numbers(&kept), [3, 4, 5], "as many as the writer keeps");
    assert!(
        heard
            .samples()
            .iter()
            .all(|sample| sample.writer != weak.gid())
    );
}

#[test]
fn a_slow_receiver_overflows_and_every_loss_is_counted() {
    let world = World::new();
    let (near, far) = (world.node("near"), world.node("far"));
    world.network.set_faults(
        Scope::everywhere(),
        Faults {
            slow_receiver: Duration::from_millis(10),
            ..Faults::NONE
        },
    );
    let two = QosProfile {
        depth: 2,
        ..QosProfile::DEFAULT
    };
    let publisher = near.publish(&topic(QosProfile::DEFAULT)).unwrap();
    let (subscription, collector) = subscribe(&far, two);
    for _ in 0..40 {
        publish(&*publisher, 1);
        world.pass(2);
    }
    world.pass(100);
    let account = world
        .network
        .account(publisher.gid(), subscription.gid())
        .unwrap();
    assert_eq!(account.sent, 40);
    assert_eq!(account.delivered, collector.count() as u64);
    assert!(account.overflowed > 20, "{account:?}");
    assert_eq!(account.delivered + account.overflowed, 40);
    assert_eq!(
        numbers(&collector).last(),
        Some(&40),
        "keep last keeps the last"
    );
    assert_eq!(collector.paused_at(), collector.count());
}

#[test]
fn a_reader_s_queue_is_bounded_in_bytes() {
    let limits = QueueLimits {
        messages: 1_000,
        bytes: 10_000,
    };
    let world = World::with(LoopbackOptions {
        limits,
        ..LoopbackOptions::default()
    });
    let (near, far) = (world.node("near"), world.node("far"));
    let deep = QosProfile {
        depth: 500,
        ..BEST_EFFORT
    };
    let deep = QosProfile {
        history: timeloom_msg::qos::History::KeepLast,
        ..deep
    };
    let publisher = near.publish(&topic(deep)).unwrap();
    let (subscription, collector) = subscribe(&far, deep);
    for mark in 0..100 {
        let options = PublishOptions::default();
        publisher.publish(payload(mark, 996), options).unwrap();
    }
    world.pass(1);
    assert_eq!(numbers(&collector), (91..=100).collect::<Vec<_>>());
    let account = world.network.account(publisher.gid(), subscription.gid());
    assert_eq!(account.unwrap().overflowed, 90);
}

#[test]
fn a_writer_that_keeps_all_waits_for_room_and_then_gives_up() {
    let limits = QueueLimits {
        messages: 5,
        bytes: 1 << 20,
    };
    let world = World::with(LoopbackOptions {
        limits,
        ..LoopbackOptions::default()
    });
    let (near, far) = (world.node("near"), world.node("far"));
    let publisher = near.publish(&topic(KEEP_ALL)).unwrap();
    let (_subscription, collector) = subscribe(&far, KEEP_ALL);
    publish(&*publisher, 50);
    world.pass(1);
    assert_eq!(
        numbers(&collector),
        (1..=50).collect::<Vec<_>>(),
        "nothing is lost"
    );
    let faults = Faults {
        connection: Connection::Down,
        ..Faults::NONE
    };
    world.network.set_faults(Scope::everywhere(), faults);
    publish(&*publisher, 5);
    let before = world.clock.now();
    let refused = publisher.publish(payload(0, 4), PublishOptions::default());
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    assert_eq!(
        world.clock.now() - before,
        LoopbackOptions::default().max_blocking
    );
    world.network.set_faults(Scope::everywhere(), Faults::NONE);
    publish(&*publisher, 1);
    world.pass(1);
    assert_eq!(
        numbers(&collector),
        (1..=56).collect::<Vec<_>>(),
        "what was refused has no number"
    );
}

#[test]
fn the_last_rule_applies_and_rules_can_be_removed() {
    let world = World::new();
    let (near, far) = (world.node("near"), world.node("far"));
    let publisher = near.publish(&topic(BEST_EFFORT)).unwrap();
    let (subscription, collector) = subscribe(&far, BEST_EFFORT);
    let all = Faults {
        drop: Chance::Fraction(1.0),
        ..Faults::NONE
    };
    world.network.set_faults(Scope::topic(TOPIC), all);
    publish(&*publisher, 1);
    let link = Scope::link(publisher.gid(), subscription.gid());
    world.network.set_faults(link, Faults::NONE);
    publish(&*publisher, 1);
    world.network.set_faults(Scope::topic(TOPIC), all);
    publish(&*publisher, 1);
    world.network.set_faults(Scope::topic(TOPIC), Faults::NONE);
    publish(&*publisher, 1);
    world.pass(1);
    assert_eq!(numbers(&collector), [2, 4]);
}

#[test]
fn calls_are_delayed_and_cut_off_like_samples() {
    struct Echo;
    impl timeloom_wire::RequestHandler for Echo {
        fn request(
            &self,
            request: timeloom_wire::Request,
            server: &dyn timeloom_wire::ServiceServer,
        ) {
            server.reply(&request.id, request.payload).expect("a reply");
        }
    }
    let world = World::new();
    let (near, far) = (world.node("near"), world.node("far"));
    let _server = far.serve(&service(), std::sync::Arc::new(Echo)).unwrap();
    let caller = Caller::new(&*near, &service(), &world.time.base()).unwrap();
    let delay = Duration::from_millis(40);
    world.network.set_faults(
        Scope::everywhere(),
        Faults {
            delay,
            ..Faults::NONE
        },
    );
    let begin = world.clock.now();
    caller.call(payload(1, 4), Duration::from_secs(1)).unwrap();
    let took = world.clock.now() - begin;
    assert!(
        took >= delay + delay && took < delay + delay + Duration::from_millis(1),
        "{took}"
    );
    let begin = world.clock.now();
    let late = caller.call(payload(2, 4), delay).unwrap_err();
    assert_eq!(late.to_string(), "no answer from `/service` within 40ms");
    assert_eq!(world.clock.now() - begin, delay);
    // The late reply belongs to no pending call.
    world.pass(100);
    caller.call(payload(3, 4), Duration::from_secs(1)).unwrap();
}
