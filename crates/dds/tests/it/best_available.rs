//! The policy "best available": decided by the endpoints that exist at creation.

use std::sync::Arc;

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, Reliability};
use timeloom_testkit::transport::Collector;
use timeloom_wire::{EndpointKind, Node, NodeName, Participant};

use crate::local::{Watched, new_domain, participant, until};
use crate::python::{best_effort, marks, node, publish, topic};

const BEST: QosProfile = QosProfile {
    reliability: Reliability::BestAvailable,
    durability: Durability::BestAvailable,
    ..QosProfile::DEFAULT
};
const LATCHED: QosProfile = QosProfile {
    durability: Durability::TransientLocal,
    ..QosProfile::DEFAULT
};

fn watcher(domain: u32) -> (Watched, Arc<dyn Node>) {
    let participant = participant(domain);
    let node = participant.node(NodeName::new("/", "adapting").unwrap());
    (Watched::new(participant), node.unwrap())
}

#[test]
fn a_subscription_requests_the_most_that_is_offered() {
    let domain = new_domain();
    let theirs = node(domain);
    let weak = theirs.publish(&topic("/weak", best_effort())).unwrap();
    let strong = theirs.publish(&topic("/strong", LATCHED)).unwrap();
    publish(&*strong, 7, 40);
    let (watched, ours) = watcher(domain);
    let seen = |name, kind| watched.on(name, kind).len();
    until("both are seen", || {
        seen("/weak", EndpointKind::Publisher) + seen("/strong", EndpointKind::Publisher) == 2
    });
    let collector = Collector::new();
    let subscribe = |name| {
        let receiver = Arc::clone(&collector) as _;
        ours.subscribe(&topic(name, BEST), receiver).unwrap()
    };
    let (first, second) = (subscribe("/weak"), subscribe("/strong"));
    until("both are matched", || {
        first.matched() == 1 && second.matched() == 1 && weak.matched() == 1
    });
    until("what was kept arrives", || marks(&collector) == [Some(7)]);
    let found = |name| watched.on(name, EndpointKind::Subscription).remove(0).qos;
    until("ours are seen", || {
        seen("/strong", EndpointKind::Subscription) == 1
    });
    assert_eq!(found("/weak").reliability, Reliability::BestEffort);
    assert_eq!(found("/strong").durability, Durability::TransientLocal);
}

#[test]
fn a_publisher_matches_every_subscription() {
    let domain = new_domain();
    let theirs = node(domain);
    let collector = Collector::new();
    let picky = theirs.subscribe(&topic("/data", LATCHED), Arc::clone(&collector) as _);
    let picky = picky.unwrap();
    let (_watched, ours) = watcher(domain);
    let publisher = ours.publish(&topic("/data", BEST)).unwrap();
    until("they come together", || {
        picky.matched() == 1 && publisher.matched() == 1
    });
    publish(&*publisher, 3, 40);
    until("a sample arrives", || marks(&collector) == [Some(3)]);
}
