//! The attachment of `rmw_zenoh` to every message, request and reply.

use timeloom_wire::Gid;

/// Sequence number, time and sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attachment {
    /// The writer's number of the message, from 1; that of a request is repeated by its reply.
    pub(crate) sequence: i64,
    /// When it was sent, in nanoseconds of the sender's system clock.
    pub(crate) source_time: i64,
    /// The sender; in a reply, the client.
    pub(crate) gid: Gid,
}

/// Two numbers, the length of the gid, and the gid.
const LENGTH: usize = 8 + 8 + 1 + GID;
const GID: usize = 16;
/// The length that precedes the gid.
const GID_LENGTH: u8 = 16;

impl Attachment {
    /// The bytes on the wire, as the serializer of `zenoh-ext` writes them: numbers little endian, arrays preceded by
    /// their length.
    pub(crate) fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.source_time.to_le_bytes());
        bytes[16] = GID_LENGTH;
        bytes[17..].copy_from_slice(&self.gid.0);
        bytes
    }

    /// Reads the bytes; bytes that follow are ignored, as `rmw_zenoh` does.
    ///
    /// # Errors
    /// The reason as text.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, String> {
        let short = || {
            format!(
                "its attachment has {} bytes instead of {LENGTH}",
                bytes.len()
            )
        };
        let (sequence, rest) = bytes.split_first_chunk().ok_or_else(short)?;
        let (source_time, rest) = rest.split_first_chunk().ok_or_else(short)?;
        let (length, rest) = rest.split_first().ok_or_else(short)?;
        if *length != GID_LENGTH {
            return Err(format!(
                "its attachment has a gid of {length} bytes instead of {GID}"
            ));
        }
        let gid = rest.first_chunk().ok_or_else(short)?;
        Ok(Self {
            sequence: i64::from_le_bytes(*sequence),
            source_time: i64::from_le_bytes(*source_time),
            gid: Gid(*gid),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_bytes_equal_those_of_the_serializer() {
        let attachment = Attachment {
            sequence: 7,
            source_time: -2,
            gid: Gid([0xab; 16]),
        };
        let mut serializer = zenoh_ext::ZSerializer::new();
        serializer.serialize(attachment.sequence);
        serializer.serialize(attachment.source_time);
        serializer.serialize(attachment.gid.0);
        assert_eq!(*serializer.finish().to_bytes(), attachment.encode());
        assert_eq!(Attachment::decode(&attachment.encode()), Ok(attachment));
    }

    #[test]
    fn a_truncated_attachment_is_refused_with_the_reason() {
        let whole = Attachment {
            sequence: 1,
            source_time: 1,
            gid: Gid::UNKNOWN,
        }
        .encode();
        for length in 0..LENGTH {
            assert!(Attachment::decode(&whole[..length]).is_err(), "{length}");
        }
        let mut absurd = whole;
        absurd[16] = 0xff;
        assert!(Attachment::decode(&absurd).unwrap_err().contains("255"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(attachment) = Attachment::decode(&bytes) {
                prop_assert_eq!(&attachment.encode()[..], &bytes[..LENGTH]);
            }
        }
    }
}
