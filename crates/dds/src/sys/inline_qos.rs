//! The one inline `QoS` parameter that we read and write: the request that a sample belongs to.

/// A sample by its writer (or, in Fast DDS's services, by the client's reader) and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleIdentity {
    pub(crate) guid: [u8; 16],
    pub(crate) sequence: i64,
}

/// The standard's parameter and the one of old versions of Fast DDS.
pub(crate) const RELATED_SAMPLE_IDENTITY: [u16; 2] = [0x0083, 0x800f];

const SENTINEL: u16 = 1;
const PAD: u16 = 0;
pub(crate) const ENCODED: usize = 24;

impl SampleIdentity {
    /// A number that is not known, as RTPS spells it: high -1, low 0.
    pub(crate) const UNKNOWN_SEQUENCE: i64 = -1 << 32;

    /// The 24 bytes of the parameter, little endian as everything that we send.
    pub(crate) fn encode(&self) -> [u8; ENCODED] {
        let mut bytes = [0; ENCODED];
        let (guid, number) = bytes.split_at_mut(16);
        guid.copy_from_slice(&self.guid);
        let swapped = self.sequence.cast_unsigned().rotate_left(32);
        number.copy_from_slice(&swapped.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8], little_endian: bool) -> Option<Self> {
        let (guid, rest) = bytes.split_first_chunk::<16>()?;
        let (high, rest) = rest.split_first_chunk::<4>()?;
        let (low, _) = rest.split_first_chunk::<4>()?;
        let (high, low) = if little_endian {
            (u32::from_le_bytes(*high), u32::from_le_bytes(*low))
        } else {
            (u32::from_be_bytes(*high), u32::from_be_bytes(*low))
        };
        let sequence = (u64::from(high) << 32 | u64::from(low)).cast_signed();
        Some(Self {
            guid: *guid,
            sequence,
        })
    }

    /// Finds it in a parameter list; anything malformed ends the search.
    pub(crate) fn find(mut list: &[u8], little_endian: bool) -> Option<Self> {
        loop {
            let (id, rest) = read_u16(list, little_endian)?;
            let (length, rest) = read_u16(rest, little_endian)?;
            // The top bits are flags ("must understand"), and vendors have their own numbers.
            if id & 0x7fff == SENTINEL {
                return None;
            }
            let length = if id == PAD { 0 } else { usize::from(length) };
            let (value, rest) = rest.split_at_checked(length)?;
            if RELATED_SAMPLE_IDENTITY.contains(&id) {
                return Self::decode(value, little_endian);
            }
            list = rest;
        }
    }
}

fn read_u16(bytes: &[u8], little_endian: bool) -> Option<(u16, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<2>()?;
    let number = if little_endian {
        u16::from_le_bytes(*number)
    } else {
        u16::from_be_bytes(*number)
    };
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: SampleIdentity = SampleIdentity {
        guid: [7; 16],
        sequence: 0x1_0000_0002,
    };

    fn list(id: u16, value: &[u8]) -> Vec<u8> {
        let length = u16::try_from(value.len()).unwrap();
        [&id.to_le_bytes(), &length.to_le_bytes(), value].concat()
    }

    #[test]
    fn both_parameters_are_found_behind_others() {
        for id in RELATED_SAMPLE_IDENTITY {
            let bytes = [
                list(0x0070, &[1; 16]),
                list(id, &IDENTITY.encode()),
                list(1, &[]),
            ]
            .concat();
            assert_eq!(SampleIdentity::find(&bytes, true), Some(IDENTITY));
        }
    }

    #[test]
    fn the_unknown_number_is_spelt_as_fast_dds_does() {
        let identity = SampleIdentity {
            sequence: SampleIdentity::UNKNOWN_SEQUENCE,
            ..IDENTITY
        };
        assert_eq!(
            identity.encode()[16..],
            [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]
        );
        let bytes = list(0x0083, &identity.encode());
        assert_eq!(SampleIdentity::find(&bytes, true), Some(identity));
    }

    #[test]
    fn nothing_is_read_beyond_the_end() {
        let whole = [list(0x0070, &[1; 16]), list(0x0083, &IDENTITY.encode())].concat();
        for length in 0..whole.len() {
            assert_eq!(
                SampleIdentity::find(&whole[..length], true),
                None,
                "{length}"
            );
        }
        assert_eq!(SampleIdentity::find(&list(0x0083, &[0; 20]), true), None);
        assert_eq!(SampleIdentity::find(&[0x83, 0, 0xff, 0xff, 1], true), None);
        let after_the_end = [list(1, &[]), list(0x0083, &IDENTITY.encode())].concat();
        assert_eq!(SampleIdentity::find(&after_the_end, true), None);
    }
}
