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
    for (name, qos, tells) in [
        ("/strong", reliable(), true),
        ("/weak", best_effort(), false),
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
        let mut sent = 0;
        // A sample that is acknowledged early needs no heartbeat of its own: another one follows.
        until("the last number is told", || {
            publish(&*publisher, 0, 100);
            sent += 1;
            until("it is here", || collector.count() == sent);
            !tells || subscription.last_told(&gid) == Some(sent as u64)
        });
        let told = tells.then_some(sent as u64);
        drop(publisher);
        until("it is gone", || subscription.matched() == 0);
        assert_eq!(subscription.last_told(&gid), told, "{name}: also then");
        assert_eq!(subscription.last_told(&Gid::UNKNOWN), None);
    }
}
