//! Payloads on their way between Zenoh's buffers and ours.

use bytes::Bytes;
use zenoh::bytes::ZBytes;

/// The length of an encapsulation header.
pub(crate) const ENCAPSULATION: usize = 4;

/// From this size on, sharing the network buffer is worth its memory: it may hold up to 64 KiB of other data.
const SHARED: usize = 32 << 10;

/// The payload in one piece: shared if it is contiguous and large, copied otherwise.
pub(crate) fn contiguous(payload: &ZBytes) -> Bytes {
    let mut slices = payload.slices();
    let first = slices.next().unwrap_or_default();
    if first.len() < payload.len() {
        let mut whole = Vec::with_capacity(payload.len());
        whole.extend_from_slice(first);
        slices.for_each(|slice| whole.extend_from_slice(slice));
        whole.into()
    } else if first.len() >= SHARED {
        Bytes::from_owner(OneSlice(payload.clone()))
    } else {
        Bytes::copy_from_slice(first)
    }
}

/// A payload in one piece, kept in its buffer.
struct OneSlice(ZBytes);

impl AsRef<[u8]> for OneSlice {
    fn as_ref(&self) -> &[u8] {
        self.0.slices().next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_in_any_number_of_pieces_give_the_same_bytes() {
        for length in [0, 1, 100, SHARED - 1, SHARED, SHARED + 1] {
            let bytes: Vec<u8> = (0..=250).cycle().take(length).collect();
            assert_eq!(contiguous(&ZBytes::from(bytes.clone())), bytes, "{length}");
        }
        let mut pieces = ZBytes::writer();
        pieces.append(ZBytes::from(vec![1; 10]));
        pieces.append(ZBytes::from(vec![2; SHARED]));
        let whole = contiguous(&pieces.finish());
        assert_eq!(whole.len(), SHARED + 10);
        assert_eq!((whole[9], whole[10]), (1, 2));
    }
}
