//! What writers say of their last number.

use timeloom_testkit::transport::Collector;
use timeloom_wire::{Gid, NodeName, Participant as _};

use crate::local::{new_domain, participant, until};
use crate::python::{best_effort, publish, reliable, topic};

#[test]
fn a_reliable_writer_says_what_its_last_number_is_and_a_best_effort_one_does_not() {
    let domain = new_domain();
    let node = |name: &str| {
        let name = NodeName::new("/", name).unwrap();
        participant(domain).node(name).unwrap()
    };
    let (sender, receiver) = (node("sender"), node("receiver"));
    for (name, qos, told) in [
        ("/strong", reliable(), Some(5)),
        ("/weak", best_effort(), None),
    ] {
        let collector = Collector::new();
        let subscription = receiver
            .subscribe(&topic(name, qos), collector.clone())
            .unwrap();
        let publisher = sender.publish(&topic(name, qos)).unwrap();
        until("both know each other", || {
            publisher.matched() == 1 && subscription.matched() == 1
        });
        let gid = publisher.gid();
        for mark in 0..5 {
            publish(&*publisher, mark, 100);
        }
        until("all are here", || collector.count() == 5);
        if told.is_some() {
            until("it was told", || subscription.last_told(&gid) == told);
        }
        drop(publisher);
        until("it is gone", || subscription.matched() == 0);
        assert_eq!(
            subscription.last_told(&gid),
            told,
            "{name}: also when it is gone"
        );
        assert_eq!(subscription.last_told(&Gid::UNKNOWN), None);
    }
}
