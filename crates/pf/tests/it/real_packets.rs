//! The packets of a real R2000 decode to the table that was captured with them.

use std::collections::BTreeMap;

use timeloom_pf::packet::HeaderForm;
use timeloom_pf::{Packet, PacketStream, Point, ScanAssembler};

use crate::support::{at, dump};

/// The captured table: a map from column to text for each packet.
fn table() -> Vec<BTreeMap<&'static str, &'static str>> {
    let mut lines = include_str!("../data/dump_r2000_C_large_headers.csv").lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| columns.iter().copied().zip(line.split(',')).collect())
        .collect()
}

fn packets() -> Vec<Vec<u8>> {
    let mut stream = PacketStream::new();
    stream.push(&dump());
    let mut packets = Vec::new();
    while let Some(bytes) = stream.next_packet().unwrap() {
        packets.push(bytes.to_vec());
    }
    assert_eq!((stream.skipped(), stream.end().is_none()), (0, true));
    packets
}

#[test]
fn headers_are_those_of_the_table() {
    let (packets, table) = (packets(), table());
    assert_eq!((packets.len(), table.len()), (20, 20));
    let mut offset = 0;
    for (bytes, row) in packets.iter().zip(&table) {
        let packet = Packet::parse(bytes).unwrap();
        let header = &packet.header;
        let iq = header.iq_stamps.unwrap();
        let amplitudes = packet.points().filter(Point::is_error).count();
        let distance = |point: Point| point.distance.unwrap_or(0xf_ffff);
        let shown = [
            ("offset", offset.to_string()),
            ("ptype", header.packet_type.to_string()),
            ("psize", header.packet_size.to_string()),
            ("hsize", header.header_size.to_string()),
            ("scan", header.scan_number.to_string()),
            ("pno", header.packet_number.to_string()),
            ("status", header.status.0.to_string()),
            ("freq_mHz", header.scan_frequency.to_string()),
            ("npts_scan", header.num_points_scan.to_string()),
            ("npts_pkt", header.num_points_packet.to_string()),
            ("first_idx", header.first_index.to_string()),
            ("first_angle", header.first_angle.to_string()),
            ("ang_inc", header.angular_increment.to_string()),
            ("iq_in", header.iq_input.to_string()),
            ("iq_ovl", header.iq_overload.to_string()),
            ("ts_raw", header.timestamp_raw.to_string()),
            ("ts_sync", header.timestamp_sync.to_string()),
            ("iq_ts_raw", iq.raw.to_string()),
            ("iq_ts_sync", iq.sync.to_string()),
            ("amp_lt32", amplitudes.to_string()),
            (
                "dmin",
                packet.points().map(distance).min().unwrap().to_string(),
            ),
            (
                "dmax",
                packet.points().map(distance).max().unwrap().to_string(),
            ),
        ];
        for (column, value) in shown {
            assert_eq!(value, row[column], "{column} of the packet at {offset}");
        }
        offset += bytes.len();
    }
}

#[test]
fn written_again_they_are_the_same_bytes() {
    for bytes in packets() {
        let packet = Packet::parse(&bytes).unwrap();
        let points: Vec<Point> = packet.points().collect();
        assert_eq!(
            packet.header.write(HeaderForm::Full, &points).unwrap(),
            bytes
        );
        let old = packet.header.write(HeaderForm::Old, &points).unwrap();
        let old = Packet::parse(&old).unwrap();
        assert_eq!((old.header.header_size, old.header.iq_stamps), (60, None));
        assert_eq!(old.header.timestamp_raw, packet.header.timestamp_raw);
        assert!(old.points().eq(points));
    }
}

#[test]
fn they_make_one_scan_and_the_start_of_another() {
    let mut assembler = ScanAssembler::new(0);
    let mut scans = Vec::new();
    for (index, bytes) in (0_i64..).zip(&packets()) {
        let packet = Packet::parse(bytes).unwrap();
        let taken = assembler.push(&packet, at(index * 1_640_000)).unwrap();
        assert!(taken.fresh);
        scans.extend(taken.scans);
    }
    let [scan] = scans.as_slice() else {
        panic!("{} scans", scans.len());
    };
    assert!(scan.is_complete());
    assert_eq!(
        (scan.points.len(), scan.first_stamp),
        (5_040, 24_324_779_926_785)
    );
    assert!(
        (scan.angle_increment - 360.0 / 5_040.0).abs() < 1e-12,
        "the header rounds to 714"
    );
    // 39.991 Hz by the stamps, as the capture's analysis found; the header says 40.000.
    let turn = scan.point_period_ns * 5_040.0;
    assert!((turn - 25_005_800.0).abs() < 3_000.0, "{turn}");
    let rest = assembler.finish().unwrap();
    assert_eq!(rest.missing, 5_040 - 4 * 332);
    let counters = assembler.counters();
    assert_eq!((counters.packets, counters.packets_lost), (20, 12));
    assert_eq!((counters.scans, counters.scans_incomplete), (1, 1));
    let echoless = scan.points.iter().filter(|point| point.distance.is_none());
    assert!(echoless.count() > 0);
}

#[test]
fn a_stream_in_pieces_and_with_rubbish_between_gives_the_same_packets() {
    let expected = packets();
    let mut stream = PacketStream::new();
    let mut found = Vec::new();
    let mut errors = 0;
    for (index, packet) in expected.iter().enumerate() {
        // Rubbish of three kinds: no magic, a magic alone, and the start of a header that cannot be.
        let rubbish: &[u8] = [
            &b"noise"[..],
            b"\x5c\xa2",
            b"\x5c\xa2\x43\0\xff\xff\xff\xff\x4c\0\0\0\x01\0",
        ][index % 3];
        for piece in rubbish.chunks(3).chain(packet.chunks(7 + index * 13)) {
            stream.push(piece);
            loop {
                match stream.next_packet() {
                    Ok(Some(bytes)) => found.push(bytes.to_vec()),
                    Ok(None) => break,
                    Err(_) => errors += 1,
                }
            }
        }
    }
    assert_eq!(found, expected);
    assert!(errors > 0);
    assert_eq!(stream.skipped(), 7 * 5 + 7 * 2 + 6 * 14);
    stream.push(&expected[0][..100]);
    assert_eq!(stream.next_packet().unwrap(), None);
    assert_eq!(
        stream.end().unwrap().to_string(),
        "the packet stream ended within a packet, after 100 bytes"
    );
}
