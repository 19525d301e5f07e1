//! Minutes of a simulated device in a moment, without sockets: stamps against the truth.

use timeloom_pf::simulator::{ClockModel, Delays, PacketSource, SimulatedClock, SimulatorOptions};
use timeloom_pf::{
    Arrival, LidarClock, Packet, PacketType, ScanAssembler, StatusFlags, TimesyncMethod,
    TimesyncSettings,
};
use timeloom_sync::{Averaging, EventKind, StampSource};
use timeloom_time::{Duration, Steady, Time};

use crate::support::{packet_at, small_packet, ticks};

/// Where the simulated minutes begin.
const START: Time<Steady> = Time::from_nanos(1_000_000_000_000);
/// The first seconds do not count.
const SETTLING: Duration = Duration::from_secs(30);

/// The errors of the stamps of all scans, in nanoseconds, apart from the smallest delay of a packet.
fn errors(options: &SimulatorOptions, settings: &TimesyncSettings, minutes: i64) -> Vec<i64> {
    let clock = SimulatedClock::new(options.clock, START);
    let mut source = PacketSource::new(options, PacketType::C, clock, START);
    let mut assembler = ScanAssembler::new(0);
    let mut lidar = LidarClock::new(settings).unwrap();
    let mut next_request = START;
    let end = START.saturating_add(Duration::from_secs(minutes * 60));
    let mut errors = Vec::new();
    loop {
        let sent = source.next_packet().unwrap();
        if sent.arrives > end {
            return errors;
        }
        if settings.asks() && sent.arrives >= next_request {
            // The way there takes longer than the way back.
            let read = next_request.saturating_add(Duration::from_micros(900));
            let arrival = user(read.saturating_add(Duration::from_micros(300)));
            lidar
                .request(next_request, clock.stamp(read), arrival)
                .unwrap();
            next_request = next_request.saturating_add(settings.interval);
        }
        let packet = Packet::parse(&sent.bytes).unwrap();
        let arrival = user(sent.arrives);
        let taken = assembler.push(&packet, arrival).unwrap();
        let period = assembler.point_period_ns(&packet.header);
        lidar.packet(&packet.header, period, arrival).unwrap();
        for scan in &taken.scans {
            let stamp = lidar.stamp(scan);
            let truth = clock.host_of(scan.first_stamp);
            if let Some(mapped) = stamp.mapped {
                assert!(mapped.bounds.contain(truth), "{truth:?} not in {mapped:?}");
            }
            if truth - START > SETTLING {
                errors.push((stamp.host - truth - options.delays.device).nanos());
            }
        }
    }
}

fn user(at: Time<Steady>) -> Arrival {
    Arrival {
        at,
        source: StampSource::User,
    }
}

fn p99(mut errors: Vec<i64>) -> i64 {
    for error in &mut errors {
        *error = error.abs();
    }
    errors.sort_unstable();
    errors[errors.len() * 99 / 100]
}

fn options(seed: u64) -> SimulatorOptions {
    SimulatorOptions {
        seed,
        // A packet and a little one: the least that shows how fast it turns.
        samples_per_scan: 334,
        delays: Delays {
            network_mean: Duration::from_millis(2),
            ..Delays::default()
        },
        ..SimulatorOptions::default()
    }
}

fn method(method: TimesyncMethod) -> TimesyncSettings {
    TimesyncSettings {
        method,
        ..TimesyncSettings::default()
    }
}

/// p99 of the default's errors if the smallest delay is known: then requests show the rate, and nothing else is taken
/// off.
fn p99_with_known_delay(options: &SimulatorOptions) -> i64 {
    let device = options.delays.device;
    let mut settings = TimesyncSettings::default();
    settings.limits.least_delay = device;
    let errors = errors(options, &settings, 2);
    p99(errors.iter().map(|error| error + device.nanos()).collect())
}

/// The default without requests: with them, part of the smallest delay is taken off.
fn packets_alone() -> TimesyncSettings {
    TimesyncSettings {
        interval: Duration::ZERO,
        ..TimesyncSettings::default()
    }
}

#[test]
fn the_default_is_fifty_times_better_than_the_averages_of_the_driver() {
    let options = options(11);
    let ours = p99_with_known_delay(&options);
    for averaging in [Averaging::Mean, Averaging::Regression] {
        let average = method(TimesyncMethod::Average(averaging));
        let theirs = p99(errors(&options, &average, 2));
        assert!(
            ours * 50 < theirs,
            "{ours} ns against {theirs} ns, {averaging:?}"
        );
    }
    let simple = p99(errors(&options, &method(TimesyncMethod::Simple), 2));
    assert!(ours * 100 < simple, "{ours} ns against {simple} ns");
}

#[test]
fn requests_take_the_stamps_nearer_to_the_truth_though_their_ways_differ() {
    let device = options(61).delays.device.nanos();
    let with_delay = |settings: &TimesyncSettings| {
        let errors = errors(&options(61), settings, 2);
        p99(errors.iter().map(|error| error + device).collect())
    };
    let (alone, both) = (
        with_delay(&packets_alone()),
        with_delay(&TimesyncSettings::default()),
    );
    assert!(both < alone, "{both} ns against {alone} ns");
}

#[test]
fn a_clock_that_drifts_fast_is_followed() {
    let mut options = options(21);
    options.clock = ClockModel {
        drift_ppm_per_minute: 4.0,
        skew_ppm: -80.0,
        warming_ppm: 8.0,
        ..ClockModel::default()
    };
    let ours = p99_with_known_delay(&options);
    let mean = method(TimesyncMethod::Average(Averaging::Mean));
    let theirs = p99(errors(&options, &mean, 2));
    assert!(ours * 50 < theirs, "{ours} ns against {theirs} ns");
}

#[test]
fn requests_alone_work_as_the_driver_does_them() {
    let settings = method(TimesyncMethod::Requests(Averaging::Mean));
    // The driver takes the time before the request: its stamps are early by the way there, and by the packet's delay.
    let early = Duration::from_micros(900 + 200).nanos();
    for error in errors(&options(31), &settings, 1) {
        assert!((error + early).abs() < 400_000, "{error} ns");
    }
}

#[test]
fn a_known_delay_and_a_wanted_offset_are_taken_off_and_added() {
    let mut settings = TimesyncSettings::default();
    let plain = errors(&options(41), &settings, 1);
    settings.offset = Duration::from_millis(-3);
    let moved = errors(&options(41), &settings, 1);
    assert_eq!(plain.len(), moved.len());
    assert!(plain.iter().zip(&moved).all(|(a, b)| a - b == 3_000_000));
}

#[test]
fn send_stamps_are_used_if_one_believes_in_them() {
    let believed = TimesyncSettings {
        send_stamps: true,
        ..packets_alone()
    };
    let device = options(51).delays.device.nanos();
    // What is stamped is then the sending itself, so that the least delay is that of the network: none here.
    let errors = errors(&options(51), &believed, 2);
    let ours = p99(errors.iter().map(|error| error + device).collect());
    let plain = p99(self::errors(&options(51), &packets_alone(), 2));
    assert!(ours <= plain, "{ours} ns against {plain} ns");
}

#[test]
fn stamps_of_arrival_are_those_of_the_first_point_even_without_the_first_packet() {
    for (method, expected) in [
        (TimesyncMethod::Off, 80_000_000),
        // Two packets of forty points of a millisecond each, of which only the second came.
        (TimesyncMethod::Simple, 0),
    ] {
        let mut assembler = ScanAssembler::new(0);
        let mut lidar = LidarClock::new(&self::method(method)).unwrap();
        let arrival = user(Time::from_nanos(80_000_000));
        let bytes = small_packet(1, 2);
        let packet = Packet::parse(&bytes).unwrap();
        assembler.push(&packet, arrival).unwrap();
        lidar.packet(&packet.header, 1e6, arrival).unwrap();
        let scan = assembler.finish().unwrap();
        assert_eq!(lidar.stamp(&scan).host.nanos(), expected, "{method}");
    }
}

#[test]
fn a_restart_that_only_packets_show_is_not_taken_for_another_one_at_the_next_connection() {
    let settings = TimesyncSettings::default();
    let mut lidar = LidarClock::new(&settings).unwrap();
    let feed = |lidar: &mut LidarClock, scan: u16, start: f64, nanos: i64| {
        let bytes = packet_at(scan, 1, start);
        let packet = Packet::parse(&bytes).unwrap();
        let arrival = user(Time::from_nanos(nanos));
        lidar.packet(&packet.header, 1e6, arrival).unwrap();
    };
    for step in 0..50_u16 {
        feed(
            &mut lidar,
            step,
            f64::from(step) * 0.1,
            i64::from(step) * 100_000_000,
        );
    }
    for step in 0..50_u16 {
        let start = -990.0 + f64::from(step) * 0.1;
        feed(
            &mut lidar,
            step,
            start,
            6_000_000_000 + i64::from(step) * 100_000_000,
        );
    }
    assert_eq!(lidar.report().unwrap().newest.epoch, 1);
    let sent = Time::from_nanos(11_000_000_000);
    let raw = ticks(1_000.0 - 990.0 + 5.0);
    let restarted = lidar.connected(sent, raw, user(sent)).unwrap();
    assert!(!restarted && lidar.report().unwrap().newest.epoch == 1);
    // And one that requests show at a connection is one at once.
    let sent = Time::from_nanos(12_000_000_000);
    let raw = ticks(0.5);
    assert!(lidar.connected(sent, raw, user(sent)).unwrap());
    assert_eq!(lidar.report().unwrap().newest.epoch, 2);
}

#[test]
fn flags_restart_averages_once_but_not_the_default() {
    let average = TimesyncMethod::Average(Averaging::Mean);
    for (method, told) in [(average, 2), (TimesyncMethod::default(), 0)] {
        let mut lidar = LidarClock::new(&self::method(method)).unwrap();
        let mut events = 0;
        for step in 0..200_u16 {
            let bytes = small_packet(step, 1);
            let mut header = Packet::parse(&bytes).unwrap().header;
            // Unstable rotation, twice for fifty packets; and warnings all the time, which mean nothing for clocks.
            let unstable = step % 100 < 50;
            header.status = StatusFlags(1 << 8 | u32::from(unstable) << 3);
            let arrival = user(Time::from_nanos(i64::from(step) * 100_000_000));
            lidar.packet(&header, 1e6, arrival).unwrap();
            while let Some(event) = lidar.take_event() {
                events += usize::from(matches!(event.kind, EventKind::NewEpoch { .. }));
            }
        }
        assert_eq!(events, told, "{method}");
        let epoch = lidar.report().unwrap().newest.epoch;
        assert_eq!(epoch > 0, told > 0, "{method} is in epoch {epoch}");
    }
}

#[test]
fn the_drift_has_the_sign_of_the_offsets_change() {
    for skew_ppm in [80.0, -80.0] {
        let mut options = options(5);
        options.clock = ClockModel {
            skew_ppm,
            warming_ppm: 0.0,
            ..ClockModel::default()
        };
        let clock = SimulatedClock::new(options.clock, START);
        let mut source = PacketSource::new(&options, PacketType::C, clock, START);
        let mut lidar = LidarClock::new(&TimesyncSettings::default()).unwrap();
        let mut reports = Vec::new();
        for _ in 0..6_000 {
            let sent = source.next_packet().unwrap();
            let packet = Packet::parse(&sent.bytes).unwrap();
            let period = packet.header.nominal_point_period_ns();
            lidar
                .packet(&packet.header, period, user(sent.arrives))
                .unwrap();
            reports.push(lidar.report().unwrap());
        }
        let (first, last) = (reports[3_000], reports[5_999]);
        let seconds = (last.newest.host - first.newest.host).as_secs_f64();
        let slope = (last.offset_ns - first.offset_ns) as f64 / seconds / 1e3;
        assert!((slope + skew_ppm).abs() < 5.0, "{slope} ppm");
        assert!(
            (last.drift_ppm + skew_ppm).abs() < 5.0,
            "{} ppm",
            last.drift_ppm
        );
    }
}

#[test]
fn right_after_a_jump_of_the_devices_clock_stamps_are_those_of_arrival() {
    for jump in [100.0, -50.0] {
        let mut assembler = ScanAssembler::new(0);
        let mut lidar = LidarClock::new(&TimesyncSettings::default()).unwrap();
        for number in 0..400_u16 {
            let host = f64::from(number) * 0.1;
            let jumped = if number < 300 { 0.0 } else { jump };
            for packet in 1..=3 {
                let bytes = packet_at(number, packet, host + jumped);
                let packet = Packet::parse(&bytes).unwrap();
                let end = host + f64::from(packet.header.first_index) * 0.001 + 0.041;
                let arrival = user(START.saturating_add(Duration::try_from_secs_f64(end).unwrap()));
                let taken = assembler.push(&packet, arrival).unwrap();
                let period = assembler.point_period_ns(&packet.header);
                lidar.packet(&packet.header, period, arrival).unwrap();
                for scan in &taken.scans {
                    let error = (lidar.stamp(scan).host - START).as_secs_f64() - host;
                    assert!(error.abs() < 0.05, "{jump}: scan {number} is {error} s off");
                }
            }
        }
        assert_eq!(assembler.counters().packets_lost, 0);
    }
}

#[test]
fn a_request_that_shows_a_restart_too_early_does_not_hide_it() {
    let mut lidar = LidarClock::new(&TimesyncSettings::default()).unwrap();
    let mut now = START;
    for second in 0..20_u64 {
        now = now.saturating_add(Duration::from_secs(1));
        let raw = ticks(5_000.0) + (second << 32);
        lidar.request(now, raw, user(now)).unwrap();
    }
    // Switched off and on within the time between two requests; packets are not missed yet.
    now = now.saturating_add(Duration::from_secs(1));
    lidar.request(now, ticks(0.1), user(now)).unwrap();
    let later = now.saturating_add(Duration::from_millis(300));
    assert!(lidar.connected(later, ticks(0.4), user(later)).unwrap());
    assert!(!lidar.connected(later, ticks(0.4), user(later)).unwrap());
}
