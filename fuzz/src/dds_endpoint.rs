//! What a peer tells of an endpoint.

/// Reads it as the DDS transport does.
pub fn fuzz_dds_endpoint(data: &[u8]) {
    timeloom_dds::fuzzing::endpoint(data);
}
