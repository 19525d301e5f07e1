//! Packets of real nodes (`rmw_cyclonedds` and `rmw_fastrtps` of Jazzy), whole and broken.
//!
//! `captured_packets.bin` holds some packets of each kind in `talker_listener.pcap`, `type_description.pcap` and
//! `fastrtps_talker_listener.pcap`, each behind its length; they are addressed to all participants, not to one.

use std::net::UdpSocket;
use std::sync::Arc;

use timeloom_msg::{QosProfile, TypeName};
use timeloom_testkit::transport::Collector;
use timeloom_wire::{EndpointKind, NodeName, Participant, TopicSpec};

use crate::bad_peers::Random;
use crate::local::{Watched, hold_domain, participant, until};
use crate::python::{node, publish, topic};

const PACKETS: &[u8] = include_bytes!("../data/captured_packets.bin");
/// The domain in which they were captured.
const DOMAIN: u32 = 77;

fn packets() -> Vec<Vec<u8>> {
    let mut rest = PACKETS;
    let mut all = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk() {
        let (packet, after) = after.split_at(usize::from(u16::from_le_bytes(*length)));
        all.push(packet.to_vec());
        rest = after;
    }
    all
}

/// Changes some bytes behind the header of the packet, so that it still appears to be from a known participant.
fn broken(packet: &[u8], random: &mut Random) -> Vec<u8> {
    let mut broken = packet.to_vec();
    for _ in 0..=random.next(4) {
        let at = 20 + random.next(broken.len() - 20);
        broken[at] = match random.next(3) {
            0 => 0xff,
            1 => broken[at] ^ 1 << random.next(8),
            _ => u8::try_from(random.next(256)).unwrap(),
        };
    }
    if random.next(4) == 0 {
        broken.truncate(20 + random.next(broken.len() - 20));
    }
    broken
}

#[test]
fn captured_packets_are_understood_and_broken_ones_do_no_harm() {
    let _held = hold_domain(DOMAIN).expect("no other test uses this domain");
    let victim = participant(DOMAIN);
    let watched = Watched::new(victim.clone());
    let listening = victim.node(NodeName::new("/", "victim").unwrap()).unwrap();
    let collector = Collector::new();
    let spec = TopicSpec {
        name: "/chatter".into(),
        type_name: TypeName::parse("std_msgs/msg/String").unwrap(),
        type_hash: None,
        qos: QosProfile::DEFAULT,
    };
    let _chatter = listening.subscribe(&spec, Arc::clone(&collector) as _);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let ports = [7410, 7411].map(|port| u16::try_from(port + 250 * DOMAIN).unwrap());
    let send = |packet: &[u8]| {
        for port in ports {
            socket.send_to(packet, ("127.0.0.1", port)).unwrap();
        }
    };
    let packets = packets();
    until("the talker of the capture is seen", || {
        for packet in &packets {
            send(packet);
        }
        !watched.on("/chatter", EndpointKind::Publisher).is_empty()
    });
    let mut random = Random(7);
    for round in 0..20_000 {
        send(&broken(&packets[round % packets.len()], &mut random));
    }
    // It still works.
    let after = Collector::new();
    let spec = topic("/after", QosProfile::DEFAULT);
    let _subscription = listening.subscribe(&spec, Arc::clone(&after) as _);
    let publisher = node(DOMAIN).publish(&spec).unwrap();
    until("a good peer is matched", || publisher.matched() >= 1);
    until("its sample arrives", || {
        publish(&*publisher, 0, 100);
        after.count() >= 1
    });
}
