//! Peers that send malformed data.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;

use serde_json::json;
use timeloom_testkit::transport::Collector;
use timeloom_time::TimeBase;
use timeloom_wire::{Caller, NodeName, Participant as _};
use timeloom_zenoh::{NoteKind, ZenohParticipant};

use crate::blob::{HASH, TYPE, add_service, marks, of, on, reliable, topic, with};
use crate::local::{Watched, participant, router, until};
use crate::peer::Peer;
use crate::python::{Adder, adds};

fn noted(participant: &ZenohParticipant, kind: NoteKind) -> u64 {
    let notes = participant.notes();
    let of_kind = notes.iter().filter(|note| note.kind == kind);
    of_kind.map(|note| note.total).sum()
}

#[test]
fn malformed_tokens_are_counted_and_do_no_harm() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let ours = participant(&at);
    let watched = Watched::new(ours.clone());
    let end = format!("%a/{TYPE}/{HASH}");
    let long = "x".repeat(5_000);
    let bad = [
        "@ros2_lv/0/nonsense".to_owned(),
        "@ros2_lv/0/ab/0/0/NN/%/%/1st".to_owned(),
        "@ros2_lv/0/ab/0/0/ZZ/%/%/name".to_owned(),
        "@ros2_lv/0/ab/0/-7/NN/%/%/name".to_owned(),
        "@ros2_lv/0/ab/0/1/MP/%/%/name".to_owned(),
        format!("@ros2_lv/0/ab/0/1/MP/%/%/name/{end}/9::,:,:,:,,"),
        format!("@ros2_lv/0/ab/0/1/MP/%/%/name/{end}/::,99999999999999999999:,:,:,,"),
        format!("@ros2_lv/0/ab/0/0/NN/%/%/{long}"),
    ];
    peer.ask(&json!({"do": "token", "keys": bad}));
    peer.ask(&on("publisher", "p", "/good"));
    until("the good one is seen", || watched.endpoints() == 1);
    until("the bad ones are noted", || {
        noted(&ours, NoteKind::MalformedToken) >= bad.len() as u64
    });
    assert_eq!(watched.node_names(), ["/peer"]);
    assert!(ours.notes().iter().all(|note| note.text.len() <= 500));
}

#[test]
fn samples_without_the_attachment_of_ros_are_counted_and_dropped() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let ours = participant(&at);
    let node = ours.node(NodeName::new("/", "ours").unwrap()).unwrap();
    let collector = Collector::new();
    let _subscription = node
        .subscribe(&topic("/data", reliable()), Arc::clone(&collector) as _)
        .unwrap();
    peer.ask(&on("publisher", "p", "/data"));
    peer.ask(&json!({"do": "matched", "name": "p"}));
    let key = format!("0/data/{TYPE}/{HASH}");
    let whole = format!("{}10{}", "01".repeat(16), "07".repeat(16));
    let odd = [
        json!({"payload": "00010000"}),
        json!({"payload": "00010000", "attachment": ""}),
        json!({"payload": "00010000", "attachment": "01".repeat(32)}),
        json!({"payload": "00010000", "attachment": format!("{}ff{}", "01".repeat(16), "07".repeat(16))}),
        json!({"payload": "", "attachment": whole}),
        json!({"payload": "000100", "attachment": whole}),
    ];
    for odd in &odd {
        peer.ask(&with(json!({"do": "put", "key": key}), odd));
    }
    peer.ask(&json!({"do": "publish", "name": "p", "size": 8, "marks": [1]}));
    until("the good one arrives", || collector.count() == 1);
    assert_eq!(marks(&collector), [Some(1)]);
    assert_eq!(noted(&ours, NoteKind::MalformedSample), odd.len() as u64);
}

#[test]
fn impossible_numbers_and_times_do_no_harm() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let ours = participant(&at);
    let node = ours.node(NodeName::new("/", "ours").unwrap()).unwrap();
    let collector = Collector::new();
    let _subscription = node
        .subscribe(&topic("/data", reliable()), Arc::clone(&collector) as _)
        .unwrap();
    peer.ask(&on("publisher", "p", "/data"));
    peer.ask(&json!({"do": "matched", "name": "p"}));
    let key = format!("0/data/{TYPE}/{HASH}");
    let extremes = [i64::MIN, -1, 0, i64::MAX];
    for number in extremes {
        let hex = format!("{:016x}", number.swap_bytes());
        let attachment = format!("{hex}{hex}10{}", "07".repeat(16));
        peer.ask(
            &json!({"do": "put", "key": key, "payload": "00010000", "attachment": attachment}),
        );
    }
    until("all arrive", || collector.count() == extremes.len());
    let numbers: Vec<_> = collector
        .samples()
        .iter()
        .map(|sample| sample.sequence)
        .collect();
    assert_eq!(
        numbers,
        [None, None, Some(0), Some(i64::MAX.unsigned_abs())]
    );
}

#[test]
fn requests_without_the_attachment_of_ros_are_counted_and_the_next_is_answered() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let ours = participant(&at);
    let node = ours.node(NodeName::new("/", "ours").unwrap()).unwrap();
    let _server = node.serve(&add_service("/add"), Arc::new(Adder)).unwrap();
    let client = of("client", "/add");
    peer.ask(&client);
    peer.ask(&json!({"do": "tokens", "with": "/SS/", "count": 1}));
    let key = format!(
        "0/add/{}/{}",
        client["type"].as_str().unwrap(),
        client["hash"].as_str().unwrap()
    );
    let whole = format!("{}10{}", "01".repeat(16), "07".repeat(16));
    let odd = [
        json!({}),
        json!({"payload": "00010000"}),
        json!({"payload": "00010000", "attachment": "0102"}),
        json!({"attachment": whole}),
        json!({"payload": "00", "attachment": whole}),
    ];
    for odd in &odd {
        let replies = peer.ask(&with(json!({"do": "get", "key": key}), odd));
        assert_eq!(replies, 0, "{odd}");
    }
    assert_eq!(
        peer.ask(&json!({"do": "call", "name": "client", "a": 40, "b": 2})),
        json!([42])
    );
    assert_eq!(noted(&ours, NoteKind::MalformedRequest), odd.len() as u64);
}

#[test]
fn replies_to_other_clients_are_counted_and_the_right_one_is_delivered() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let ours = participant(&at);
    let node = ours.node(NodeName::new("/", "ours").unwrap()).unwrap();
    peer.ask(&with(
        of("server", "/add"),
        &json!({"before": [null, "0102"], "stranger": true}),
    ));
    let caller = Caller::new(&*node, &add_service("/add"), &TimeBase::machine()).unwrap();
    until("the server is seen", || caller.client().servers() == 1);
    adds(&caller, 40, 2);
    assert_eq!(noted(&ours, NoteKind::MalformedReply), 3);
}

#[test]
fn the_server_continues_after_a_panic_in_its_handler() {
    struct Panics;
    impl timeloom_wire::RequestHandler for Panics {
        fn request(&self, _: timeloom_wire::Request, _: &dyn timeloom_wire::ServiceServer) {
            panic!("on purpose");
        }
    }
    let (_router, at) = router();
    let ours = participant(&at);
    let node = ours.node(NodeName::new("/", "ours").unwrap()).unwrap();
    let _bad = node.serve(&add_service("/bad"), Arc::new(Panics)).unwrap();
    let _good = node.serve(&add_service("/good"), Arc::new(Adder)).unwrap();
    let base = TimeBase::machine();
    let bad = Caller::new(&*node, &add_service("/bad"), &base).unwrap();
    let good = Caller::new(&*node, &add_service("/good"), &base).unwrap();
    bad.client()
        .call(bytes::Bytes::from_static(&[0; 20]))
        .unwrap();
    adds(&good, 1, 2);
    assert_eq!(noted(&ours, NoteKind::Panicked), 1);
}

#[test]
fn bytes_that_are_not_zenoh_close_only_their_connection() {
    let (_router, at) = router();
    let ours = participant(&at);
    let endpoint = ours.endpoints().remove(0);
    let address = endpoint.strip_prefix("tcp/").unwrap();
    for garbage in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &vec![0xff; 70_000],
        &[0; 1_000],
        &[],
    ] {
        let mut stream = TcpStream::connect(address).unwrap();
        // It may be closed before all is written.
        stream.write_all(garbage).ok();
    }
    let watched = Watched::new(participant(&at));
    let _node = ours.node(NodeName::new("/", "ours").unwrap()).unwrap();
    until("we are still seen", || watched.node_names() == ["/ours"]);
}

#[test]
fn a_flood_of_tokens_appears_and_disappears() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let watched = Watched::new(participant(&at));
    let tokens: Vec<String> = (0..1_000)
        .map(|number| format!("@ros2_lv/0/ab/{number}/{number}/NN/%/%/node{number}"))
        .collect();
    peer.ask(&json!({"do": "token", "keys": tokens}));
    until("all are seen", || watched.node_names().len() == 1_001);
    peer.kill();
    until("all are gone", || watched.node_names().is_empty());
}
