//! Restarts, steps, stalls, bad stamps, gaps: what begins an epoch, and what does not.

use timeloom_sync::simulate::{Disturbances, Family, Scenario};
use timeloom_sync::{
    DeviceTime, EventKind, Health, PassiveSample, Reason, Sample, SensorClock, SyncEvent,
};
use timeloom_time::{Duration, Time};

const SECOND: i64 = 1_000_000_000;
const FLOOR: i64 = 2_000_000;

/// Packets at 100 Hz with delays of 2 to 2.9 ms, from `from_s` to `until_s` of the host's clock.
fn packets(from_s: i64, until_s: i64, device_minus_host: i64) -> Vec<Sample> {
    (from_s * 100..until_s * 100)
        .map(|packet| {
            let event = packet * SECOND / 100;
            let arrival = event + FLOOR + packet * 7 % 10 * 100_000;
            let device = DeviceTime::from_nanos(event + device_minus_host);
            Sample::Passive(PassiveSample::new(device, Time::from_nanos(arrival)))
        })
        .collect()
}

fn push_all(clock: &mut SensorClock, samples: &[Sample]) {
    for sample in samples {
        clock.push(sample).expect("a possible sample");
        clock.convert(sample.device()).expect("there are samples");
    }
}

fn events(clock: &mut SensorClock) -> Vec<EventKind> {
    std::iter::from_fn(|| clock.take_event())
        .map(|event: SyncEvent| event.kind)
        .collect()
}

fn settled() -> SensorClock {
    let mut clock = SensorClock::default();
    push_all(&mut clock, &packets(0, 20, 0));
    assert_eq!(clock.health(), Health::Locked);
    clock
}

fn is_exact(clock: &mut SensorClock, at_s: i64, device_minus_host: i64) {
    let device = DeviceTime::from_nanos(at_s * SECOND + device_minus_host);
    let mapped = clock.peek(device).expect("there are samples");
    let error = mapped.host.nanos() - at_s * SECOND - FLOOR;
    assert!(error.abs() < 100_000, "{error} ns at {at_s} s");
}

#[test]
fn health_grows_from_unsynced_to_locked_and_falls_to_holdover() {
    let mut clock = SensorClock::default();
    assert_eq!(clock.health(), Health::Unsynced);
    assert_eq!(clock.convert(DeviceTime::default()), None);
    push_all(&mut clock, &packets(0, 1, 0));
    assert_eq!(clock.health(), Health::Converging);
    push_all(&mut clock, &packets(1, 10, 0));
    assert_eq!(clock.health(), Health::Locked);
    let later = clock.peek(DeviceTime::from_nanos(60 * SECOND)).unwrap();
    assert_eq!(later.health, Health::Holdover);
    let now = clock.peek(DeviceTime::from_nanos(10 * SECOND)).unwrap();
    assert!(later.sigma > now.sigma, "the error grows");
    assert!(later.bounds.upper.unwrap() - later.host > now.bounds.upper.unwrap() - now.host);
}

#[test]
fn a_restarted_device_begins_an_epoch_after_three_packets() {
    let mut clock = settled();
    let after = packets(20, 40, -19 * SECOND);
    push_all(&mut clock, &after[..2]);
    assert_eq!((clock.epoch(), clock.health()), (0, Health::Degraded));
    push_all(&mut clock, &after[2..3]);
    assert_eq!(clock.epoch(), 1);
    let reset = EventKind::NewEpoch {
        epoch: 1,
        reason: Reason::DeviceReset,
    };
    assert_eq!(events(&mut clock), [reset]);
    push_all(&mut clock, &after[3..]);
    assert_eq!(clock.epoch(), 1);
    is_exact(&mut clock, 40, -19 * SECOND);
}

#[test]
fn a_clock_that_jumps_ahead_begins_an_epoch_at_once_and_back_in_place_soon() {
    let mut clock = settled();
    // The device jumps half a second ahead: packets come before they happened.
    push_all(&mut clock, &packets(20, 40, SECOND / 2));
    assert_eq!(clock.epoch(), 1);
    is_exact(&mut clock, 40, SECOND / 2);
    // The device loses 150 ms, less than what counts as going back: all packets are late, rigidly.
    push_all(&mut clock, &packets(41, 43, SECOND * 35 / 100));
    assert_eq!(clock.epoch(), 1, "a stall until proven otherwise");
    push_all(&mut clock, &packets(43, 60, SECOND * 35 / 100));
    assert_eq!(clock.epoch(), 2);
    is_exact(&mut clock, 60, SECOND * 35 / 100);
}

#[test]
fn single_bad_stamps_are_outliers() {
    let mut clock = settled();
    for (number, wild) in [0, i64::MAX >> 2, -5 * SECOND, 900 * SECOND]
        .iter()
        .enumerate()
    {
        let at = 20 + i64::try_from(number).unwrap();
        let arrival = Time::from_nanos(at * SECOND);
        let bad = PassiveSample::new(DeviceTime::from_nanos(*wild), arrival);
        clock.push(&Sample::Passive(bad)).unwrap();
        assert_eq!(clock.health(), Health::Degraded);
        push_all(&mut clock, &packets(at, at + 1, 0));
    }
    assert_eq!((clock.epoch(), clock.health()), (0, Health::Locked));
    assert_eq!(clock.counters().outliers, 4);
    assert_eq!(events(&mut clock), [EventKind::Outliers { count: 1 }; 4]);
    is_exact(&mut clock, 24, 0);
}

#[test]
fn a_stall_of_three_seconds_is_not_a_step() {
    let mut clock = settled();
    for sample in packets(20, 23, 0) {
        let late = sample.shifted(Time::from_nanos(23 * SECOND) - sample.host_rx());
        clock.push(&late).unwrap();
    }
    push_all(&mut clock, &packets(23, 30, 0));
    assert_eq!(clock.epoch(), 0);
    is_exact(&mut clock, 30, 0);
}

#[test]
fn a_gap_is_reported_and_nothing_else() {
    let mut clock = settled();
    push_all(&mut clock, &packets(620, 640, 0));
    let told = events(&mut clock);
    let [EventKind::Gap { silence }] = told[..] else {
        panic!("one gap, not {told:?}");
    };
    assert!((silence - Duration::from_secs(600)).nanos().abs() < 20_000_000);
    assert_eq!(clock.epoch(), 0);
    is_exact(&mut clock, 640, 0);
}

#[test]
fn a_longer_path_is_reported_and_does_not_move_the_estimate() {
    let mut clock = settled();
    push_all(&mut clock, &packets(20, 60, 0));
    for sample in packets(60, 120, 0) {
        clock
            .push(&sample.shifted(Duration::from_millis(2)))
            .unwrap();
    }
    let told = events(&mut clock);
    let [EventKind::PathShift { extra }] = told[..] else {
        panic!("one path shift, not {told:?}");
    };
    assert!(
        (extra - Duration::from_millis(2)).nanos().abs() < 100_000,
        "{extra:?}"
    );
    is_exact(&mut clock, 120, 0);
    push_all(&mut clock, &packets(120, 140, 0));
    is_exact(&mut clock, 140, 0);
}

#[test]
fn a_requested_restart_is_an_epoch() {
    let mut clock = settled();
    clock.restart();
    assert_eq!((clock.epoch(), clock.health()), (1, Health::Unsynced));
    push_all(&mut clock, &packets(20, 21, 0));
    assert_eq!(clock.health(), Health::Converging);
}

#[test]
fn lost_and_doubled_packets_are_counted_and_do_no_harm() {
    let scenario = Scenario {
        duration_s: 60.0,
        rate_hz: Some(100.0),
        disturbances: Disturbances {
            duplicate_one_in: Some(10),
            lose_one_in: Some(10),
            ..Disturbances::default()
        },
        ..Family::QuietUdp.scenario()
    };
    let mut clock = SensorClock::default();
    let mut last = None;
    for simulated in scenario.simulate(1) {
        clock.push(&simulated.sample).unwrap();
        last = Some(simulated);
    }
    let last = last.unwrap();
    let mapped = clock.convert(last.sample.device()).unwrap();
    let error = (mapped.host - last.truth).nanos() - 300_000;
    assert!(error.abs() < 50_000, "{error}");
    assert!((400..700).contains(&clock.counters().duplicates));
    assert_eq!(clock.epoch(), 0);
}
