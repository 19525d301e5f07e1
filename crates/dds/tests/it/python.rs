//! Both directions with Cyclone DDS from `PyPI`, as another process.

use std::sync::Arc;

use serde_json::{Value, json};
use timeloom_msg::qos::{Durability, Liveliness, QosDuration};
use timeloom_msg::{QosProfile, TypeHash};
use timeloom_testkit::transport::{Collector, publish_blob};
pub(crate) use timeloom_testkit::transport::{
    best_effort, blob_topic as topic, mark_of, marks, reliable,
};
use timeloom_time::Duration;
use timeloom_wire::{EndpointKind, Gid, Node, NodeName, Participant, Publisher};

use crate::local::{Watched, new_domain, participant, until};
use crate::peer::Peer;

pub(crate) fn node(domain: u32) -> Arc<dyn Node> {
    participant(domain)
        .node(NodeName::new("/", "ours").unwrap())
        .unwrap()
}

pub(crate) fn publish(publisher: &dyn Publisher, mark: u32, size: usize) {
    publish_blob(publisher, mark, size);
}

fn from_peer(size: usize, count: u32) {
    let domain = new_domain();
    let Some(mut peer) = Peer::cyclone(domain) else {
        return;
    };
    let node = node(domain);
    let collector = Collector::new();
    let subscription = node
        .subscribe(&topic("/data", reliable()), Arc::clone(&collector) as _)
        .unwrap();
    peer.ask(&json!({"do": "writer", "name": "w", "topic": "rt/data"}));
    peer.ask(&json!({"do": "matched", "name": "w", "count": 1}));
    until("the writer is matched", || subscription.matched() == 1);
    peer.ask(
        &json!({"do": "write", "name": "w", "size": size, "marks": (0..count).collect::<Vec<_>>()}),
    );
    until("all samples arrive", || collector.count() >= count as usize);
    assert_eq!(marks(&collector), (0..count).map(Some).collect::<Vec<_>>());
    let samples = collector.samples();
    let numbers: Vec<_> = samples
        .iter()
        .map(|sample| sample.sequence.unwrap())
        .collect();
    assert!(
        numbers.windows(2).all(|two| two[0] + 1 == two[1]),
        "{numbers:?}"
    );
    assert!(samples.iter().all(|sample| {
        sample
            .source_time
            .is_some_and(|time| time <= sample.receive_time)
    }));
}

fn to_peer(size: usize, count: u32) {
    let domain = new_domain();
    let Some(mut peer) = Peer::cyclone(domain) else {
        return;
    };
    let publisher = node(domain).publish(&topic("/data", reliable())).unwrap();
    peer.ask(&json!({"do": "reader", "name": "r", "topic": "rt/data"}));
    peer.ask(&json!({"do": "matched", "name": "r", "count": 1}));
    until("the reader is matched", || publisher.matched() == 1);
    for mark in 0..count {
        publish(&*publisher, mark, size);
    }
    assert!(
        publisher
            .wait_for_acknowledgements(Duration::from_secs(30))
            .unwrap()
    );
    let got = peer.ask(&json!({"do": "take", "name": "r", "count": count}));
    assert_eq!(got, json!((0..count).collect::<Vec<_>>()));
}

#[test]
fn reliable_samples_of_100_bytes_come_from_a_peer() {
    from_peer(100, 50);
}

#[test]
fn reliable_samples_of_1_mb_come_from_a_peer() {
    from_peer(1_000_000, 5);
}

#[test]
fn reliable_samples_of_8_mb_come_from_a_peer() {
    from_peer(8_000_000, 2);
}

#[test]
fn reliable_samples_of_100_bytes_go_to_a_peer() {
    to_peer(100, 50);
}

#[test]
fn reliable_samples_of_1_mb_go_to_a_peer() {
    to_peer(1_000_001, 5);
}

#[test]
fn reliable_samples_of_8_mb_go_to_a_peer() {
    to_peer(8_000_000, 2);
}

/// No sample has to arrive, so samples are sent until one does; it must be complete.
#[test]
fn best_effort_samples_come_from_a_peer() {
    let domain = new_domain();
    let Some(mut peer) = Peer::cyclone(domain) else {
        return;
    };
    let node = node(domain);
    for (number, size) in [100, 1_000_000, 8_000_000].into_iter().enumerate() {
        let collector = Collector::new();
        let name = format!("/data{number}");
        let subscription = node
            .subscribe(&topic(&name, best_effort()), Arc::clone(&collector) as _)
            .unwrap();
        peer.ask(&json!({"do": "writer", "name": "w", "topic": format!("rt{name}"), "reliable": false, "depth": 1}));
        peer.ask(&json!({"do": "matched", "name": "w", "count": 1}));
        until("the writer is matched", || subscription.matched() == 1);
        let mut mark = 0;
        until("a sample arrives", || {
            peer.ask(&json!({"do": "write", "name": "w", "size": size, "marks": [mark]}));
            mark += 1;
            collector.count() > 0
        });
        assert!(marks(&collector).iter().all(Option::is_some), "{size}");
    }
}

/// Samples of 8 MB are lost in the receive buffer of the peer, so they are not sent.
#[test]
fn best_effort_samples_go_to_a_peer() {
    let domain = new_domain();
    let Some(mut peer) = Peer::cyclone(domain) else {
        return;
    };
    let node = node(domain);
    for (number, size) in [100, 1_000_000].into_iter().enumerate() {
        let name = format!("/data{number}");
        let publisher = node.publish(&topic(&name, best_effort())).unwrap();
        peer.ask(
            &json!({"do": "reader", "name": "r", "topic": format!("rt{name}"), "reliable": false}),
        );
        peer.ask(&json!({"do": "matched", "name": "r", "count": 1}));
        until("the reader is matched", || publisher.matched() == 1);
        let mut mark = 0;
        until("a sample arrives", || {
            publish(&*publisher, mark, size);
            mark += 1;
            let got = peer.ask(&json!({"do": "take", "name": "r", "count": 1, "seconds": 0.2}));
            let got = got.as_array().unwrap();
            assert!(!got.contains(&Value::Null), "{got:?}");
            !got.is_empty()
        });
    }
}

#[test]
fn a_late_joiner_gets_the_kept_samples_on_either_side() {
    let domain = new_domain();
    let Some(mut peer) = Peer::cyclone(domain) else {
        return;
    };
    let latched = QosProfile {
        durability: Durability::TransientLocal,
        depth: 5,
        ..QosProfile::DEFAULT
    };
    let node = node(domain);
    let publisher = node.publish(&topic("/ours", latched)).unwrap();
    for mark in 0..12 {
        publish(&*publisher, mark, 40);
    }
    peer.ask(
        &json!({"do": "reader", "name": "r", "topic": "rt/ours", "latched": true, "depth": 20}),
    );
    let got = peer.ask(&json!({"do": "take", "name": "r", "count": 5}));
    assert_eq!(got, json!([7, 8, 9, 10, 11]));
    peer.ask(
        &json!({"do": "writer", "name": "w", "topic": "rt/theirs", "latched": true, "depth": 5}),
    );
    peer.ask(
        &json!({"do": "write", "name": "w", "size": 40, "marks": (0..12).collect::<Vec<_>>()}),
    );
    let collector = Collector::new();
    let wants = QosProfile {
        depth: 20,
        ..latched
    };
    let _subscription = node
        .subscribe(&topic("/theirs", wants), Arc::clone(&collector) as _)
        .unwrap();
    until("what was kept arrives", || collector.count() >= 5);
    assert_eq!(marks(&collector), [7, 8, 9, 10, 11].map(Some));
}

/// As Python prints a GUID.
fn hex(gid: Gid) -> String {
    gid.to_string().replace('.', "")
}

#[test]
fn a_peer_sees_our_qos_user_data_and_names() {
    let domain = new_domain();
    let Some(mut peer) = Peer::cyclone(domain) else {
        return;
    };
    let qos = QosProfile {
        depth: 7,
        durability: Durability::TransientLocal,
        deadline: QosDuration::from_nanos(250_000_000),
        lifespan: QosDuration { sec: 10, nsec: 0 },
        liveliness: Liveliness::ManualByTopic,
        liveliness_lease_duration: QosDuration::from_nanos(1_500_000_000),
        ..QosProfile::DEFAULT
    };
    let node = node(domain);
    let publisher = node.publish(&topic("/data", qos)).unwrap();
    let seen = peer.ask(&json!({"do": "endpoint", "topic": "rt/data", "kind": "writer"}));
    let gid: String = hex(publisher.gid());
    assert_eq!(seen["guid"], gid);
    assert_eq!(seen["type"], "timeloom_test::msg::dds_::Blob_");
    assert_eq!(
        seen["user_data"],
        format!("typehash=RIHS01_{};", "ab".repeat(32))
    );
    let policies = seen["qos"].to_string();
    for policy in [
        "History.KeepLast(depth=7)",
        "Durability.TransientLocal",
        "Reliability.Reliable(",
        "Deadline(deadline=250000000)",
        "Lifespan(lifespan=10000000000)",
        "Liveliness.ManualByTopic(lease_duration=1500000000)",
        "DurabilityService(cleanup_delay=0, history=Policy.History.KeepLast(depth=7)",
    ] {
        assert!(policies.contains(policy), "no {policy} in {policies}");
    }
    let participants = peer.ask(&json!({"do": "participants"}));
    let ours = participants.as_array().unwrap();
    let ours = ours
        .iter()
        .find(|one| one[0].as_str().unwrap().starts_with(&gid[..24]))
        .unwrap();
    assert_eq!(ours[1], "enclave=/;");
    // Endpoints outside of ROS nodes announce their type as well.
    let info =
        peer.ask(&json!({"do": "endpoint", "topic": "ros_discovery_info", "kind": "writer"}));
    assert_eq!(
        info["type"],
        "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"
    );
    assert!(
        info["user_data"]
            .as_str()
            .unwrap()
            .starts_with("typehash=RIHS01_91a0593bacdc")
    );
}

#[test]
fn we_see_a_peers_qos_hash_and_node() {
    let domain = new_domain();
    let Some(mut peer) = Peer::cyclone(domain) else {
        return;
    };
    let watched = Watched::new(participant(domain));
    let hash = TypeHash::from_bytes([0xab; 32]);
    let gid = peer.ask(&json!({
        "do": "writer", "name": "w", "topic": "rt/data", "latched": true, "depth": 7,
        "deadline": 250_000_000, "lifespan": 10_000_000_000_i64, "manual": 1_500_000_000,
        "user_data": format!("typehash={hash};"),
    }));
    peer.ask(&json!({"do": "node", "namespace": "/robot", "name": "theirs", "writers": ["w"]}));
    let find = || {
        watched
            .on("/data", EndpointKind::Publisher)
            .into_iter()
            .find(|info| info.node.is_some())
    };
    until("the endpoint and its node are seen", || find().is_some());
    let info = find().unwrap();
    assert_eq!(gid, hex(info.gid));
    assert_eq!(info.type_name, "timeloom_test/msg/Blob");
    assert_eq!(info.type_hash, Some(hash));
    assert_eq!(info.node.unwrap().full(), "/robot/theirs");
    let expected = QosProfile {
        depth: 7,
        durability: Durability::TransientLocal,
        deadline: QosDuration::from_nanos(250_000_000),
        lifespan: QosDuration { sec: 10, nsec: 0 },
        liveliness: Liveliness::ManualByTopic,
        liveliness_lease_duration: QosDuration::from_nanos(1_500_000_000),
        ..QosProfile::DEFAULT
    };
    assert_eq!(info.qos, expected);
    assert_eq!(watched.nodes_named("/robot/theirs"), 1);
}

#[test]
fn a_peer_appears_leaves_and_dies() {
    let domain = new_domain();
    let short = "<CycloneDDS><Domain Id=\"any\"><Discovery><LeaseDuration>1s</LeaseDuration></Discovery></Domain></CycloneDDS>";
    let Some(mut peer) = Peer::cyclone_with(domain, short) else {
        return;
    };
    let watched = Watched::new(participant(domain));
    let count = |topic| watched.on(topic, EndpointKind::Publisher).len();
    peer.ask(&json!({"do": "writer", "name": "one", "topic": "rt/one"}));
    peer.ask(&json!({"do": "writer", "name": "two", "topic": "rt/two"}));
    peer.ask(&json!({"do": "node", "namespace": "/", "name": "theirs", "writers": ["one", "two"]}));
    until("it comes", || {
        count("/one") == 1 && count("/two") == 1 && watched.nodes_named("/theirs") == 1
    });
    peer.ask(&json!({"do": "close", "name": "one"}));
    until("an endpoint goes", || count("/one") == 0);
    assert_eq!((count("/two"), watched.nodes_named("/theirs")), (1, 1));
    peer.kill();
    until("it dies", || {
        count("/two") == 0 && watched.nodes_named("/theirs") == 0
    });
}
