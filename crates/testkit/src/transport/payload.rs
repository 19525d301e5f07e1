use bytes::Bytes;

/// CDR, little endian.
const HEADER: [u8; 4] = [0, 1, 0, 0];

/// A payload with `length` bytes after its encapsulation header, filled by `mark`: no two marks look alike.
pub fn payload(mark: u32, length: usize) -> Bytes {
    let mut state = u64::from(mark).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut bytes = Vec::with_capacity(HEADER.len() + length);
    bytes.extend(HEADER);
    while bytes.len() < HEADER.len() + length {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let word = state.to_be_bytes();
        let room = HEADER.len() + length - bytes.len();
        bytes.extend(word.into_iter().take(room));
    }
    bytes.into()
}

/// Whether the bytes are `payload(mark, length)`; up to three bytes of padding to a multiple of four may follow.
pub fn is_payload(bytes: &[u8], mark: u32, length: usize) -> bool {
    let wanted = payload(mark, length);
    bytes
        .strip_prefix(&*wanted)
        .is_some_and(|padding| padding.len() <= wanted.len().next_multiple_of(4) - wanted.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_and_truncated_payloads_are_detected() {
        for length in [0, 1, 7, 8, 100] {
            let bytes = payload(3, length);
            assert_eq!(bytes.len(), 4 + length);
            assert!(is_payload(&bytes, 3, length));
            assert!(length == 0 || !is_payload(&bytes, 4, length));
            assert!(!is_payload(&bytes[..bytes.len() - 1], 3, length));
        }
        let mut padded = payload(1, 5).to_vec();
        padded.extend([0; 3]);
        assert!(is_payload(&padded, 1, 5));
        padded.push(0);
        assert!(!is_payload(&padded, 1, 5));
    }
}
