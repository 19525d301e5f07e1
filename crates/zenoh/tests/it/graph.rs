//! The graph, as peers see us and we see them.

use serde_json::json;
use std::sync::Arc;
use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, History, Liveliness, QosDuration, Reliability};
use timeloom_testkit::transport::Collector;
use timeloom_wire::{EndpointKind, NodeName, Participant as _, ReplyReceiver};

use crate::blob::{HASH, TYPE, add_service, of, on, topic, with};
use crate::local::{Watched, options, participant, router, until};
use crate::peer::Peer;
use crate::python::Adder;
use timeloom_zenoh::{Options, ZenohParticipant};

struct IgnoreReplies;

impl ReplyReceiver for IgnoreReplies {
    fn reply(&self, _: timeloom_wire::Reply) {}
}

/// Each policy once, with its text in the token.
fn profiles() -> [(QosProfile, &'static str); 5] {
    let base = QosProfile {
        liveliness: Liveliness::Automatic,
        deadline: QosDuration::INFINITE,
        lifespan: QosDuration::INFINITE,
        liveliness_lease_duration: QosDuration::INFINITE,
        ..QosProfile::DEFAULT
    };
    [
        (base, "::,10:,:,:,,"),
        (
            QosProfile {
                reliability: Reliability::BestEffort,
                depth: 42,
                ..base
            },
            "2::,:,:,:,,",
        ),
        (
            QosProfile {
                history: History::KeepAll,
                depth: 7,
                durability: Durability::TransientLocal,
                ..base
            },
            ":1:2,7:,:,:,,",
        ),
        (
            QosProfile {
                depth: 1_000,
                durability: Durability::TransientLocal,
                lifespan: QosDuration { sec: 10, nsec: 0 },
                ..base
            },
            ":1:,1000:,:10,0:,,",
        ),
        (
            QosProfile {
                deadline: QosDuration::from_nanos(250_000_000),
                liveliness: Liveliness::ManualByTopic,
                liveliness_lease_duration: QosDuration::from_nanos(1_500_000_000),
                ..base
            },
            "::,10:0,250000000:,:3,1,500000000",
        ),
    ]
}

#[test]
fn a_peer_sees_our_tokens_byte_for_byte() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let ours = ZenohParticipant::new(&Options {
        enclave: "/robot/arm".into(),
        ..options(&at)
    })
    .unwrap();
    let node = ours
        .node(NodeName::new("/ns/deep", "ours").unwrap())
        .unwrap();
    let mut wanted = vec!["0/0/NN/%robot%arm/%ns%deep/ours".to_owned()];
    let mut kept: Vec<Box<dyn std::any::Any>> = Vec::new();
    let mut id = 0;
    let mut end = |kind: &str, name: &str, type_name: &str, hash: &str, qos: &str| {
        id += 1;
        wanted.push(format!(
            "0/{id}/{kind}/%robot%arm/%ns%deep/ours/{name}/{type_name}/{hash}/{qos}"
        ));
    };
    for (number, (qos, code)) in profiles().into_iter().enumerate() {
        let topic = topic(&format!("/ns/data{number}"), qos);
        kept.push(Box::new(node.publish(&topic).unwrap()));
        end("MP", &format!("%ns%data{number}"), TYPE, HASH, code);
        kept.push(Box::new(node.subscribe(&topic, Collector::new()).unwrap()));
        end("MS", &format!("%ns%data{number}"), TYPE, HASH, code);
    }
    let service = add_service("/add");
    let hash = service.type_hash.unwrap().to_string();
    kept.push(Box::new(node.serve(&service, Arc::new(Adder)).unwrap()));
    end(
        "SS",
        "%add",
        "timeloom_test::srv::dds_::Add_",
        &hash,
        "::,10:,:,:,,",
    );
    kept.push(Box::new(
        node.client(&service, Arc::new(IgnoreReplies)).unwrap(),
    ));
    end(
        "SC",
        "%add",
        "timeloom_test::srv::dds_::Add_",
        &hash,
        "::,10:,:,:,,",
    );
    let seen = peer.ask(&json!({"do": "tokens", "with": "/%ns%deep/ours", "count": wanted.len()}));
    let session = seen[0]
        .as_str()
        .unwrap()
        .split('/')
        .nth(2)
        .unwrap()
        .to_owned();
    assert!(
        session.len() >= 30 && session.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{session}"
    );
    let mut wanted: Vec<_> = wanted
        .iter()
        .map(|end| format!("@ros2_lv/0/{session}/{end}"))
        .collect();
    wanted.sort();
    assert_eq!(seen, json!(wanted));
    drop(kept);
    peer.ask(&json!({"do": "tokens", "with": "/%ns%deep/ours", "count": 1}));
    drop((node, ours));
    peer.ask(&json!({"do": "tokens", "with": "/%ns%deep/ours", "count": 0}));
}

#[test]
fn the_qos_of_a_peer_is_seen_policy_by_policy() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let watched = Watched::new(participant(&at));
    for (number, (qos, code)) in profiles().into_iter().enumerate() {
        for (what, kind) in [
            ("publisher", EndpointKind::Publisher),
            ("subscriber", EndpointKind::Subscription),
        ] {
            let name = format!("/{what}{number}");
            peer.ask(&with(on(what, &name, &name), &json!({ "qos": code })));
            until("it is seen", || watched.on(&name, kind).len() == 1);
            let found = &watched.on(&name, kind)[0];
            assert_eq!(found.qos, qos, "{name}");
            assert_eq!(found.type_name, "timeloom_test/msg/Blob");
            assert_eq!(found.type_hash.unwrap().to_string(), HASH);
            assert_eq!(found.node, Some(NodeName::new("/", "peer").unwrap()));
        }
    }
}

#[test]
fn peers_appear_leave_and_die() {
    let (_router, at) = router();
    let watched = Watched::new(participant(&at));
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    until("the node is seen", || watched.node_names() == ["/peer"]);
    peer.ask(&on("publisher", "p", "/a"));
    peer.ask(&on("subscriber", "s", "/a"));
    peer.ask(&of("server", "/add"));
    peer.ask(&of("client", "/add"));
    let count = || watched.endpoints();
    until("all are seen", || count() == 4);
    peer.ask(&json!({"do": "drop", "name": "p"}));
    until("one is gone", || count() == 3);
    assert!(watched.on("/a", EndpointKind::Publisher).is_empty());
    peer.kill();
    until("all are gone", || {
        count() == 0 && watched.node_names().is_empty()
    });
}

#[test]
fn domains_do_not_mix() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let other = ZenohParticipant::new(&Options {
        domain: 7,
        ..options(&at)
    })
    .unwrap();
    let same = Watched::new(participant(&at));
    let elsewhere = Watched::new(Arc::new(other));
    peer.ask(&on("publisher", "p", "/a"));
    until("the same domain sees it", || same.endpoints() == 1);
    assert_eq!(
        (elsewhere.endpoints(), elsewhere.node_names().len()),
        (0, 0)
    );
}

#[test]
fn a_subscription_without_a_hash_accepts_any() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let node = crate::blob::node(&at);
    let collector = Collector::new();
    let spec = timeloom_wire::TopicSpec {
        type_hash: None,
        ..topic("/data", crate::blob::reliable())
    };
    let subscription = node.subscribe(&spec, Arc::clone(&collector) as _).unwrap();
    for (name, hash) in [("new", HASH), ("humble", "TypeHashNotSupported")] {
        peer.ask(&with(
            on("publisher", name, "/data"),
            &json!({ "hash": hash }),
        ));
        peer.ask(&json!({"do": "matched", "name": name}));
    }
    until("both are matched", || subscription.matched() == 2);
    peer.ask(&json!({"do": "publish", "name": "new", "size": 8, "marks": [1]}));
    peer.ask(&json!({"do": "publish", "name": "humble", "size": 8, "marks": [2], "gid": "08".repeat(16)}));
    until("both arrive", || collector.count() == 2);
}
