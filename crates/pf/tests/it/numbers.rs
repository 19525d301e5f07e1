//! Numbers and clocks of a device that go backwards, jump or stand still: named, counted, and no false losses.

use timeloom_pf::packet::{HeaderForm, Layer};
use timeloom_pf::{Error, Header, Packet, PacketType, ScanAssembler, Taken};

use crate::support::{at, packet_at, small_packet};

/// Pushes a packet that arrives when it was measured: both clocks go on alike.
fn push(assembler: &mut ScanAssembler, bytes: &[u8]) -> Taken {
    let packet = Packet::parse(bytes).unwrap();
    let nanos = (i128::from(packet.header.timestamp_raw) * 1_000_000_000) >> 32;
    let arrival = at(i64::try_from(nanos).unwrap());
    assembler.push(&packet, arrival).unwrap()
}

/// A whole scan of this number that began at this time; what its first packet did.
fn scan(assembler: &mut ScanAssembler, number: u16, start: f64) -> Taken {
    let first = push(assembler, &packet_at(number, 1, start));
    for packet in 2..=3 {
        push(assembler, &packet_at(number, packet, start));
    }
    first
}

#[test]
fn a_clock_that_goes_backwards_is_a_restart_and_no_loss() {
    // Even with a number that would follow.
    for number in [0, 900, 901] {
        let mut assembler = ScanAssembler::new(0);
        scan(&mut assembler, 900, 90.0);
        let taken = push(&mut assembler, &packet_at(number, 1, -999.0));
        assert!(taken.restarted && taken.fresh && taken.renumbered.is_none());
        let counters = assembler.counters();
        assert_eq!((counters.restarts, counters.scans_lost), (1, 0));
    }
}

#[test]
fn scan_numbers_that_go_backwards_are_neither_restart_nor_loss() {
    // To a lower number; over the wrap, where it looks like thirty thousand lost scans; and to the same one.
    for (from, to) in [(900, 3), (40_000, 10), (7, 7)] {
        let mut assembler = ScanAssembler::new(0);
        scan(&mut assembler, from - 1, 0.0);
        scan(&mut assembler, from, 0.1);
        let taken = scan(&mut assembler, to, 0.2);
        assert_eq!(taken.renumbered, Some((from, to)));
        assert!(!taken.restarted && taken.fresh);
        let counters = *assembler.counters();
        assert_eq!((counters.renumbered, counters.restarts), (1, 0));
        assert_eq!((counters.scans_lost, counters.packets_lost), (0, 0));
        assert_eq!(counters.scans, 3, "from {from} to {to}");
        assert!(scan(&mut assembler, to + 1, 0.3).renumbered.is_none());
    }
}

#[test]
fn losses_across_a_counter_reset_are_counted_by_the_clock() {
    let mut assembler = ScanAssembler::new(0);
    scan(&mut assembler, 40_000, 0.0);
    assert!(scan(&mut assembler, 0, 0.5).renumbered.is_some());
    let counters = assembler.counters();
    assert_eq!((counters.scans_lost, counters.packets_lost), (4, 12));
    // A clock that jumps by years has not lost as many scans.
    assert!(scan(&mut assembler, 0, 1e8).renumbered.is_some());
    assert_eq!(assembler.counters().scans_lost, 4);
}

#[test]
fn a_wrong_frequency_in_the_header_loses_nothing() {
    let mut assembler = ScanAssembler::new(0);
    let mut start = 0.0;
    // While it speeds up the header has the frequency that was set: 10 Hz.
    for (number, period) in (1..).zip([0.5, 0.3, 0.2, 0.15, 0.1, 0.05, 0.04, 0.1]) {
        scan(&mut assembler, number, start);
        start += period;
    }
    let counters = assembler.counters();
    assert_eq!((counters.scans, counters.scans_lost), (8, 0));
    assert_eq!((counters.renumbered, counters.restarts), (0, 0));
}

#[test]
fn scans_between_two_connections_are_counted_as_missed() {
    let mut assembler = ScanAssembler::new(0);
    scan(&mut assembler, 1, 0.0);
    assert!(assembler.finish().is_none(), "it was whole");
    // Number 1 again: a handle of its own may count anew.
    assert!(!scan(&mut assembler, 1, 3.0).restarted);
    assert_eq!(assembler.counters().scans_missed, 29);
    // And the device may have been switched off and on.
    assembler.finish();
    assert!(push(&mut assembler, &packet_at(1, 1, -990.0)).restarted);
    assembler.finish();
    assembler.restarted();
    assert!(!push(&mut assembler, &packet_at(9, 1, 50.0)).restarted);
    let counters = assembler.counters();
    assert_eq!((counters.scans_missed, counters.restarts), (29, 2));
    assert_eq!(counters.scans_lost, 0);
}

#[test]
fn packets_without_points_are_refused() {
    let good = Packet::parse(&small_packet(7, 1)).unwrap().header;
    let mut assembler = ScanAssembler::new(0);
    for points in [0, 100] {
        let header = Header {
            num_points_scan: points,
            ..good
        };
        let bytes = header.write(HeaderForm::Full, &[]).unwrap();
        let packet = Packet::parse(&bytes).unwrap();
        let error = assembler.push(&packet, at(0)).unwrap_err();
        assert_eq!(error.to_string(), "packet 1 of scan 7 has no points");
        assert!(matches!(error, Error::NoPoints { scan: 7, packet: 1 }));
    }
    let counters = assembler.counters();
    assert_eq!((counters.bad, counters.packets, counters.scans), (2, 0, 0));
}

#[test]
fn a_packet_with_some_new_points_is_not_a_duplicate() {
    let mut assembler = ScanAssembler::new(0);
    let bytes = small_packet(1, 1);
    let base = Packet::parse(&bytes).unwrap();
    let points: Vec<_> = base.points().collect();
    for (first_index, fresh) in [(20, true), (0, true), (60, true), (10, false)] {
        let header = Header {
            first_index,
            timestamp_raw: base.header.timestamp_raw + u64::from(first_index) * (1 << 32) / 1_000,
            ..base.header
        };
        let bytes = header.write(HeaderForm::Full, &points).unwrap();
        assert_eq!(push(&mut assembler, &bytes).fresh, fresh, "{first_index}");
    }
    assert_eq!(assembler.counters().duplicates, 1);
    assert_eq!(assembler.counters().scans, 1, "all hundred points");
}

#[test]
fn lost_layers_are_counted_by_the_clock() {
    let mut assembler = ScanAssembler::new(0);
    let bytes = small_packet(1, 1);
    let base = Packet::parse(&bytes).unwrap();
    let points: Vec<_> = base.points().collect();
    // Ten layers a second; the third and the fourth do not come. The number is that of all four.
    for (index, tenths) in [(0, 0), (1, 1), (0, 4), (1, 5)] {
        let header = Header {
            packet_type: PacketType::C1,
            scan_number: if tenths < 4 { 1 } else { 2 },
            layer: Some(Layer {
                index,
                inclination: 0,
            }),
            num_points_scan: 40,
            angular_increment: 1_000,
            timestamp_raw: base.header.timestamp_raw + tenths * (1 << 32) / 10,
            ..base.header
        };
        let bytes = header.write(HeaderForm::Full, &points).unwrap();
        push(&mut assembler, &bytes);
    }
    let counters = assembler.counters();
    assert_eq!((counters.scans, counters.scans_lost), (4, 2));
    assert_eq!((counters.renumbered, counters.restarts), (0, 0));
}
