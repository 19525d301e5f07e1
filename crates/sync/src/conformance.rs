//! The suite that every estimator passes; a new one is done when [`run`] returns.
//!
//! It panics with a sentence when the estimator breaks the contract of [`Estimator`].

use timeloom_time::{Duration, Time};

use crate::device_time::DeviceTime;
use crate::estimator::{Estimator, Maturity};
use crate::limits::Limits;
use crate::sample::{ActiveSample, PassiveSample, Sample};
use crate::sensor_clock::SensorClock;
use crate::simulate::{DeviceModel, PathModel, Scenario};

/// Makes an estimator without samples.
pub type Make<'a> = &'a dyn Fn() -> Box<dyn Estimator>;

/// No estimator may hold more, in bytes.
const MOST_MEMORY: usize = 256 * 1024;

/// Runs all checks of the suite.
pub fn run(make: Make<'_>) {
    starts_empty(make);
    is_deterministic_and_restarts(make);
    finds_a_steady_clock(make);
    survives_wild_samples(make);
    never_goes_back_within_an_epoch(make);
    holds_little_memory(make);
}

fn feed(estimator: &mut dyn Estimator, sample: &Sample) {
    match sample {
        Sample::Passive(sample) => estimator.passive(sample),
        Sample::Active(sample) => estimator.active(sample),
    };
}

fn short(duration_s: f64) -> Scenario {
    Scenario {
        duration_s,
        ..Scenario::default()
    }
}

fn starts_empty(make: Make<'_>) {
    let estimator = make();
    let name = estimator.name();
    assert!(!name.is_empty(), "an estimator has a name");
    assert_eq!(estimator.maturity(), Maturity::Empty, "{name} starts empty");
    assert_eq!(estimator.estimate(DeviceTime::default()), None, "{name}");
    assert!(estimator.skew_ppm().is_none(), "{name}");
}

fn is_deterministic_and_restarts(make: Make<'_>) {
    let (mut first, mut second) = (make(), make());
    for simulated in short(5.0).simulate(1) {
        feed(&mut *first, &simulated.sample);
    }
    first.restart();
    assert_eq!(first.maturity(), Maturity::Empty, "a restart forgets");
    for simulated in short(20.0).simulate(2) {
        feed(&mut *first, &simulated.sample);
        feed(&mut *second, &simulated.sample);
        let device = simulated.sample.device();
        let name = first.name();
        assert_eq!(
            first.estimate(device),
            second.estimate(device),
            "{name}: same samples, same results, whatever was before the restart"
        );
    }
}

fn finds_a_steady_clock(make: Make<'_>) {
    let scenario = Scenario {
        duration_s: 60.0,
        device: DeviceModel {
            skew_ppm: -80.0,
            ..DeviceModel::default()
        },
        path: PathModel::QUIET,
        ..Scenario::default()
    };
    let mut estimator = make();
    let mut last = None;
    for simulated in scenario.simulate(3) {
        feed(&mut *estimator, &simulated.sample);
        last = Some(simulated);
    }
    let name = estimator.name();
    let last = last.expect("the scenario has samples");
    let estimate = estimator.estimate(last.sample.device());
    let estimate = estimate.expect("a minute of samples is enough");
    let error = (estimate.host - last.truth).nanos();
    assert!(error.abs() < 3_000_000, "{name} is {error} ns off");
    let skew = estimator.skew_ppm().expect("a minute of samples is enough");
    assert!(
        (skew - 77.0).abs() < 60.0,
        "{name} finds {skew} ppm, not 77"
    );
    assert!(!estimate.sigma.is_negative(), "{name}");
    assert!(estimator.maturity() >= Maturity::Doubtful, "{name} settles");
}

fn survives_wild_samples(make: Make<'_>) {
    let limit = (1_i64 << 62) - 1;
    let values = [0, 1, -1, limit, -limit, 1_000_000_000, 5, limit / 2, -7, 0];
    let mut estimator = make();
    for device in values {
        for host in values {
            let host_rx = Time::from_nanos(host);
            let device = DeviceTime::from_nanos(device);
            let samples = [
                Sample::Passive(PassiveSample::new(device, host_rx)),
                Sample::Active(ActiveSample {
                    host_tx: host_rx.saturating_sub(Duration::MILLISECOND),
                    device,
                    host_rx,
                }),
            ];
            for sample in samples.iter().filter(|sample| sample.check().is_ok()) {
                feed(&mut *estimator, sample);
            }
            for query in values {
                estimator.estimate(DeviceTime::from_nanos(query));
            }
            let skew = estimator.skew_ppm().unwrap_or(0.0);
            assert!(skew.is_finite(), "{}: skew {skew}", estimator.name());
        }
    }
}

fn never_goes_back_within_an_epoch(make: Make<'_>) {
    let mut clock = SensorClock::new(make(), Limits::default());
    let mut before: Option<(DeviceTime, Time<timeloom_time::Steady>, u32)> = None;
    for simulated in short(60.0).simulate(4) {
        let pushed = clock.push(&simulated.sample);
        assert!(pushed.is_ok(), "simulated samples are possible: {pushed:?}");
        let device = simulated.sample.device();
        let Some(mapped) = clock.convert(device) else {
            continue;
        };
        if let Some((last, host, epoch)) = before {
            let goes_back = epoch == mapped.epoch && device >= last && mapped.host < host;
            assert!(!goes_back, "{} went back", clock.estimator().name());
        }
        before = Some((device, mapped.host, mapped.epoch));
    }
    assert!(before.is_some(), "a minute of samples is enough");
}

fn holds_little_memory(make: Make<'_>) {
    let mut estimator = make();
    for simulated in short(300.0).simulate(5) {
        feed(&mut *estimator, &simulated.sample);
    }
    let memory = estimator.memory();
    assert!(
        memory < MOST_MEMORY,
        "{} holds {memory} bytes",
        estimator.name()
    );
}
