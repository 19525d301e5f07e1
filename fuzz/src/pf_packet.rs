//! Packets of a lidar: alone, in a stream, as scans, and as samples of its clock.

use timeloom_pf::packet::HeaderForm;
use timeloom_pf::{
    Arrival, LidarClock, Packet, PacketStream, Point, ScanAssembler, TimesyncSettings,
};
use timeloom_sync::StampSource;
use timeloom_time::Time;

/// Reads one packet and writes it again; reads a stream of them into scans and stamps.
pub fn fuzz_pf_packet(data: &[u8]) {
    if let Ok(packet) = Packet::parse(data) {
        check_packet(&packet);
    }
    let mut stream = PacketStream::new();
    let mut assembler = ScanAssembler::new(u16::from(data.len().is_multiple_of(5)));
    let mut clock = LidarClock::new(&TimesyncSettings::default()).expect("the usual settings");
    let mut given = 0;
    for (step, piece) in (0_i64..).zip(data.chunks(97)) {
        stream.push(piece);
        let arrival = Arrival {
            at: Time::from_nanos(step * 1_000_000),
            source: StampSource::User,
        };
        loop {
            match stream.next_packet() {
                Ok(Some(bytes)) => {
                    given += bytes.len() as u64;
                    take(bytes, arrival, &mut assembler, &mut clock);
                }
                Ok(None) => break,
                Err(_) => {}
            }
        }
    }
    assert!(given + stream.skipped() <= data.len() as u64);
    assembler.finish();
    let counters = assembler.counters();
    assert!(counters.duplicates + counters.late <= counters.packets);
    let most = 0x8000 * (counters.packets + 1);
    assert!(counters.scans_lost <= most, "{counters:?}");
}

fn take(bytes: &[u8], arrival: Arrival, assembler: &mut ScanAssembler, clock: &mut LidarClock) {
    let Ok(packet) = Packet::parse(bytes) else {
        return;
    };
    let Ok(taken) = assembler.push(&packet, arrival) else {
        return;
    };
    let period = assembler.point_period_ns(&packet.header);
    let _refused = clock.packet(&packet.header, period, arrival);
    for scan in &taken.scans {
        assert_eq!(scan.points.len(), usize::from(scan.header.num_points_scan));
        assert!(scan.missing <= scan.points.len());
        let _stamp = clock.stamp(scan);
    }
    let _nothing_yet = clock.report();
}

fn check_packet(packet: &Packet<'_>) {
    let points: Vec<Point> = packet.points().collect();
    assert_eq!(points.len(), usize::from(packet.header.num_points_packet));
    let Ok(written) = packet.header.write(HeaderForm::Full, &points) else {
        return;
    };
    let again = Packet::parse(&written).expect("a written packet is one");
    let mut header = again.header;
    header.packet_size = packet.header.packet_size;
    header.header_size = packet.header.header_size;
    if packet.header.iq_stamps.is_none() {
        header.iq_stamps = None;
    }
    assert_eq!(header, packet.header);
    assert!(again.points().eq(points));
}
