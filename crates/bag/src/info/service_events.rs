//! Counts requests and responses in the events of a service.

use std::collections::HashSet;

/// The identity of a call: the client and its sequence number.
type Call = ([u8; 16], i64);

/// The calls so far. A request that both the client and the service reported counts once, as in rosbag2.
#[derive(Default)]
pub(super) struct ServiceCounts {
    requests: HashSet<Call>,
    responses: HashSet<Call>,
}

impl ServiceCounts {
    /// Counts one event: CDR of `service_msgs/msg/ServiceEventInfo` at its start. Anything else is not counted.
    pub(super) fn take(&mut self, data: &[u8]) {
        let Some((kind, call)) = parse(data) else {
            return;
        };
        match kind {
            0 | 1 => self.requests.insert(call),
            2 | 3 => self.responses.insert(call),
            _ => false,
        };
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.len() as u64
    }

    pub(super) fn responses(&self) -> u64 {
        self.responses.len() as u64
    }
}

/// Encapsulation (4), event type (1), padding (3), stamp (8), client (16), padding (4), sequence number (8).
fn parse(data: &[u8]) -> Option<(u8, Call)> {
    let little_endian = data.get(1)? & 1 == 1;
    let kind = *data.get(4)?;
    let client: [u8; 16] = data.get(16..32)?.try_into().ok()?;
    let sequence: [u8; 8] = data.get(36..44)?.try_into().ok()?;
    let sequence = if little_endian {
        i64::from_le_bytes(sequence)
    } else {
        i64::from_be_bytes(sequence)
    };
    Some((kind, (client, sequence)))
}
