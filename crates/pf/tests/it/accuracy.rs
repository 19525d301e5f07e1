//! Minutes of a simulated device in a moment, without sockets: stamps against the truth.

use timeloom_pf::simulator::{ClockModel, Delays, PacketSource, SimulatedClock, SimulatorOptions};
use timeloom_pf::{
    Arrival, LidarClock, Packet, PacketType, ScanAssembler, TimesyncMethod, TimesyncSettings,
};
use timeloom_sync::{Averaging, StampSource};
use timeloom_time::{Duration, Steady, Time};

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
            let stamp = lidar.stamp(scan).unwrap();
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

#[test]
fn the_default_is_fifty_times_better_than_the_averages_of_the_driver() {
    let options = options(11);
    let ours = p99(errors(&options, &TimesyncSettings::default(), 2));
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
fn a_clock_that_drifts_fast_is_followed() {
    let mut options = options(21);
    options.clock = ClockModel {
        drift_ppm_per_minute: 4.0,
        skew_ppm: -80.0,
        warming_ppm: 8.0,
        ..ClockModel::default()
    };
    let ours = p99(errors(&options, &TimesyncSettings::default(), 2));
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
        ..TimesyncSettings::default()
    };
    let device = options(51).delays.device.nanos();
    // What is stamped is then the sending itself, so that the least delay is that of the network: none here.
    let errors = errors(&options(51), &believed, 2);
    let ours = p99(errors.iter().map(|error| error + device).collect());
    let plain = p99(self::errors(&options(51), &TimesyncSettings::default(), 2));
    assert!(ours <= plain, "{ours} ns against {plain} ns");
}
