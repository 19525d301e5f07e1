use bytes::Bytes;
use timeloom_time::{Ros, Time, WireTime};

/// The type of `/clock`.
pub(super) const TYPE: &str = "rosgraph_msgs/msg/Clock";
/// Little endian CDR.
const HEADER: [u8; 4] = [0, 1, 0, 0];
const LENGTH: usize = 12;
/// The last time that the message can hold: 2038-01-19T03:14:07.999999999.
pub(super) const LATEST: Time<Ros> = Time::from_nanos(2_147_483_647_999_999_999);

/// Encodes a `rosgraph_msgs/msg/Clock`; times after 2038 become the last one that fits.
pub fn encode_clock(time: Time<Ros>) -> Bytes {
    let wire = WireTime::saturating_from(time);
    let mut payload = [0; LENGTH];
    payload[..4].copy_from_slice(&HEADER);
    payload[4..8].copy_from_slice(&wire.sec.to_le_bytes());
    payload[8..].copy_from_slice(&wire.nanosec.to_le_bytes());
    Bytes::copy_from_slice(&payload)
}

/// Decodes a `rosgraph_msgs/msg/Clock`; `None` if it is malformed.
pub fn decode_clock(payload: &[u8]) -> Option<Time<Ros>> {
    let payload: &[u8; LENGTH] = payload.get(..LENGTH)?.try_into().ok()?;
    let [_, order, _, _, sec @ .., n0, n1, n2, n3] = *payload;
    let nanosec = [n0, n1, n2, n3];
    let (sec, nanosec) = match (payload[0], order) {
        (0, 0 | 6 | 8 | 10) => (i32::from_be_bytes(sec), u32::from_be_bytes(nanosec)),
        (0, 1 | 7 | 9 | 11) => (i32::from_le_bytes(sec), u32::from_le_bytes(nanosec)),
        _ => return None,
    };
    Some(WireTime { sec, nanosec }.into())
}

#[cfg(test)]
mod tests {
    use timeloom_msg::Definitions;

    use super::*;

    #[test]
    fn a_time_round_trips() {
        for nanos in [0, 1, 1_794_733_131_923_572_955, -1_500_000_000] {
            let time = Time::from_nanos(nanos);
            assert_eq!(decode_clock(&encode_clock(time)), Some(time));
        }
    }

    #[test]
    fn the_layout_is_that_of_the_schema() {
        let schema = Definitions::builtin().schema(TYPE).unwrap();
        let mut value = schema.default_value().unwrap();
        value.set("clock.sec", -3).unwrap();
        value.set("clock.nanosec", 500_u32).unwrap();
        let payload = schema.encode(&value).unwrap();
        let time = Time::from_nanos(-2_999_999_500);
        assert_eq!(decode_clock(&payload), Some(time));
        assert_eq!(encode_clock(time), payload);
        for short in 0..payload.len() {
            assert_eq!(decode_clock(&payload[..short]), None, "{short}");
        }
    }

    #[test]
    fn big_endian_is_decoded_and_malformed_payloads_are_not() {
        let big = [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3];
        assert_eq!(decode_clock(&big), Some(Time::from_nanos(2_000_000_003)));
        assert_eq!(decode_clock(&[0, 1, 0, 0]), None);
        assert_eq!(decode_clock(&[9; 12]), None);
    }
}
