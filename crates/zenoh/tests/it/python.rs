//! Both directions with eclipse-zenoh from `PyPI`, as another process.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use timeloom_msg::QosProfile;
use timeloom_msg::qos::Durability;
use timeloom_testkit::transport::Collector;
use timeloom_time::TimeBase;
use timeloom_wire::{
    Caller, EndpointKind, Participant as _, Request, RequestHandler, ServiceServer,
};

use crate::blob::{add_service, best_effort, marks, node, of, on, publish, reliable, topic, with};
use crate::local::{PATIENCE, Watched, participant, router, until};
use crate::peer::Peer;

fn from_peer(qos: QosProfile, size: usize, count: u32) {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let ours = participant(&at);
    let watched = Watched::new(ours.clone());
    let node = ours
        .node(timeloom_wire::NodeName::new("/", "ours").unwrap())
        .unwrap();
    let collector = Collector::new();
    let subscription = node
        .subscribe(&topic("/data", qos), Arc::clone(&collector) as _)
        .unwrap();
    let reliable = qos.reliability == QosProfile::DEFAULT.reliability;
    // Nothing may be lost here, so best effort waits for the network as well.
    let more = json!({"reliable": reliable, "keep_all": true});
    peer.ask(&with(on("publisher", "p", "/data"), &more));
    until("the publisher is matched", || subscription.matched() == 1);
    peer.ask(&json!({"do": "matched", "name": "p"}));
    until("the publisher is in the graph", || {
        !watched.on("/data", EndpointKind::Publisher).is_empty()
    });
    let gid = watched.on("/data", EndpointKind::Publisher)[0].gid;
    let hex = gid.to_string().replace('.', "");
    peer.ask(
        &json!({"do": "publish", "name": "p", "size": size, "gid": hex,
        "marks": (0..count).collect::<Vec<_>>()}),
    );
    until("all samples arrive", || collector.count() >= count as usize);
    assert_eq!(marks(&collector), (0..count).map(Some).collect::<Vec<_>>());
    for (number, sample) in (1..).zip(collector.samples()) {
        assert_eq!((sample.sequence, sample.writer), (Some(number), gid));
        assert!(
            sample
                .source_time
                .is_some_and(|time| time <= sample.receive_time)
        );
    }
}

fn to_peer(qos: QosProfile, size: usize, count: u32) {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let publisher = node(&at).publish(&topic("/data", qos)).unwrap();
    peer.ask(&on("subscriber", "s", "/data"));
    until("the subscriber is matched", || publisher.matched() == 1);
    let gid = publisher.gid().to_string().replace('.', "");
    for mark in 0..count {
        publish(&*publisher, mark, size);
        if qos.reliability != QosProfile::DEFAULT.reliability {
            // One at a time, so that none is dropped.
            peer.ask(&json!({"do": "take", "name": "s", "count": mark + 1}));
        }
    }
    let got = peer.ask(&json!({"do": "take", "name": "s", "count": count}));
    let wanted: Vec<Value> = (0..count)
        .map(|mark| json!([mark, mark + 1, gid]))
        .collect();
    assert_eq!(got, json!(wanted));
}

#[test]
fn reliable_samples_of_100_bytes_come_from_a_peer() {
    from_peer(reliable(), 100, 50);
}

#[test]
fn reliable_samples_of_1_mb_come_from_a_peer() {
    from_peer(reliable(), 1_000_000, 5);
}

#[test]
fn reliable_samples_of_8_mb_come_from_a_peer() {
    from_peer(reliable(), 8_000_000, 2);
}

#[test]
fn best_effort_samples_of_100_bytes_come_from_a_peer() {
    from_peer(best_effort(), 100, 50);
}

/// A busy peer drops large samples, so it sends until one arrives complete.
#[test]
fn large_best_effort_samples_come_from_a_peer() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let node = node(&at);
    for size in [1_000_000, 8_000_000] {
        let name = format!("/data{size}");
        let collector = Collector::new();
        let subscription = node
            .subscribe(&topic(&name, best_effort()), Arc::clone(&collector) as _)
            .unwrap();
        let more = json!({"reliable": false, "keep_all": true});
        peer.ask(&with(on("publisher", &name, &name), &more));
        until("the publisher is matched", || subscription.matched() == 1);
        peer.ask(&json!({"do": "matched", "name": name}));
        let mut mark = 0;
        until("a sample arrives", || {
            peer.ask(&json!({"do": "publish", "name": name, "size": size, "marks": [mark]}));
            mark += 1;
            collector.count() > 0
        });
        assert!(marks(&collector)[0].is_some(), "{size}");
    }
}

#[test]
fn reliable_samples_of_100_bytes_go_to_a_peer() {
    to_peer(reliable(), 100, 50);
}

#[test]
fn reliable_samples_of_1_mb_go_to_a_peer() {
    to_peer(reliable(), 1_000_001, 5);
}

#[test]
fn reliable_samples_of_8_mb_go_to_a_peer() {
    to_peer(reliable(), 8_000_000, 2);
}

#[test]
fn best_effort_samples_go_to_a_peer() {
    to_peer(best_effort(), 100, 20);
}

/// Samples that do not fit into the socket may be dropped, so they are sent until one arrives complete.
#[test]
fn large_best_effort_samples_go_to_a_peer() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let node = node(&at);
    for size in [1_000_000, 8_000_000] {
        let name = format!("/data{size}");
        let publisher = node.publish(&topic(&name, best_effort())).unwrap();
        peer.ask(&on("subscriber", &name, &name));
        until("the subscriber is matched", || publisher.matched() == 1);
        let mut got = json!([]);
        let mut mark = 0;
        until("a sample arrives", || {
            publish(&*publisher, mark, size);
            mark += 1;
            got = peer.ask(&json!({"do": "take", "name": name, "count": 0}));
            !got.as_array().unwrap().is_empty()
        });
        assert!(got[0][0].is_u64(), "{size}: {got}");
    }
}

fn latched(depth: u64) -> QosProfile {
    QosProfile {
        durability: Durability::TransientLocal,
        depth,
        ..QosProfile::DEFAULT
    }
}

#[test]
fn a_late_joiner_gets_the_samples_that_a_peer_kept() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    peer.ask(&with(
        on("publisher", "p", "/map"),
        &json!({"latched": 5, "qos": ":1:,5:,:,:,,"}),
    ));
    peer.ask(
        &json!({"do": "publish", "name": "p", "size": 64, "marks": (0..12).collect::<Vec<_>>()}),
    );
    let collector = Collector::new();
    let subscription =
        node(&at).subscribe(&topic("/map", latched(20)), Arc::clone(&collector) as _);
    until("what was kept arrives", || collector.count() >= 5);
    peer.ask(&json!({"do": "publish", "name": "p", "size": 64, "marks": [12]}));
    until("the new one arrives", || collector.count() >= 6);
    assert_eq!(marks(&collector), (7..13).map(Some).collect::<Vec<_>>());
    drop(subscription);
}

#[test]
fn a_peer_that_joins_late_gets_the_samples_that_we_kept() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let publisher = node(&at).publish(&topic("/map", latched(5))).unwrap();
    for mark in 0..12 {
        publish(&*publisher, mark, 64);
    }
    peer.ask(&with(
        on("subscriber", "s", "/map"),
        &json!({"latched": 20}),
    ));
    let got = peer.ask(&json!({"do": "take", "name": "s", "count": 5}));
    publish(&*publisher, 12, 64);
    let all = peer.ask(&json!({"do": "take", "name": "s", "count": 6}));
    let marks = |got: &Value| {
        got.as_array()
            .unwrap()
            .iter()
            .map(|one| one[0].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(marks(&got), (7..12).collect::<Vec<_>>());
    assert_eq!(marks(&all), (7..13).collect::<Vec<_>>());
}

/// Adds two numbers.
pub(crate) struct Adder;

impl RequestHandler for Adder {
    fn request(&self, request: Request, server: &dyn ServiceServer) {
        let number = |at: usize| i64::from_le_bytes(*request.payload[at..].first_chunk().unwrap());
        let mut answer = vec![0, 1, 0, 0];
        answer.extend((number(4) + number(12)).to_le_bytes());
        server.reply(&request.id, answer.into()).unwrap();
    }
}

fn two(a: i64, b: i64) -> Bytes {
    [&[0, 1, 0, 0][..], &a.to_le_bytes(), &b.to_le_bytes()]
        .concat()
        .into()
}

/// Calls and expects the sum.
pub(crate) fn adds(caller: &Caller, a: i64, b: i64) {
    let answer = caller.call(two(a, b), PATIENCE).unwrap();
    assert_eq!(answer[4..], (a + b).to_le_bytes());
}

#[test]
fn a_call_of_a_peer_is_answered() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let node = node(&at);
    let _server = node.serve(&add_service("/add"), Arc::new(Adder)).unwrap();
    peer.ask(&of("client", "/add"));
    peer.ask(&json!({"do": "tokens", "with": "/SS/", "count": 1}));
    for (a, b) in [(1, 2), (40, 2), (-7, 7)] {
        let sums = peer.ask(&json!({"do": "call", "name": "client", "a": a, "b": b}));
        assert_eq!(sums, json!([a + b]));
    }
}

#[test]
fn a_peer_answers_our_call() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let node = node(&at);
    let caller = Caller::new(&*node, &add_service("/add"), &TimeBase::machine()).unwrap();
    assert_eq!(caller.client().servers(), 0);
    peer.ask(&of("server", "/add"));
    assert!(caller.wait_for_server(PATIENCE));
    for (a, b) in [(1, 2), (40, 2), (-7, 7)] {
        adds(&caller, a, b);
    }
    peer.ask(&json!({"do": "drop", "name": "server"}));
    until("the server is gone", || caller.client().servers() == 0);
}
