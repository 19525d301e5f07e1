//! Both directions with eProsima Fast DDS, as another process.

use std::sync::Arc;

use serde_json::{Value, json};
use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, Reliability};
use timeloom_testkit::transport::Collector;
use timeloom_time::Duration;
use timeloom_wire::EndpointKind;

use crate::local::{Watched, new_domain, participant, until};
use crate::peer::Peer;
use crate::python::{best_effort, marks, node, publish, reliable, topic};

const BLOB: &str = "timeloom_test::msg::dds_::Blob_";

fn from_peer(size: usize, count: u32) {
    let domain = new_domain();
    let Some(mut peer) = Peer::fast(domain) else {
        return;
    };
    let node = node(domain);
    let collector = Collector::new();
    let subscription = node
        .subscribe(&topic("/data", reliable()), Arc::clone(&collector) as _)
        .unwrap();
    peer.ask(&format_args!("writer w rt/data {BLOB} reliable 0"));
    peer.ask(&"matched w 1");
    until("the writer is matched", || subscription.matched() == 1);
    peer.ask(&format_args!("write w {size} 0 {count}"));
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
    assert!(
        samples
            .iter()
            .all(|sample| sample.writer.0.starts_with(&[1, 0x0f]))
    );
}

fn to_peer(size: usize, count: u32) {
    let domain = new_domain();
    let Some(mut peer) = Peer::fast(domain) else {
        return;
    };
    let publisher = node(domain).publish(&topic("/data", reliable())).unwrap();
    peer.ask(&format_args!("reader r rt/data {BLOB} reliable 0"));
    peer.ask(&"matched r 1");
    until("the reader is matched", || publisher.matched() == 1);
    for mark in 0..count {
        publish(&*publisher, mark, size);
    }
    assert!(
        publisher
            .wait_for_acknowledgements(Duration::from_secs(40))
            .unwrap()
    );
    let got = peer.ask(&format_args!("take r {count}"));
    assert_eq!(got, json!((0..count).collect::<Vec<_>>()));
}

#[test]
fn reliable_samples_of_100_bytes_come_from_fast_dds() {
    from_peer(100, 50);
}

#[test]
fn reliable_samples_of_1_mb_come_from_fast_dds() {
    from_peer(1_000_000, 5);
}

#[test]
fn reliable_samples_of_8_mb_come_from_fast_dds() {
    from_peer(8_000_000, 2);
}

#[test]
fn reliable_samples_of_100_bytes_go_to_fast_dds() {
    to_peer(101, 50);
}

#[test]
fn reliable_samples_of_1_mb_go_to_fast_dds() {
    to_peer(1_000_000, 5);
}

#[test]
fn reliable_samples_of_8_mb_go_to_fast_dds() {
    to_peer(8_000_000, 2);
}

/// No sample has to arrive, so samples are sent until one does; it must be complete.
#[test]
fn best_effort_samples_go_both_ways_with_fast_dds() {
    let domain = new_domain();
    let Some(mut peer) = Peer::fast(domain) else {
        return;
    };
    let node = node(domain);
    for (number, size) in [100, 1_000_000].into_iter().enumerate() {
        let (ours, theirs) = (format!("/ours{number}"), format!("/theirs{number}"));
        let collector = Collector::new();
        let subscription = node
            .subscribe(&topic(&theirs, best_effort()), Arc::clone(&collector) as _)
            .unwrap();
        let publisher = node.publish(&topic(&ours, best_effort())).unwrap();
        peer.ask(&format_args!(
            "writer w{number} rt{theirs} {BLOB} best_effort 1"
        ));
        peer.ask(&format_args!(
            "reader r{number} rt{ours} {BLOB} best_effort 10"
        ));
        until("both are matched", || {
            subscription.matched() == 1 && publisher.matched() == 1
        });
        let mut mark = 0;
        until("a sample comes", || {
            peer.ask(&format_args!("write w{number} {size} {mark} 1"));
            mark += 1;
            collector.count() > 0
        });
        assert!(marks(&collector).iter().all(Option::is_some), "{size}");
        until("a sample goes", || {
            publish(&*publisher, mark, size);
            mark += 1;
            let got = peer.ask(&format_args!("take r{number} 1 0.2"));
            let got = got.as_array().unwrap();
            assert!(!got.contains(&Value::Null), "{got:?}");
            !got.is_empty()
        });
    }
}

#[test]
fn a_late_joiner_gets_the_kept_samples_with_fast_dds() {
    let domain = new_domain();
    let Some(mut peer) = Peer::fast(domain) else {
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
    peer.ask(&format_args!("reader r rt/ours {BLOB} reliable -20"));
    assert_eq!(peer.ask(&"take r 5"), json!([7, 8, 9, 10, 11]));
    peer.ask(&format_args!("writer w rt/theirs {BLOB} reliable -5"));
    peer.ask(&"write w 40 0 12");
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

/// Fast DDS sends a heartbeat when it matches a reader, often before the reader knows the writer; the next one comes
/// after its period, which is an hour here.
#[test]
fn a_late_joiner_requests_the_kept_samples_of_fast_dds() {
    let domain = new_domain();
    let Some(mut peer) = Peer::fast(domain) else {
        return;
    };
    peer.ask(&format_args!("writer w rt/theirs {BLOB} reliable -1 3600"));
    peer.ask(&"write w 40 0 1");
    let latched = QosProfile {
        durability: Durability::TransientLocal,
        ..QosProfile::DEFAULT
    };
    for _ in 0..3 {
        let collector = Collector::new();
        // Before the peer's endpoints are known: the participant is new.
        let node = node(domain);
        let _subscription = node
            .subscribe(&topic("/theirs", latched), Arc::clone(&collector) as _)
            .unwrap();
        until("what was kept arrives", || collector.count() >= 1);
    }
}

/// Also when all samples are acknowledged, and when none was sent.
#[test]
fn idle_writers_of_fast_dds_announce_their_last_number() {
    let domain = new_domain();
    let Some(mut peer) = Peer::fast(domain) else {
        return;
    };
    let node = node(domain);
    let watched = Watched::new(participant(domain));
    for (name, depth, count) in [("/volatile", 0, 3), ("/latched", -5, 3), ("/quiet", 0, 0)] {
        let collector = Collector::new();
        let qos = QosProfile {
            durability: match depth {
                0 => Durability::Volatile,
                _ => Durability::TransientLocal,
            },
            ..reliable()
        };
        let subscription = node
            .subscribe(&topic(name, qos), Arc::clone(&collector) as _)
            .unwrap();
        peer.ask(&format_args!(
            "writer {name} rt{name} {BLOB} reliable {depth} 3600"
        ));
        peer.ask(&format_args!("matched {name} 1"));
        until("the writer is matched", || subscription.matched() == 1);
        until("the writer is known", || {
            watched.on(name, EndpointKind::Publisher).len() == 1
        });
        let writer = watched.on(name, EndpointKind::Publisher).remove(0).gid;
        peer.ask(&format_args!("write {name} 100 0 {count}"));
        let received = || u64::try_from(collector.count()).unwrap();
        until("all of it is here", || received() == count);
        assert!(subscription.request_last_numbers());
        until("it answers", || subscription.has_answered(&writer));
        assert_eq!(subscription.last_announced(&writer), Some(count), "{name}");
        peer.ask(&format_args!("write {name} 100 {count} 2"));
        until("it goes on", || received() == count + 2);
        assert_eq!(
            marks(&collector).len(),
            collector.count(),
            "nothing twice: {name}"
        );
    }
}

/// Samples that the writer keeps for a reader that died do not block us.
#[test]
fn leftovers_of_a_dead_reader_do_not_stop_a_stream() {
    let domain = new_domain();
    let (Some(mut writer), Some(mut dying)) = (Peer::fast(domain), Peer::fast(domain)) else {
        return;
    };
    writer.ask(&format_args!("writer w rt/data {BLOB} reliable 0"));
    dying.ask(&format_args!("reader r rt/data {BLOB} reliable 0"));
    writer.ask(&"matched w 1");
    dying.ask(&"matched r 1");
    dying.kill();
    writer.ask(&"write w 100 0 10");
    let collector = Collector::new();
    let node = node(domain);
    let subscription = node
        .subscribe(&topic("/data", reliable()), Arc::clone(&collector) as _)
        .unwrap();
    until("the writer is matched", || subscription.matched() == 1);
    let last = |mark| move |all: &Vec<Option<u32>>| all.last() == Some(&Some(mark));
    until("a new sample arrives", || {
        writer.ask(&"write w 100 10 1");
        last(10)(&marks(&collector))
    });
    writer.ask(&"write w 100 11 5");
    until("all that follow arrive", || last(15)(&marks(&collector)));
    let got = marks(&collector);
    assert_eq!(got[got.len() - 5..], [11, 12, 13, 14, 15].map(Some));
}

#[test]
fn endpoints_of_fast_dds_appear_and_die() {
    let domain = new_domain();
    let Some(mut peer) = Peer::fast(domain) else {
        return;
    };
    let watched = Watched::new(participant(domain));
    let count = || watched.on("/data", EndpointKind::Publisher).len();
    peer.ask(&format_args!("writer w rt/data {BLOB} best_effort 3"));
    until("it comes", || count() == 1);
    let info = watched.on("/data", EndpointKind::Publisher).remove(0);
    assert_eq!(info.type_name, "timeloom_test/msg/Blob");
    assert_eq!(info.qos.reliability, Reliability::BestEffort);
    assert_eq!(info.node, None, "it announced no node");
    peer.kill();
    until("its lease runs out", || count() == 0);
}
