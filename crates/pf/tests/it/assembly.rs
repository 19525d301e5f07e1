//! Lost, late and doubled packets, and numbers that go backwards.

use proptest::prelude::*;
use timeloom_pf::packet::{HeaderForm, Layer};
use timeloom_pf::{Error, Header, Packet, PacketType, Scan, ScanAssembler, Taken};

use timeloom_time::Duration;

use crate::support::{at, packet_at, small_packet};

fn push(assembler: &mut ScanAssembler, bytes: &[u8]) -> Taken {
    let packet = Packet::parse(bytes).unwrap();
    assembler.push(&packet, at(1)).unwrap()
}

/// Pushes packets by scan and packet number.
fn push_all(assembler: &mut ScanAssembler, numbers: &[(u16, u16)]) -> Vec<Scan> {
    let mut scans = Vec::new();
    for (scan, packet) in numbers {
        scans.extend(push(assembler, &small_packet(*scan, *packet)).scans);
    }
    scans
}

#[test]
fn a_lost_packet_leaves_a_hole_and_a_number() {
    let mut assembler = ScanAssembler::new(0);
    let numbers = [
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 1),
        (2, 3),
        (3, 1),
        (3, 2),
        (3, 3),
    ];
    let scans = push_all(&mut assembler, &numbers);
    let missing: Vec<usize> = scans.iter().map(|scan| scan.missing).collect();
    assert_eq!(missing, [0, 40, 0]);
    let holes = scans[1]
        .points
        .iter()
        .filter(|point| point.distance.is_none());
    assert_eq!(holes.count(), 40);
    assert_eq!(scans[1].points[39].distance, Some(1_039));
    assert_eq!(scans[1].points[80].distance, Some(1_080));
    let counters = assembler.counters();
    assert_eq!((counters.packets_lost, counters.scans_incomplete), (1, 1));
}

#[test]
fn without_its_first_packet_a_scan_still_knows_when_it_began() {
    let mut assembler = ScanAssembler::new(0);
    let scans = push_all(
        &mut assembler,
        &[(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 1)],
    );
    let whole = Packet::parse(&small_packet(2, 1))
        .unwrap()
        .header
        .timestamp_raw;
    let error = scans[1].first_stamp.cast_signed() - whole.cast_signed();
    assert!(
        error.abs() < 4_295,
        "{error} ticks are more than a microsecond"
    );
    assert!((scans[1].first_angle + 180.0).abs() < 1e-9);
}

#[test]
fn duplicates_and_late_packets_are_counted_and_change_nothing() {
    let mut assembler = ScanAssembler::new(0);
    let numbers = [
        (1, 1),
        (1, 1),
        (1, 3),
        (2, 1),
        (1, 2),
        (2, 2),
        (2, 3),
        (2, 3),
        (3, 1),
    ];
    let scans = push_all(&mut assembler, &numbers);
    assert_eq!(scans.len(), 2);
    let counters = assembler.counters();
    assert_eq!(
        (counters.duplicates, counters.late, counters.packets_lost),
        (2, 1, 1)
    );
    assert_eq!((counters.packets, counters.restarts), (9, 0));
    assert!(!push(&mut assembler, &small_packet(3, 1)).fresh);
}

#[test]
fn packets_out_of_order_make_a_whole_scan() {
    let mut assembler = ScanAssembler::new(0);
    let scans = push_all(&mut assembler, &[(1, 2), (1, 3), (1, 1)]);
    assert!(scans[0].is_complete());
    let first = Packet::parse(&small_packet(1, 1)).unwrap().header;
    assert_eq!(scans[0].first_stamp, first.timestamp_raw);
    assert_eq!(assembler.counters().packets_lost, 0);
}

#[test]
fn whole_scans_that_are_missing_are_counted_over_the_wrap_of_their_numbers() {
    let mut assembler = ScanAssembler::new(0);
    for (step, scan) in [65_534, 65_535, 2_u16].into_iter().enumerate() {
        let start = [0.0, 0.1, 0.4][step];
        for packet in 1..=3 {
            push(&mut assembler, &packet_at(scan, packet, start));
        }
    }
    let counters = assembler.counters();
    assert_eq!(
        (counters.scans, counters.scans_lost, counters.packets_lost),
        (3, 2, 6)
    );
    let mut skipping = ScanAssembler::new(2);
    push_all(
        &mut skipping,
        &[(1, 1), (1, 2), (1, 3), (4, 1), (4, 2), (4, 3), (10, 1)],
    );
    assert_eq!(
        skipping.counters().scans_lost,
        1,
        "scans left out on purpose are not lost"
    );
}

#[test]
fn points_outside_of_their_scan_are_refused() {
    let mut bytes = small_packet(1, 3);
    bytes[42..44].copy_from_slice(&90_u16.to_le_bytes());
    let mut assembler = ScanAssembler::new(0);
    let packet = Packet::parse(&bytes).unwrap();
    let error = assembler.push(&packet, at(0)).unwrap_err();
    assert!(matches!(
        error,
        Error::PointsOutside {
            first: 90,
            end: 110,
            points: 100
        }
    ));
    assert_eq!(
        (assembler.counters().bad, assembler.counters().packets),
        (1, 0)
    );
}

#[test]
fn layers_are_scans_of_their_own() {
    let mut assembler = ScanAssembler::new(0);
    let base = Packet::parse(&small_packet(1, 1)).unwrap().header;
    let points: Vec<_> = Packet::parse(&small_packet(1, 1))
        .unwrap()
        .points()
        .collect();
    let mut scans = Vec::new();
    for (index, start) in [(0, 0_u64), (1, 1), (2, 2), (3, 3)] {
        let header = Header {
            packet_type: PacketType::C1,
            layer: Some(Layer {
                index,
                inclination: i32::from(index) * 30_000,
            }),
            num_points_scan: 40,
            timestamp_raw: base.timestamp_raw + (start << 29),
            ..base
        };
        for form in [HeaderForm::Old, HeaderForm::Full] {
            let bytes = header.write(form, &points).unwrap();
            assert_eq!(
                usize::from(Packet::parse(&bytes).unwrap().header.header_size),
                bytes.len() - 160
            );
            scans.extend(push(&mut assembler, &bytes).scans);
        }
    }
    let layers: Vec<u16> = scans
        .iter()
        .map(|scan| scan.header.layer.unwrap().index)
        .collect();
    assert_eq!(layers, [0, 1, 2, 3]);
    assert_eq!(
        assembler.counters().duplicates,
        4,
        "the same packet with the other header"
    );
}

/// Pushes a packet of a small scan that began at `start`, and arrives `host` seconds after the first.
fn push_later(assembler: &mut ScanAssembler, packet: &[u8], host: f64) -> Taken {
    let packet = Packet::parse(packet).unwrap();
    let mut arrival = at(1);
    arrival.at = arrival
        .at
        .saturating_add(Duration::try_from_secs_f64(host).unwrap());
    assembler.push(&packet, arrival).unwrap()
}

#[test]
fn a_jump_of_the_devices_clock_is_not_a_loss() {
    for jump in [100.0, -100.0] {
        for jumps_at in 0..6 {
            let mut assembler = ScanAssembler::new(0);
            let (mut scans, mut jumps) = (Vec::new(), 0);
            for place in 0..12_u16 {
                let (scan, packet) = (place / 3, place % 3 + 1);
                let host = 0.1 * f64::from(scan);
                let jumped = if place > jumps_at { jump } else { 0.0 };
                let bytes = packet_at(scan, packet, host + jumped);
                let taken = push_later(&mut assembler, &bytes, host);
                jumps += usize::from(taken.jumped.is_some() || taken.restarted);
                scans.extend(taken.scans);
            }
            let counters = assembler.counters();
            let what = format!("{jump} behind packet {jumps_at}: {counters:?}");
            assert_eq!(
                (counters.packets_lost, counters.scans_lost),
                (0, 0),
                "{what}"
            );
            assert_eq!((counters.scans, scans.len()), (4, 4), "{what}");
            let within = jumps_at % 3 != 2;
            assert_eq!(jumps, usize::from(within || jump < 0.0), "{what}");
            let scan = usize::from(jumps_at / 3);
            let stamp = scans[scan].first_stamp as f64 / 4_294_967_296.0;
            let after = if within { jump } else { 0.0 };
            let wanted = 1_000.0 + 0.1 * scan as f64 + after;
            assert!((stamp - wanted).abs() < 1e-3, "{what}: {stamp}");
        }
    }
}

proptest! {
    #[test]
    fn every_packet_is_received_or_lost(kept in prop::collection::vec(any::<bool>(), 30..300)) {
        let mut assembler = ScanAssembler::new(0);
        // The first and the last scan are whole, so that it is known what there was.
        let last = kept.len().div_ceil(3) + 1;
        let scans = u16::try_from(last).unwrap() + 1;
        let mut sent = 0_u64;
        for scan in 0..scans {
            for packet in 1..=3_u16 {
                let place = usize::from(scan).wrapping_sub(1).wrapping_mul(3) + usize::from(packet - 1);
                let edge = scan == 0 || scan + 1 == scans;
                sent += 1;
                if edge || kept.get(place).copied().unwrap_or(true) {
                    push(&mut assembler, &small_packet(scan, packet));
                }
            }
        }
        let counters = assembler.counters();
        prop_assert_eq!(counters.packets + counters.packets_lost, sent);
        prop_assert_eq!(counters.scans + counters.scans_incomplete + counters.scans_lost, u64::from(scans));
        prop_assert_eq!(counters.restarts + counters.late + counters.duplicates, 0);
    }
}
