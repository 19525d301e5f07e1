//! The last numbers that writers announce.

use serde_json::json;
use timeloom_testkit::transport::Collector;
use timeloom_wire::{Gid, NodeName, Participant as _};

use crate::local::{new_domain, participant, until};
use crate::peer::Peer;
use crate::python::{best_effort, node, publish, reliable, topic};

#[test]
fn a_reliable_writer_announces_its_last_number_and_a_best_effort_one_does_not() {
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
        // A reader skips the samples that a reliable writer sent before its first heartbeat.
        until("the writer is heard", || {
            !tells || subscription.last_announced(&gid).is_some()
        });
        let mut sent = 0;
        // A sample that is acknowledged early needs no heartbeat of its own: another one follows.
        until("the last number is announced", || {
            publish(&*publisher, 0, 100);
            sent += 1;
            if !tells {
                return collector.count() > 0;
            }
            until("it is here", || collector.count() == sent);
            subscription.last_announced(&gid) == Some(sent as u64)
        });
        let told = tells.then_some(sent as u64);
        drop(publisher);
        until("it is gone", || subscription.matched() == 0);
        assert_eq!(subscription.last_announced(&gid), told, "{name}: also then");
        assert_eq!(subscription.last_announced(&Gid::UNKNOWN), None);
    }
}

/// Unlike a writer that is closed, one whose process is killed may have sent more than it announced.
#[test]
fn the_lease_of_a_killed_writer_expires_and_that_of_a_closed_one_does_not() {
    let domain = new_domain();
    let soon = "<Discovery><LeaseDuration>1s</LeaseDuration></Discovery>";
    let Some(mut peer) = Peer::cyclone_with(domain, soon) else {
        return;
    };
    let collector = Collector::new();
    let node = node(domain);
    let subscription = node
        .subscribe(&topic("/data", reliable()), collector.clone())
        .unwrap();
    for name in ["closed", "killed"] {
        peer.ask(&json!({"do": "writer", "name": name, "topic": "rt/data"}));
        peer.ask(&json!({"do": "matched", "name": name, "count": 1}));
        peer.ask(&json!({"do": "write", "name": name, "size": 100, "marks": [1]}));
    }
    until("both are heard", || collector.count() == 2);
    let writers: Vec<Gid> = collector.samples().iter().map(|s| s.writer).collect();
    peer.ask(&json!({"do": "close", "name": "closed"}));
    until("one is gone", || subscription.matched() == 1);
    assert!(!subscription.is_lease_expired(&writers[0]));
    drop(peer);
    until("the other is gone", || subscription.matched() == 0);
    assert!(subscription.is_lease_expired(&writers[1]));
}

/// A number from before the request does not cover samples sent since: the writer may be gone.
#[test]
fn live_writers_answer_and_those_of_a_killed_process_do_not() {
    let domain = new_domain();
    let soon = "<Discovery><LeaseDuration>1s</LeaseDuration></Discovery>";
    let Some(mut peer) = Peer::cyclone_with(domain, soon) else {
        return;
    };
    let collector = Collector::new();
    let node = node(domain);
    let strong = node
        .subscribe(&topic("/data", reliable()), collector.clone())
        .unwrap();
    let quiet = node
        .subscribe(&topic("/quiet", reliable()), Collector::new())
        .unwrap();
    let watched = std::sync::Arc::new(std::sync::Mutex::new(None));
    let found = std::sync::Arc::clone(&watched);
    let participant = participant(domain);
    let _watch = participant.watch_graph(Box::new(move |event| {
        if let timeloom_wire::GraphEvent::EndpointChanged(info) = event
            && info.topic == "/quiet"
            && info.kind == timeloom_wire::EndpointKind::Publisher
        {
            *found.lock().unwrap() = Some(info.gid);
        }
    }));
    for (name, topic) in [("data", "rt/data"), ("quiet", "rt/quiet")] {
        peer.ask(&json!({"do": "writer", "name": name, "topic": topic}));
        peer.ask(&json!({"do": "matched", "name": name, "count": 1}));
    }
    peer.ask(&json!({"do": "write", "name": "data", "size": 100, "marks": [1, 2, 3]}));
    until("all of it is here", || collector.count() == 3);
    until("the quiet one is known", || {
        watched.lock().unwrap().is_some()
    });
    let writer = collector.samples()[0].writer;
    let silent = watched.lock().unwrap().unwrap();
    assert!(!strong.has_answered(&writer), "it was not queried");
    assert!(strong.request_last_numbers() && quiet.request_last_numbers());
    until("both answer", || {
        strong.has_answered(&writer) && quiet.has_answered(&silent)
    });
    assert_eq!(strong.last_announced(&writer), Some(3));
    assert_eq!(
        quiet.last_announced(&silent),
        Some(0),
        "it has sent nothing"
    );
    assert!(!strong.is_local(&writer) && strong.is_local(&strong.gid()));
    drop(peer);
    assert!(strong.request_last_numbers());
    until("the process is gone", || strong.matched() == 0);
    assert!(!strong.has_answered(&writer));
}
