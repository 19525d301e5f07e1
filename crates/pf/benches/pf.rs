//! What a packet costs: to be read, and to become part of a scan with a stamp; and what a reply costs.

use std::hint::black_box;
use std::time::Duration as StdDuration;

use timeloom_pf::pfsdp::{Command, Reply};
use timeloom_pf::simulator::{PacketSource, SimulatedClock, SimulatorOptions};
use timeloom_pf::{
    Arrival, LidarClock, Packet, PacketType, ResponseParser, ScanAssembler, TimesyncSettings,
};
use timeloom_sync::StampSource;
use timeloom_testkit::bench::{Bench, Rounds, Variant};
use timeloom_time::Time;

const SLICE: StdDuration = StdDuration::from_millis(2);
const ROUNDS: usize = 31;
/// A minute of an R2000.
const PACKETS: usize = 20_000;
/// The most that an R2000 measures in a second.
const FASTEST: f64 = 252_000.0;

fn main() {
    let mut bench = Bench::from_env();
    for packet_type in [PacketType::A, PacketType::B, PacketType::C] {
        let id = format!("pf.decode.{}", packet_type.name().to_lowercase());
        if bench.wants(&id) {
            decode(&mut bench, &id, packet_type);
        }
    }
    if bench.wants("pf.packet") {
        whole_way(&mut bench);
    }
    if bench.wants("pf.reply") {
        reply(&mut bench);
    }
}

/// The packets of a minute, with their arrivals.
fn packets(packet_type: PacketType, count: usize) -> Vec<(Vec<u8>, Arrival)> {
    let start = Time::from_nanos(1_000_000_000_000);
    let options = SimulatorOptions::default();
    let clock = SimulatedClock::new(options.clock, start);
    let mut source = PacketSource::new(&options, packet_type, clock, start);
    let mut packet = || {
        let packet = source.next_packet().expect("packets are cut to fit");
        let arrival = Arrival {
            at: packet.arrives,
            source: StampSource::Kernel,
        };
        (packet.bytes, arrival)
    };
    (0..count).map(|_| packet()).collect()
}

/// Reading all points of a packet, against only adding up its bytes as numbers.
fn decode(bench: &mut Bench, id: &str, packet_type: PacketType) {
    let (bytes, _) = packets(packet_type, 1).pop().expect("one packet");
    let points = points_of(&bytes);
    let measured = Rounds::new(ROUNDS, SLICE).run(&mut [
        Variant::looped("decode", || {
            let packet = Packet::parse(black_box(&bytes)).expect("a packet");
            let distance = |sum: u64, point: timeloom_pf::Point| {
                let amplitude = u64::from(point.amplitude.unwrap_or(0));
                sum + u64::from(point.distance.unwrap_or(0)) + amplitude
            };
            packet.points().fold(0, distance)
        }),
        Variant::looped("bytes", || {
            let words = black_box(&bytes).chunks_exact(2);
            words.fold(0_u64, |sum, word| {
                let word = word.first_chunk().copied().unwrap_or_default();
                sum + u64::from(u16::from_le_bytes(black_box(word)))
            })
        }),
    ]);
    let [ours, plain] = &measured[..] else {
        return;
    };
    bench.ratio_at_most(id, ours.ratio_to(plain), 1.5);
    bench.note(
        id,
        format_args!(
            "{:.0} ns a packet of {points} points, {:.0} packets a second; adding up its 16-bit words {:.0} ns",
            ours.median(),
            1e9 / ours.median(),
            plain.median()
        ),
    );
}

fn points_of(bytes: &[u8]) -> u16 {
    let packet = Packet::parse(bytes).expect("a packet");
    packet.header.num_points_packet
}

/// From bytes to scans with stamps, by the usual estimator.
fn whole_way(bench: &mut Bench) {
    let packets = packets(PacketType::C, PACKETS);
    let points = f64::from(points_of(&packets[0].0));
    let mut way = Way::new(&packets);
    let bytes = &packets[0].0;
    let measured = Rounds::new(ROUNDS, SLICE).run(&mut [
        Variant::looped("way", || way.next()),
        Variant::looped("decode", || {
            let packet = Packet::parse(black_box(bytes)).expect("a packet");
            packet.points().filter(|p| p.distance.is_some()).count()
        }),
    ]);
    let [ours, decode] = &measured[..] else {
        return;
    };
    let percent = ours.median() * FASTEST / points / 1e7;
    bench.ratio_at_most("pf.packet.core_percent", percent, 1.0);
    bench.note(
        "pf.packet.core_percent",
        format_args!(
            "{:.0} ns a packet of {points} points, bytes to stamped scans; decoding alone {:.0} ns; \
             {:.0} packets a second, an R2000 sends {:.0} at most",
            ours.median(),
            decode.median(),
            1e9 / ours.median(),
            FASTEST / points
        ),
    );
    bench.exactly_zero("pf.packet.lost", way.lost);
}

/// Packets one after the other, again and again.
struct Way<'a> {
    packets: &'a [(Vec<u8>, Arrival)],
    next: usize,
    assembler: ScanAssembler,
    clock: LidarClock,
    lost: u64,
}

impl<'a> Way<'a> {
    fn new(packets: &'a [(Vec<u8>, Arrival)]) -> Self {
        Self {
            packets,
            next: 0,
            assembler: ScanAssembler::new(0),
            clock: LidarClock::new(&TimesyncSettings::default()).expect("the usual settings"),
            lost: 0,
        }
    }

    fn next(&mut self) -> usize {
        if self.next == self.packets.len() {
            *self = Self {
                lost: self.lost,
                ..Self::new(self.packets)
            };
        }
        let (bytes, arrival) = &self.packets[self.next];
        self.next += 1;
        let packet = Packet::parse(black_box(bytes)).expect("a packet");
        let taken = self.assembler.push(&packet, *arrival).expect("a good one");
        let period = self.assembler.point_period_ns(&packet.header);
        let sample = self.clock.packet(&packet.header, period, *arrival);
        sample.expect("a possible stamp");
        for scan in &taken.scans {
            black_box(self.clock.stamp(scan));
            self.lost += u64::from(!scan.is_complete());
        }
        taken.scans.len()
    }
}

/// An answer with the device's time, against the JSON of it alone.
fn reply(bench: &mut Bench) {
    let body =
        r#"{"system_time_raw":24324779926785,"error_code":0,"error_text":"success"}"#.to_owned();
    let text = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let command = Command::get_system_time();
    let measured = Rounds::new(ROUNDS, SLICE).run(&mut [
        Variant::looped("reply", || {
            let response = ResponseParser::new().push(black_box(text.as_bytes()));
            let response = response.expect("HTTP").expect("a whole answer");
            let reply = Reply::read(&command, &response).expect("a success");
            reply.number("system_time_raw").expect("a number")
        }),
        Variant::looped("json", || {
            serde_json::from_slice::<serde_json::Value>(black_box(body.as_bytes())).is_ok()
        }),
    ]);
    let [ours, json] = &measured[..] else {
        return;
    };
    bench.ratio_at_most("pf.reply", ours.ratio_to(json), 5.0);
    bench.note(
        "pf.reply",
        format_args!(
            "{:.0} ns an answer with the device's time, {:.0} ns the JSON alone",
            ours.median(),
            json.median()
        ),
    );
}
