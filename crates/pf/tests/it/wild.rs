//! Any bytes at all: parsers refuse or read, and never panic.

use proptest::prelude::*;
use timeloom_pf::pfsdp::{Command, Reply};
use timeloom_pf::{Error, Packet, PacketStream, Response, ResponseParser, ScanAssembler};

use crate::support::{at, small_packet};

#[test]
fn sizes_that_do_not_fit_are_named() {
    let good = small_packet(1, 1);
    let cut = Packet::parse(&good[..100]).unwrap_err();
    assert_eq!(
        cut.to_string(),
        "packet length is 236 bytes in the header, but 100 bytes arrived"
    );
    let mut long = good.clone();
    long.push(0);
    assert!(matches!(
        Packet::parse(&long),
        Err(Error::PacketSize {
            said: 236,
            received: 237
        })
    ));
    for size in [0_u16, 59, 237, u16::MAX] {
        let mut header = good.clone();
        header[8..10].copy_from_slice(&size.to_le_bytes());
        assert!(
            matches!(Packet::parse(&header), Err(Error::HeaderSize { .. })),
            "{size}"
        );
    }
    let mut points = good.clone();
    points[40..42].copy_from_slice(&41_u16.to_le_bytes());
    let error = Packet::parse(&points).unwrap_err();
    assert_eq!(
        error.to_string(),
        "packet header has 41 points of 4 bytes, but 160 bytes of points follow"
    );
    let mut unknown = good.clone();
    unknown[2] = b'Z';
    assert!(matches!(
        Packet::parse(&unknown),
        Err(Error::UnknownPacketType { code: 0x5a })
    ));
    assert!(matches!(
        Packet::parse(b"GET / HTTP"),
        Err(Error::NoPacket { .. })
    ));
    assert!(Packet::parse(&[]).is_err());
}

proptest! {
    #[test]
    fn packets_of_any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..400), changes in prop::collection::vec((0..236_usize, any::<u8>()), 0..8)) {
        let mut assembler = ScanAssembler::new(0);
        let mut good = small_packet(1, 1);
        for (place, value) in changes {
            good[place] = value;
        }
        for input in [&bytes, &good] {
            if let Ok(packet) = Packet::parse(input) {
                prop_assert_eq!(packet.points().count(), usize::from(packet.header.num_points_packet));
                let _refused = assembler.push(&packet, at(0));
            }
        }
        bytes.extend(&good);
        let mut stream = PacketStream::new();
        let mut given = 0;
        for piece in bytes.chunks(50) {
            stream.push(piece);
            // Each call takes a byte at least, or there is nothing to take.
            for _ in 0..=bytes.len() {
                match stream.next_packet() {
                    Ok(Some(packet)) => given += packet.len() as u64,
                    Ok(None) => break,
                    Err(_) => {}
                }
            }
        }
        prop_assert!(given + stream.skipped() <= bytes.len() as u64);
    }

    #[test]
    fn answers_of_any_bytes(
        start in prop::sample::select(vec!["", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n"]),
        rest in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let bytes = [start.as_bytes(), &rest].concat();
        let whole = ResponseParser::new().push(&bytes);
        let mut parser = ResponseParser::new();
        let mut answer = None;
        for byte in &bytes {
            match parser.push(&[*byte]) {
                Ok(None) => {}
                other => {
                    answer = Some(other);
                    break;
                }
            }
        }
        match (whole, answer) {
            (Ok(Some(whole)), Some(Ok(Some(pieces)))) => prop_assert_eq!(whole, pieces),
            (Ok(None), None) | (Err(_), Some(Err(_))) => {}
            (whole, pieces) => prop_assert!(false, "{whole:?} in one, {pieces:?} in pieces"),
        }
    }

    #[test]
    fn replies_of_any_text(body in ".{0,120}", name in "[a-z_]{0,12}") {
        let response = Response { status: 200, keep_alive: true, body: body.into_bytes() };
        if let Ok(reply) = Reply::read(&Command::ListParameters, &response) {
            let _each = (reply.number(&name), reply.float(&name), reply.text(&name), reply.list(&name));
            let _every = (reply.handle(), reply.protocol());
        }
    }
}
