//! Deadlines, liveliness, lifespan and leases, on virtual time.

use std::sync::Arc;

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Liveliness, QosDuration};
use timeloom_testkit::transport::{Collector, EventLog, payload};
use timeloom_time::Duration;
use timeloom_wire::loopback::LoopbackOptions;
use timeloom_wire::{EndpointEvent, EndpointKind, PublishOptions, WatchedGraph};

use crate::world::{LATCHED, TOPIC, World, numbers, publish, subscribe, topic};

fn millis(millis: u64) -> QosDuration {
    QosDuration::from_nanos(millis * 1_000_000)
}

fn missed(log: &EventLog) -> u64 {
    let total = |event: &EndpointEvent| match event {
        EndpointEvent::DeadlineMissed { total } => Some(*total),
        _ => None,
    };
    log.all().iter().rev().find_map(total).unwrap_or(0)
}

#[test]
fn a_missed_deadline_is_reported_to_both_sides_each_time() {
    let world = World::new();
    let (near, far) = (world.node("near"), world.node("far"));
    let qos = QosProfile {
        deadline: millis(100),
        ..QosProfile::DEFAULT
    };
    let log = EventLog::new();
    let publisher = near.publish_observed(&topic(qos), log.observer()).unwrap();
    let (_subscription, collector) = subscribe(&far, qos);
    world.pass(500);
    assert_eq!(
        (missed(&log), missed(&collector.events)),
        (0, 0),
        "nothing was promised yet"
    );
    for _ in 0..5 {
        publish(&*publisher, 1);
        world.pass(90);
    }
    assert_eq!((missed(&log), missed(&collector.events)), (0, 0));
    world.pass(250);
    assert_eq!((missed(&log), missed(&collector.events)), (3, 3));
}

#[test]
fn a_writer_with_manual_liveliness_loses_it_by_silence_and_regains_it() {
    let world = World::new();
    let (near, far) = (world.node("near"), world.node("far"));
    let qos = QosProfile {
        liveliness: Liveliness::ManualByTopic,
        liveliness_lease_duration: millis(100),
        ..QosProfile::DEFAULT
    };
    let log = EventLog::new();
    let publisher = near.publish_observed(&topic(qos), log.observer()).unwrap();
    let (_subscription, collector) = subscribe(&far, qos);
    for _ in 0..3 {
        world.pass(80);
        publisher.assert_liveliness().unwrap();
    }
    let lives = |log: &EventLog| -> Vec<_> {
        let life = |event: &EndpointEvent| match event {
            EndpointEvent::LivelinessChanged { alive, dead } => Some((*alive, *dead)),
            _ => None,
        };
        log.all().iter().filter_map(life).collect()
    };
    assert_eq!(lives(&collector.events), [(1, 0)]);
    world.pass(150);
    assert_eq!(lives(&collector.events), [(1, 0), (0, 1)]);
    assert_eq!(
        lives(&log),
        [(0, 1)],
        "the publisher hears that it is taken for dead"
    );
    publish(&*publisher, 1);
    world.pass(1);
    assert_eq!(lives(&collector.events), [(1, 0), (0, 1), (1, 0)]);
    drop(publisher);
    world.pass(1);
    assert_eq!(lives(&collector.events).last(), Some(&(0, 0)));
}

#[test]
fn a_sample_past_its_lifespan_is_not_delivered() {
    let world = World::new();
    let (near, far) = (world.node("near"), world.node("far"));
    let qos = QosProfile {
        lifespan: millis(100),
        ..LATCHED
    };
    let publisher = near.publish(&topic(qos)).unwrap();
    publish(&*publisher, 2);
    world.pass(60);
    publish(&*publisher, 1);
    world.pass(60);
    let (subscription, collector) = subscribe(&far, LATCHED);
    world.pass(1);
    assert_eq!(numbers(&collector), [3], "the first two are too old");
    // Samples expire while a slow receiver is busy.
    let faults = timeloom_wire::loopback::Faults {
        slow_receiver: Duration::from_millis(70),
        ..timeloom_wire::loopback::Faults::NONE
    };
    world
        .network
        .set_faults(timeloom_wire::loopback::Scope::everywhere(), faults);
    publish(&*publisher, 3);
    world.pass(500);
    assert_eq!(numbers(&collector), [3, 4, 5]);
    let account = world.network.account(publisher.gid(), subscription.gid());
    assert_eq!(account.unwrap().expired, 1);
}

#[test]
fn a_killed_participant_is_removed_after_its_lease() {
    let lease = Duration::from_secs(3);
    let world = World::with(LoopbackOptions {
        lease,
        ..LoopbackOptions::default()
    });
    let (doomed, far) = (world.node("doomed"), world.node("far"));
    let watcher = world.participant("watcher");
    let graph = WatchedGraph::new(&*watcher);
    let qos = QosProfile {
        liveliness_lease_duration: millis(1_000),
        ..LATCHED
    };
    let publisher = doomed.publish(&topic(qos)).unwrap();
    let (subscription, collector) = subscribe(&far, LATCHED);
    publish(&*publisher, 2);
    world.pass(10);
    assert_eq!(world.network.kill("doomed"), 1);
    let refused = publisher.publish(payload(9, 4), PublishOptions::default());
    assert!(refused.is_err(), "the dead do not speak");
    // Dropping the objects of a killed participant sends no farewell either.
    drop((publisher, doomed));
    let there = || {
        let graph = graph.lock();
        (
            graph
                .nodes()
                .filter(|(node, _)| node.name() == "doomed")
                .count(),
            graph.on(TOPIC, EndpointKind::Publisher).count(),
        )
    };
    world.pass(1_500);
    assert_eq!(there(), (1, 1), "others still believe in it");
    assert_eq!(subscription.matched(), 1);
    let dead = EndpointEvent::LivelinessChanged { alive: 0, dead: 1 };
    assert!(
        collector.events.any(|event| *event == dead),
        "its liveliness lease is over"
    );
    world.pass(2_000);
    assert_eq!(there(), (0, 0));
    assert_eq!(subscription.matched(), 0);
    assert_eq!(collector.events.last_matched(), 0);
    assert_eq!(numbers(&collector), [1, 2]);
}

#[test]
fn samples_sent_before_the_publisher_was_dropped_still_arrive() {
    let world = World::new();
    let (near, far) = (world.node("near"), world.node("far"));
    let publisher = near.publish(&topic(LATCHED)).unwrap();
    let collector = Collector::new();
    let subscription = far
        .subscribe(&topic(LATCHED), Arc::clone(&collector) as _)
        .unwrap();
    publish(&*publisher, 5);
    let writer = publisher.gid();
    drop(publisher);
    world.pass(1);
    assert_eq!(numbers(&collector), [1, 2, 3, 4, 5]);
    let account = world.network.account(writer, subscription.gid()).unwrap();
    assert_eq!((account.delivered, account.waiting), (5, 0));
}
