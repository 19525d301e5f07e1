//! The fuzz targets on stable Rust: captured inputs, changed at random from a fixed seed.

#[path = "../../../../fuzz/src/dds_endpoint.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod dds_endpoint;
#[path = "../../../../fuzz/src/dds_nodes.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod dds_nodes;
#[path = "../../../../fuzz/src/dds_service.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod dds_service;

use timeloom_testkit::mutation::fuzz;

/// Number of mutations of each input.
const ROUNDS: u32 = 3000;

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// From `talker_listener_rtps.txt` and `fastrtps_talker_listener_rtps.txt`.
#[test]
fn fuzz_node_lists() {
    let inputs = [
        "000100000110794e3fcc63d62398dd4e000001c101000000020000002f000000090000006c697374656e65720000000000000000010000000110794e3fcc63d62398dd4e00000603",
        "00010000010f78fd717b3e5400000000000001c101000000020000002f000000090000006c697374656e65720000000001000000010f78fd717b3e54000000000000050403000000010f78fd717b3e540000000000000303010f78fd717b3e540000000000000403010f78fd717b3e540000000000000603",
    ];
    fuzz(
        "dds_nodes",
        dds_nodes::fuzz_dds_nodes,
        &inputs.map(bytes),
        ROUNDS,
        &[],
    );
}

#[test]
fn fuzz_endpoints() {
    let hash = "typehash=RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e;";
    let inputs = [
        format!("rt/chatter\0std_msgs::msg::dds_::String_\0{hash}"),
        format!(
            "rq/addRequest\0example_interfaces::srv::dds_::AddTwoInts_Request_\0serviceid= 1.10.de.0.0.0.7;{hash}"
        ),
        format!(
            "rr/addReply\0example_interfaces::srv::dds_::AddTwoInts_Response_\0clientid= 1.10.de.0.0.0.7;{hash}\0"
        ),
        "ros_discovery_info\0rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_\0".to_owned(),
    ];
    let inputs = inputs.map(String::into_bytes);
    fuzz(
        "dds_endpoint",
        dds_endpoint::fuzz_dds_endpoint,
        &inputs,
        ROUNDS,
        &[],
    );
}

/// A request in the encoding of Cyclone from `type_description_rtps.txt`, and inline `QoS` as Fast DDS sends it.
#[test]
fn fuzz_service_headers() {
    let request = b"\x00\x01\x00\x00\xf4\xa1\xf8\xf3\x09\x7e\x74\x60\x03\0\0\0\0\0\0\0\x0c\0\0\0no/msg/Such\0\x01\0\0\0\0\0\0\0";
    let guid = "010f78fd717b3e540000000000000504";
    let qos = format!("83001800{guid}ffffffff000000000f801800{guid}ffffffff0000000001000000");
    let inputs = [request.to_vec(), bytes(&qos)];
    fuzz(
        "dds_service",
        dds_service::fuzz_dds_service,
        &inputs,
        ROUNDS,
        &[],
    );
}
