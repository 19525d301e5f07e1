use super::packet_type::PacketType;

/// Distances and amplitudes of the packed types: 20 bits below, 12 above.
const PACKED_DISTANCE: u32 = 0x000f_ffff;
/// Amplitudes below are no amplitudes but codes of why there is no distance.
const LEAST_AMPLITUDE: u16 = 32;

/// One measured point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Point {
    /// The distance in millimetres; none if there was no echo or it could not be measured.
    pub distance: Option<u32>,
    /// The amplitude as sent; none of packets without amplitudes. Below 32 it is a code of an error.
    pub amplitude: Option<u16>,
}

impl Point {
    /// Whether the amplitude is the code of an error.
    pub fn is_error(&self) -> bool {
        self.amplitude.is_some_and(|code| code < LEAST_AMPLITUDE)
    }
}

/// The points of a packet, in their order.
#[derive(Debug, Clone)]
pub struct Points<'a> {
    pub(super) packet_type: PacketType,
    pub(super) bytes: &'a [u8],
}

impl Iterator for Points<'_> {
    type Item = Point;

    fn next(&mut self) -> Option<Point> {
        let (first, rest) = self.bytes.split_first_chunk::<4>()?;
        let word = u32::from_le_bytes(*first);
        let (point, rest) = match self.packet_type {
            PacketType::A => (whole(word, None), rest),
            PacketType::B => {
                let (amplitude, rest) = rest.split_first_chunk::<2>()?;
                (whole(word, Some(u16::from_le_bytes(*amplitude))), rest)
            }
            PacketType::C | PacketType::C1 => (packed(word), rest),
        };
        self.bytes = rest;
        Some(point)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.bytes.len() / self.packet_type.point_size();
        (count, Some(count))
    }
}

impl ExactSizeIterator for Points<'_> {}

fn whole(distance: u32, amplitude: Option<u16>) -> Point {
    Point {
        distance: (distance != u32::MAX).then_some(distance),
        amplitude,
    }
}

fn packed(word: u32) -> Point {
    let distance = word & PACKED_DISTANCE;
    Point {
        distance: (distance != PACKED_DISTANCE).then_some(distance),
        // 12 bits are left, so nothing is cut off.
        amplitude: u16::try_from(word >> 20).ok(),
    }
}
