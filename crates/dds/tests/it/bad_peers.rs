//! Peers that send malformed data.

use std::net::UdpSocket;
use std::sync::Arc;

use timeloom_dds::{DdsParticipant, NoteKind, Options};
use timeloom_msg::qos::Durability;
use timeloom_msg::{QosProfile, TypeName};
use timeloom_testkit::transport::Collector;
use timeloom_time::{Clock, Duration, Steady};
use timeloom_wire::{Node, NodeName, Participant, PublishOptions, Publisher, TopicSpec};

use crate::local::{LOOPBACK, Watched, new_domain, options, participant, until, until_within};
use crate::python::{node, publish, topic};
use crate::services::{Adder, add_service, calls};

/// A publisher with a name outside of ROS.
fn plain(
    node: &Arc<dyn Node>,
    name: &str,
    type_name: &str,
    durability: Durability,
) -> Box<dyn Publisher> {
    let spec = TopicSpec {
        name: name.into(),
        type_name: TypeName::parse(type_name).unwrap(),
        type_hash: None,
        qos: QosProfile {
            durability,
            avoid_ros_namespace_conventions: true,
            ..QosProfile::DEFAULT
        },
    };
    node.publish(&spec).unwrap()
}

fn send(publisher: &dyn Publisher, payload: Vec<u8>) {
    publisher
        .publish(payload.into(), PublishOptions::default())
        .unwrap();
}

fn noted(participant: &DdsParticipant, kind: NoteKind) -> u64 {
    participant
        .notes()
        .iter()
        .filter(|note| note.kind == kind)
        .map(|note| note.total)
        .sum()
}

#[test]
fn malformed_node_lists_are_counted_and_do_no_harm() {
    let domain = new_domain();
    let watcher = participant(domain);
    let watched = Watched::new(watcher.clone());
    let bad = node(domain);
    let type_name = "rmw_dds_common/msg/ParticipantEntitiesInfo";
    let publisher = plain(
        &bad,
        "ros_discovery_info",
        type_name,
        Durability::TransientLocal,
    );
    until("our reader is there", || publisher.matched() >= 1);
    let header = [0, 1, 0, 0];
    let absurd = [&header[..], &[7; 16], &u32::MAX.to_le_bytes()].concat();
    let truncated = [
        &header[..],
        &[7; 16],
        &1_u32.to_le_bytes(),
        &200_u32.to_le_bytes(),
        b"/",
    ]
    .concat();
    for payload in [
        header.to_vec(),
        absurd,
        truncated,
        vec![0, 1, 0, 0, 1, 2, 3, 4],
    ] {
        send(&*publisher, payload);
    }
    until("all four are counted", || {
        noted(&watcher, NoteKind::MalformedNodeInfo) >= 4
    });
    // The true list of the same participant and a good node still get through.
    let _good = participant(domain)
        .node(NodeName::new("/", "good").unwrap())
        .unwrap();
    until("the good are seen", || watched.nodes_named("/ours") == 1);
}

#[test]
fn requests_without_a_header_are_counted_and_dropped() {
    let domain = new_domain();
    let server = participant(domain);
    let serving = server.node(NodeName::new("/", "server").unwrap()).unwrap();
    let _server = serving.serve(&add_service(), Arc::new(Adder)).unwrap();
    let bad = node(domain);
    let publisher = plain(
        &bad,
        "rq/addRequest",
        "timeloom_test/srv/Add_Request",
        Durability::Volatile,
    );
    until("the server is there", || publisher.matched() == 1);
    send(&*publisher, vec![0, 1, 0, 0, 1, 2, 3, 4]);
    until("it is counted", || {
        noted(&server, NoteKind::MalformedRequest) == 1
    });
    calls(&bad, 3);
}

#[test]
fn types_that_ros_does_not_know_are_shown_unchanged() {
    let domain = new_domain();
    let watched = Watched::new(participant(domain));
    let other = node(domain);
    let _publisher = plain(
        &other,
        "HelloWorldTopic",
        "any/msg/Thing",
        Durability::Volatile,
    );
    let kind = timeloom_wire::EndpointKind::Publisher;
    until("it is seen", || {
        watched.on("HelloWorldTopic", kind).len() == 1
    });
    assert!(
        watched.on("HelloWorldTopic", kind)[0]
            .qos
            .avoid_ros_namespace_conventions
    );
}

/// The announcement of a participant, captured on the wire. Its lease is an hour.
fn announcement(domain: u32, index: u32) -> Vec<u8> {
    let port = u16::try_from(7410 + 250 * domain + 2 * index).unwrap();
    let socket = UdpSocket::bind(("127.0.0.1", port)).unwrap();
    let hour = "<CycloneDDS><Domain Id=\"any\"><Discovery><LeaseDuration>3600s</LeaseDuration></Discovery></Domain></CycloneDDS>";
    let _announced = DdsParticipant::new(&Options {
        configuration: format!("{LOOPBACK},{hour}"),
        ..options(domain)
    })
    .unwrap();
    let mut packet = vec![0; 65536];
    let length = socket.recv(&mut packet).unwrap();
    packet.truncate(length);
    packet
}

/// Pseudo-random numbers, the same in each run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % below.max(1)
    }
}

/// The announcement of a participant that does not exist: its prefix in the header and in all repetitions.
fn made_up(packet: &[u8], number: u32) -> Vec<u8> {
    let own: Vec<u8> = packet[8..20].to_vec();
    let prefix = [&own[..8], &number.to_be_bytes()].concat();
    let mut made_up = packet.to_vec();
    for at in 0..=made_up.len() - 12 {
        if made_up[at..at + 12] == own {
            made_up[at..at + 12].copy_from_slice(&prefix);
        }
    }
    made_up
}

/// The memory of this process, in kilobytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse().unwrap()
}

#[test]
fn a_flood_of_participants_takes_bounded_memory() {
    let domain = new_domain();
    let packet = announcement(domain, 33);
    let victim = participant(domain);
    let target = ("127.0.0.1", u16::try_from(7410 + 250 * domain).unwrap());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let ignored = || {
        let notes = victim.notes();
        let matching = notes
            .into_iter()
            .find(|note| note.kind == NoteKind::Warning);
        matching
            .filter(|note| note.text.contains("participants, as many as are believed"))
            .map_or(0, |note| note.total)
    };
    let mut number = 0;
    let mut flood = |count: u32| {
        for _ in 0..count {
            number += 1;
            socket.send_to(&made_up(&packet, number), target).unwrap();
        }
    };
    let before = resident();
    until_within(240, "there are too many", || {
        flood(100);
        ignored() > 0
    });
    let full = resident();
    until_within(240, "many more are ignored", || {
        flood(100);
        ignored() > 1000
    });
    let (filled, after) = (full - before, resident().saturating_sub(full));
    assert!(after < filled / 2, "{filled} kB, then {after} kB more");
}

#[test]
fn broken_packets_and_invented_participants_do_no_harm() {
    let domain = new_domain();
    let packet = announcement(domain, 33);
    assert!(packet.starts_with(b"RTPS"));
    let victim = participant(domain);
    let target = ("127.0.0.1", u16::try_from(7410 + 250 * domain).unwrap());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut random = Random(42);
    for round in 0..20_000_u32 {
        let mut broken = packet.clone();
        if round % 20 == 0 {
            broken = made_up(&packet, round);
        } else {
            for _ in 0..=random.next(8) {
                let at = random.next(broken.len());
                broken[at] = u8::try_from(random.next(256)).unwrap();
            }
            broken.truncate(4 + random.next(broken.len() - 4));
        }
        socket.send_to(&broken, target).unwrap();
    }
    // An announcement that the flood pushes out of the socket is repeated only after half a minute.
    let mut counted = 0;
    until("the flood is over", || {
        let before = std::mem::replace(&mut counted, noted(&victim, NoteKind::Warning));
        let _woke = Clock::<Steady>::new().sleep_for(Duration::from_millis(200));
        before == counted && counted > 0
    });
    // It still works.
    let collector = Collector::new();
    let spec = topic("/after", QosProfile::DEFAULT);
    let listening = victim.node(NodeName::new("/", "victim").unwrap()).unwrap();
    let _subscription = listening
        .subscribe(&spec, Arc::clone(&collector) as _)
        .unwrap();
    let publisher = node(domain).publish(&spec).unwrap();
    until("a good peer is matched", || publisher.matched() == 1);
    publish(&*publisher, 0, 100);
    until("its sample arrives", || collector.count() == 1);
}
