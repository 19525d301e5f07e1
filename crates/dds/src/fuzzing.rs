//! Parsers of data from peers, for the fuzz targets, which see only the public API.
//!
//! Each panics when an invariant fails: encoding what was decoded gives the same, and no result is larger than its
//! input.

use bytes::Bytes;
use timeloom_wire::{Gid, Graph};

use crate::graph_join::GraphJoin;
use crate::node_info::ParticipantInfo;
use crate::service_header::CycloneHeader;
use crate::sys::{Discovered, Presence, SampleIdentity};
use crate::user_data;

/// A payload of `ros_discovery_info`, applied to a graph.
pub fn node_list(payload: &[u8]) {
    let Some(info) = ParticipantInfo::decode(payload) else {
        return;
    };
    let again = ParticipantInfo::decode(&info.encode()).expect("what was written is read");
    assert_eq!(again, info);
    let gids = info
        .nodes
        .iter()
        .flat_map(|node| [&node.readers, &node.writers]);
    let gids: usize = gids.map(Vec::len).sum();
    assert!(
        16 * gids <= payload.len(),
        "{gids} gids of {} bytes",
        payload.len()
    );
    let (mut join, mut graph) = (GraphJoin::default(), Graph::default());
    let mut invalid = 0;
    let came = join.presence(Presence::Participant(info.participant.0));
    let nodes = join.nodes(&info, |_| invalid += 1);
    for event in came.iter().chain(&nodes) {
        graph.apply(event);
    }
    let names: usize = graph.nodes().map(|(_, count)| count).sum();
    assert_eq!(names + invalid, info.nodes.len());
    // Repeated, it changes nothing; when the participant is gone, so are its nodes.
    assert_eq!(join.nodes(&info, |_| {}), []);
    for event in join.presence(Presence::ParticipantGone(info.participant.0)) {
        graph.apply(&event);
    }
    assert_eq!(graph.nodes().count(), 0);
}

/// Discovery data of an endpoint: the names of its topic and type, and its user data, separated by zero bytes.
pub fn endpoint(data: &[u8]) {
    let mut parts = data.splitn(3, |byte| *byte == 0);
    let mut text = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let (topic, type_name) = (text(), text());
    let user_data = parts.next().unwrap_or_default();
    let hash = user_data::type_hash(user_data);
    let _told = user_data::client_id(user_data);
    if let Some(hash) = hash {
        let written = user_data::endpoint(Some(hash));
        assert_eq!(user_data::type_hash(written.as_bytes()), Some(hash));
    }
    let (mut join, mut graph) = (GraphJoin::default(), Graph::default());
    let found = || Discovered {
        topic: topic.clone(),
        type_name: type_name.clone(),
        qos: timeloom_msg::QosProfile::DEFAULT,
        user_data: user_data.to_vec(),
    };
    let (writer, reader) = (Gid([1; 16]), Gid([2; 16]));
    let came = [
        join.presence(Presence::Writer(writer.0, found())),
        join.presence(Presence::Reader(reader.0, found())),
    ];
    for event in came.iter().flatten() {
        graph.apply(event);
    }
    for info in [writer, reader]
        .iter()
        .filter_map(|gid| graph.endpoint(gid))
    {
        assert!(
            info.topic.len() <= topic.len(),
            "{topic} became {}",
            info.topic
        );
        assert!(
            info.type_name.len() <= type_name.len(),
            "{type_name} became {}",
            info.type_name
        );
    }
}

/// A request or reply with the header of Cyclone, or the inline `QoS` beside one of Fast DDS.
pub fn service_header(data: &[u8]) {
    let payload = Bytes::copy_from_slice(data);
    match CycloneHeader::split(&payload) {
        Some((header, message)) => {
            assert_eq!(message.len() + 16, payload.len());
            assert_eq!(header.join(&message), Some(payload.clone()));
        }
        None => assert!(payload.len() < 20, "{} bytes", payload.len()),
    }
    for little_endian in [true, false] {
        if let Some(identity) = SampleIdentity::find(data, little_endian) {
            let mut list = vec![0x83, 0, 24, 0];
            list.extend(identity.encode());
            assert_eq!(SampleIdentity::find(&list, true), Some(identity));
        }
    }
}
