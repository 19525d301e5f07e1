//! What a peer on Zenoh tells: tokens, `QoS`, attachments.

/// Reads it as the Zenoh transport does.
pub fn fuzz_zenoh(data: &[u8]) {
    timeloom_zenoh::fuzzing::token(data);
    timeloom_zenoh::fuzzing::attachment(data);
}
