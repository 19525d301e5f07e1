//! The two encodings that relate a reply to its request.
//!
//! `rmw_cyclonedds` puts a header before the request; `rmw_fastrtps` sends the identity beside the payload, as inline
//! `QoS`. The vendor of the writer decides which one it is.

use bytes::{BufMut as _, Bytes, BytesMut};

/// The encoding of a peer's services; [`timeloom_wire::RequestId::dialect`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// A header of 16 bytes after the encapsulation header.
    Cyclone,
    /// The related sample identity.
    Standard,
}

const CYCLONE_VENDOR: [u8; 2] = [0x01, 0x10];
const ENCAPSULATION: usize = 4;

impl Dialect {
    /// By the first two bytes of a GUID.
    pub(crate) fn of(guid: &[u8; 16]) -> Self {
        if guid.starts_with(&CYCLONE_VENDOR) {
            Self::Cyclone
        } else {
            Self::Standard
        }
    }

    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Cyclone => 0,
            Self::Standard => 1,
        }
    }

    pub(crate) fn from_number(number: u8) -> Self {
        if number == 0 {
            Self::Cyclone
        } else {
            Self::Standard
        }
    }
}

/// The header that `rmw_cyclonedds` puts before requests and replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CycloneHeader {
    /// The client, by a number that it chose.
    pub(crate) client: u64,
    pub(crate) sequence: i64,
}

impl CycloneHeader {
    /// Splits a payload into header and the message with its encapsulation header.
    pub(crate) fn split(payload: &Bytes) -> Option<(Self, Bytes)> {
        let (encapsulation, rest) = payload.split_first_chunk::<ENCAPSULATION>()?;
        let (client, rest) = rest.split_first_chunk()?;
        let (sequence, message) = rest.split_first_chunk()?;
        let header = if little_endian(payload) {
            Self {
                client: u64::from_le_bytes(*client),
                sequence: i64::from_le_bytes(*sequence),
            }
        } else {
            Self {
                client: u64::from_be_bytes(*client),
                sequence: i64::from_be_bytes(*sequence),
            }
        };
        let mut without = BytesMut::with_capacity(ENCAPSULATION + message.len());
        without.put_slice(encapsulation);
        without.put_slice(message);
        Some((header, without.freeze()))
    }

    /// The message with this header after its encapsulation header; `None` if it has none.
    pub(crate) fn join(&self, message: &Bytes) -> Option<Bytes> {
        let (encapsulation, rest) = message.split_first_chunk::<ENCAPSULATION>()?;
        let mut with = BytesMut::with_capacity(message.len() + 16);
        with.put_slice(encapsulation);
        if little_endian(message) {
            with.put_u64_le(self.client);
            with.put_i64_le(self.sequence);
        } else {
            with.put_u64(self.client);
            with.put_i64(self.sequence);
        }
        with.put_slice(rest);
        Some(with.freeze())
    }
}

fn little_endian(payload: &[u8]) -> bool {
    payload.get(1).is_some_and(|low| low & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The third request and reply in `type_description_rtps.txt`.
    const REQUEST: &[u8] = b"\x00\x01\x00\x00\xf4\xa1\xf8\xf3\x09\x7e\x74\x60\x03\0\0\0\0\0\0\0\x0c\0\0\0no/msg/Such\0\x01\0\0\0\0\0\0\0";

    #[test]
    fn captured_requests_are_split_and_joined_byte_for_byte() {
        let request = Bytes::from_static(REQUEST);
        let (header, message) = CycloneHeader::split(&request).unwrap();
        assert_eq!(
            header.client.to_le_bytes(),
            [0xf4, 0xa1, 0xf8, 0xf3, 0x09, 0x7e, 0x74, 0x60]
        );
        assert_eq!(header.sequence, 3);
        assert_eq!(message[..8], [0, 1, 0, 0, 0x0c, 0, 0, 0]);
        assert_eq!(header.join(&message).unwrap(), request);
    }

    #[test]
    fn big_endian_headers_are_swapped() {
        let header = CycloneHeader {
            client: 0x0102_0304_0506_0708,
            sequence: 9,
        };
        let joined = header.join(&Bytes::from_static(&[0, 0, 0, 0, 5])).unwrap();
        assert_eq!(joined[4..12], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(joined[12..], [0, 0, 0, 0, 0, 0, 0, 9, 5]);
        assert_eq!(CycloneHeader::split(&joined).unwrap().0, header);
    }

    #[test]
    fn short_payloads_have_no_header() {
        for length in 0..20 {
            assert_eq!(
                CycloneHeader::split(&Bytes::from_static(&REQUEST[..length])),
                None
            );
        }
    }

    #[test]
    fn the_vendor_decides_the_encoding() {
        assert_eq!(
            Dialect::of(&[1, 0x10, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            Dialect::Cyclone
        );
        assert_eq!(
            Dialect::of(&[1, 0x0f, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            Dialect::Standard
        );
        for dialect in [Dialect::Cyclone, Dialect::Standard] {
            assert_eq!(Dialect::from_number(dialect.number()), dialect);
        }
    }
}
