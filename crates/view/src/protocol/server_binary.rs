const MESSAGE: u8 = 1;
const TIME: u8 = 2;
const RESPONSE: u8 = 3;

/// The header of message data, before the payload: opcode 1, subscription, time.
pub fn message_head(subscription: u32, log_time_ns: u64) -> [u8; 13] {
    let mut head = [MESSAGE; 13];
    let (id, time) = head.split_at_mut(5);
    if let Some(id) = id.get_mut(1..) {
        id.copy_from_slice(&subscription.to_le_bytes());
    }
    time.copy_from_slice(&log_time_ns.to_le_bytes());
    head
}

/// The server's time: opcode 2.
pub fn time(time_ns: u64) -> [u8; 9] {
    let mut out = [TIME; 9];
    if let Some(time) = out.get_mut(1..) {
        time.copy_from_slice(&time_ns.to_le_bytes());
    }
    out
}

/// The header of a service response, before the payload: opcode 3, service, call, encoding.
pub fn service_response(service: u32, call: u32, encoding: &str) -> Vec<u8> {
    let mut out = vec![RESPONSE];
    out.extend(service.to_le_bytes());
    out.extend(call.to_le_bytes());
    let length = u32::try_from(encoding.len()).unwrap_or(u32::MAX);
    out.extend(length.to_le_bytes());
    out.extend(encoding.as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layouts_are_as_documented() {
        assert_eq!(
            message_head(30, 1675),
            *b"\x01\x1e\0\0\0\x8b\x06\0\0\0\0\0\0"
        );
        assert_eq!(time(1), *b"\x02\x01\0\0\0\0\0\0\0");
        assert_eq!(
            service_response(10, 12, "cdr"),
            b"\x03\x0a\0\0\0\x0c\0\0\0\x03\0\0\0cdr"
        );
    }
}
