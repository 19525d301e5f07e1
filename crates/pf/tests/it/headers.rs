//! Headers of every size that firmware has written, and of sizes that it may write one day.

use timeloom_pf::packet::{HeaderForm, Layer};
use timeloom_pf::{Error, Header, Packet, PacketType, Point};

use crate::support::small_packet;

/// A packet of this type with a header of exactly this size: cut, or padded with bytes that mean nothing.
fn with_header(packet_type: PacketType, size: u16) -> (Header, Vec<Point>, Vec<u8>) {
    let bytes = small_packet(3, 2);
    let packet = Packet::parse(&bytes).unwrap();
    let layer = Layer {
        index: 2,
        inclination: -15_000,
    };
    let header = Header {
        packet_type,
        layer: (packet_type == PacketType::C1).then_some(layer),
        iq_input: 5,
        iq_overload: 6,
        ..packet.header
    };
    let points: Vec<Point> = packet.points().collect();
    let full = header.write(HeaderForm::Full, &points).unwrap();
    let header_size = usize::from(HeaderForm::Full.size(packet_type));
    let (head, payload) = full.split_at(header_size);
    let mut bytes = head.to_vec();
    bytes.resize(usize::from(size), 0xee);
    bytes.extend_from_slice(payload);
    let length = u32::try_from(bytes.len()).unwrap();
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    bytes[8..10].copy_from_slice(&size.to_le_bytes());
    (header, points, bytes)
}

#[test]
fn points_begin_where_the_header_says() {
    use PacketType::{A, B, C, C1};
    for (packet_type, size, has_stamps) in [
        // 60 of old firmware, 76 of new; then what may come.
        (A, 60, false),
        (B, 60, false),
        (C, 60, false),
        (C, 68, false),
        (A, 76, true),
        (B, 76, true),
        (C, 76, true),
        (C, 80, true),
        (C, 200, true),
        // 82 bytes of fields, which may be padded to 84.
        (C1, 58, false),
        (C1, 66, false),
        (C1, 82, true),
        (C1, 84, true),
        (C1, 96, true),
    ] {
        let (written, points, bytes) = with_header(packet_type, size);
        let packet = Packet::parse(&bytes).unwrap();
        let name = format!("{packet_type} with {size} bytes");
        let read: Vec<Point> = packet.points().collect();
        let distances =
            |points: &[Point]| -> Vec<_> { points.iter().map(|p| p.distance).collect() };
        assert_eq!(distances(&read), distances(&points), "{name}");
        assert_eq!(read[0].amplitude.is_some(), packet_type != A, "{name}");
        let header = packet.header;
        assert_eq!(header.iq_stamps.is_some(), has_stamps, "{name}");
        let expected = Header {
            packet_size: u32::try_from(bytes.len()).unwrap(),
            header_size: size,
            num_points_packet: 40,
            iq_stamps: written.iq_stamps.filter(|_| has_stamps),
            // The shortest header of the R2300 ends before them.
            iq_input: if size == 58 { 0 } else { 5 },
            iq_overload: if size == 58 { 0 } else { 6 },
            ..written
        };
        assert_eq!(header, expected, "{name}");
    }
}

#[test]
fn headers_that_are_too_short_for_their_fields_are_refused() {
    for (packet_type, size) in [
        (PacketType::A, 59),
        (PacketType::C, 14),
        (PacketType::C1, 57),
    ] {
        let (_, _, bytes) = with_header(packet_type, size);
        let error = Packet::parse(&bytes).unwrap_err();
        assert!(matches!(error, Error::HeaderSize { .. }), "{error}");
        let text = format!("invalid header length {size} in a packet {packet_type}");
        assert!(error.to_string().starts_with(&text), "{error}");
    }
}
