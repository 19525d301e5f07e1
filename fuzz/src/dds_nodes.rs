//! What is sent on `ros_discovery_info`.

/// Reads it as the DDS transport does.
pub fn fuzz_dds_nodes(data: &[u8]) {
    timeloom_dds::fuzzing::node_list(data);
}
