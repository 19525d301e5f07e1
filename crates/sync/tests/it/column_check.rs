//! Columns of a table that are in the wrong unit, or exchanged.

use timeloom_sync::simulate::{Family, Scenario};
use timeloom_sync::{ColumnCheck, DeviceTime, Error, PassiveSample, Sample};
use timeloom_time::Time;

fn check(family: Family, seed: u64, change: impl Fn(&Sample) -> Sample) -> ColumnCheck {
    let scenario = Scenario {
        duration_s: 60.0,
        ..family.scenario()
    };
    let mut columns = ColumnCheck::default();
    for simulated in scenario.simulate(seed) {
        columns.add(&change(&simulated.sample));
    }
    columns
}

fn exchanged(sample: &Sample) -> Sample {
    let (device, host) = (sample.device().nanos(), sample.host_rx().nanos());
    let device_as_host = Time::from_nanos(device);
    Sample::Passive(PassiveSample::new(
        DeviceTime::from_nanos(host),
        device_as_host,
    ))
}

#[test]
fn exchanged_columns_are_noticed_and_others_are_not() {
    for family in Family::ALL {
        if family.scenario().rate_hz.is_none() {
            continue;
        }
        for seed in 1..4 {
            let right = check(*family, seed, |sample| *sample);
            assert!(!right.looks_exchanged(), "{family}, seed {seed}");
        }
    }
    for family in [
        Family::QuietUdp,
        Family::LoadedUdp,
        Family::CoalescedTcp,
        Family::Loaded40Hz,
        Family::Loaded10Hz,
        Family::Congested,
        Family::KernelStamps,
        Family::Warming40Hz,
    ] {
        for seed in 1..4 {
            let wrong = check(family, seed, exchanged);
            assert!(wrong.looks_exchanged(), "{family}, seed {seed}");
        }
    }
}

#[test]
fn columns_in_different_units_are_refused_with_the_ratio() {
    let micros = |sample: &Sample| {
        let device = DeviceTime::from_nanos(sample.device().nanos() / 1_000);
        Sample::Passive(PassiveSample::new(device, sample.host_rx()))
    };
    let same = check(Family::Loaded40Hz, 1, |sample| *sample);
    assert_eq!(same.units(500.0), Ok(()));
    let error = check(Family::Loaded40Hz, 1, micros).units(500.0);
    let error = error.expect_err("microseconds beside nanoseconds");
    assert!(matches!(error, Error::DifferentUnits { .. }), "{error:?}");
    assert!(error.to_string().ends_with("times as fast"), "{error}");
}
