//! Headers of requests and replies.

/// Reads it as the DDS transport does.
pub fn fuzz_dds_service(data: &[u8]) {
    timeloom_dds::fuzzing::service_header(data);
}
