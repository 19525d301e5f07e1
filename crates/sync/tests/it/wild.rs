//! Anything may come from a device: nothing panics, and what comes out is sound.

use proptest::prelude::*;
use timeloom_sync::table::{read_samples, write_samples};
use timeloom_sync::{
    ActiveSample, ClockSpec, DeviceTime, Limits, Method, PassiveSample, Sample, TickCounter,
    causal, smooth,
};
use timeloom_time::Time;

/// Near each other, near the limits, and anywhere.
fn stamp() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => 0_i64..10_000_000_000,
        1 => prop::sample::select(vec![i64::MIN, i64::MAX, -1, (1 << 62) - 1, 1 << 62, -(1 << 62)]),
        1 => any::<i64>(),
    ]
}

fn sample() -> impl Strategy<Value = Sample> {
    let passive = (stamp(), prop::option::of(stamp()), stamp()).prop_map(|(event, tx, rx)| {
        Sample::Passive(PassiveSample {
            device_tx: tx.map(DeviceTime::from_nanos),
            ..PassiveSample::new(DeviceTime::from_nanos(event), Time::from_nanos(rx))
        })
    });
    let active = (stamp(), stamp(), stamp()).prop_map(|(host_tx, device, host_rx)| {
        Sample::Active(ActiveSample {
            host_tx: Time::from_nanos(host_tx),
            device: DeviceTime::from_nanos(device),
            host_rx: Time::from_nanos(host_rx),
        })
    });
    prop_oneof![3 => passive, 1 => active]
}

proptest! {
    #[test]
    fn no_sample_panics_and_results_never_go_back(
        samples in prop::collection::vec(sample(), 1..200),
        queries in prop::collection::vec(stamp(), 1..20),
        method in prop::sample::select(Method::ALL.to_vec()),
    ) {
        let mut clock = method.clock(Limits::default());
        let mut before: Option<(i64, Time<_>, u32)> = None;
        for (number, sample) in samples.iter().enumerate() {
            let taken = clock.push(sample);
            prop_assert_eq!(taken.is_ok(), sample.check().is_ok());
            let device = queries[number % queries.len()];
            if let Some(mapped) = clock.convert(DeviceTime::from_nanos(device)) {
                prop_assert!(!mapped.sigma.is_negative());
                if let Some((last, host, epoch)) = before {
                    let later = epoch != mapped.epoch || device < last || mapped.host >= host;
                    prop_assert!(later, "{} went back", method);
                }
                before = Some((device, mapped.host, mapped.epoch));
            }
            if let Some(told) = clock.diagnostics() {
                prop_assert!(told.skew_ppm.is_finite());
            }
        }
        prop_assert!(clock.memory() < 256 * 1024);
    }

    #[test]
    fn recordings_of_anything_are_converted_or_refused(samples in prop::collection::vec(sample(), 0..100)) {
        let possible: Vec<Sample> = samples.iter().copied().filter(|one| one.check().is_ok()).collect();
        prop_assert_eq!(smooth(&possible, &Limits::default()).unwrap().len(), possible.len());
        let mut clock = Method::Envelope.clock(Limits::default());
        prop_assert_eq!(causal(&samples, &mut clock).is_ok(), possible.len() == samples.len());
    }

    #[test]
    fn tables_come_back_as_they_were(samples in prop::collection::vec(sample(), 0..50)) {
        let possible: Vec<Sample> = samples.into_iter().filter(|one| one.check().is_ok()).collect();
        let read = read_samples(&write_samples(&possible)).unwrap();
        let back: Vec<Sample> = read.into_iter().map(|row| row.sample).collect();
        prop_assert_eq!(back, possible);
    }

    #[test]
    fn any_text_is_a_table_or_an_error(text in "(kind,device_ns,host_rx_ns,host_tx_ns\n)?[-a-z0-9,\n_ ]{0,200}") {
        if let Ok(rows) = read_samples(&text) {
            prop_assert!(rows.iter().all(|row| row.sample.check().is_ok()));
        }
    }

    #[test]
    fn ticks_of_every_width_keep_their_order(bits in 2_u32..=64, steps in prop::collection::vec(any::<u64>(), 1..50)) {
        let spec = ClockSpec::new(1_000_000, 1, bits).unwrap();
        let mask = u64::MAX >> (64 - bits);
        let mut counter = TickCounter::new(spec);
        let mut ticks = 0_u64;
        let mut last = counter.unwrap(0).unwrap();
        for step in steps {
            let ahead = step % (mask / 2 + 1);
            ticks = ticks.wrapping_add(ahead) & mask;
            let Ok(time) = counter.unwrap(ticks) else { break };
            prop_assert!(time >= last, "{} bits", bits);
            prop_assert_eq!(i128::from(time.since(last).nanos()), i128::from(ahead) * 1_000);
            last = time;
        }
    }
}
