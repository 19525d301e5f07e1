//! Payloads of a real ROS 2 on the wire.

use timeloom_msg::{Definitions, Schema, TypeDescription, Value};

/// The header that Cyclone puts before requests and replies.
const SERVICE_HEADER: usize = 16;

fn payload(name: &str) -> (Schema, Vec<u8>) {
    let table = include_str!("../data/wire/payloads.txt");
    let line = table
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .unwrap();
    let hex = line.trim().as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let mut bytes: Vec<u8> = hex.chunks(2).map(byte).collect();
    if name.contains("/srv/") {
        bytes.drain(4..4 + SERVICE_HEADER);
    }
    (Definitions::builtin().schema(name).unwrap(), bytes)
}

#[test]
fn a_participant_and_its_node() {
    let (schema, bytes) = payload("rmw_dds_common/msg/ParticipantEntitiesInfo");
    let value = schema.decode(&bytes).unwrap();
    let node = value.get("node_entities_info_seq[0].node_name").unwrap();
    assert_eq!(node.as_str(), Some("tdc"));
    let writers = value
        .get("node_entities_info_seq[0].writer_gid_seq")
        .unwrap();
    assert_eq!(writers.as_array().unwrap().len(), 2);
    assert_eq!(schema.encode(&value).unwrap(), bytes);
}

#[test]
fn the_request_for_a_type_description() {
    let (schema, bytes) = payload("type_description_interfaces/srv/GetTypeDescription_Request");
    let value = schema.decode(&bytes).unwrap();
    assert_eq!(
        value.get("type_name").unwrap().as_str(),
        Some("std_msgs/msg/String")
    );
    assert_eq!(value.get("include_type_sources"), Some(Value::Bool(true)));
}

#[test]
fn our_type_description_equals_the_real_reply() {
    let (schema, bytes) = payload("type_description_interfaces/srv/GetTypeDescription_Response");
    let value = schema.decode(&bytes).unwrap();
    assert_eq!(value.get("successful"), Some(Value::Bool(true)));
    let real = TypeDescription::from_value(&value.get("type_description").unwrap()).unwrap();
    let ours = Definitions::builtin()
        .schema("std_msgs/msg/String")
        .unwrap()
        .type_description()
        .unwrap();
    assert_eq!(ours, real);
    let again = Schema::from_description(&real).unwrap();
    assert_eq!(again.ros2msg().unwrap(), "string data\n");
}
