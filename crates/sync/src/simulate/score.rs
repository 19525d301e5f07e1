//! The accuracy of a sensor clock in a simulated case.

use timeloom_time::Duration;

use super::{Scenario, Simulated};
use crate::error::Result;
use crate::estimator::Estimator;
use crate::limits::Limits;
use crate::mapped::{Bounds, Health, Mapped};
use crate::recording::smooth;
use crate::sample::Sample;
use crate::sensor_clock::{DeviceClock, HostStamps, SensorClock};

/// Seconds after the start and after a restart that do not count for the error.
const SETTLING: f64 = 30.0;
/// An error below this counts as settled, in nanoseconds.
const SETTLED: f64 = 500e3;

/// The host clock that stamps the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HostClock {
    /// The steady clock, as this crate wants it.
    #[default]
    Steady,
    /// The system clock with its steps, as the anchor uses it.
    System,
}

impl HostClock {
    /// Offset of this clock from the steady clock when a sample arrives.
    pub fn step(self, simulated: &Simulated) -> Duration {
        match self {
            Self::Steady => Duration::ZERO,
            Self::System => simulated.system_step,
        }
    }
}

/// The accuracy of a sensor clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Conversions, one for each sample.
    pub evaluations: u64,
    /// Median of the error's absolute value less the constant smallest delay, in nanoseconds, after 30 s.
    pub p50_ns: f64,
    /// The same, 99th percentile.
    pub p99_ns: f64,
    /// The same, largest.
    pub max_ns: f64,
    /// The 99th percentile of error over sigma.
    pub p99_sigmas: f64,
    /// The constant part of the error, in nanoseconds: the median of host minus truth, after 30 s.
    pub bias_ns: f64,
    /// The 99th percentile of the error's absolute value with its constant part, in nanoseconds, after 30 s.
    pub raw_p99_ns: f64,
    /// The share of conversions whose error, less its constant part, is within two sigma, after 30 s.
    pub within_2_sigma: f64,
    /// Conversions that are "locked" although their bounds do not contain the truth.
    pub locked_and_wrong: u64,
    /// Conversions that are "locked".
    pub locked: u64,
    /// Conversions below zero.
    pub negative: u64,
    /// The median distance of the bounds where there are two, in nanoseconds; infinite without.
    pub width_ns: f64,
    /// Conversions whose bounds did not contain the truth, from the first sample on.
    pub bound_violations: u64,
    /// Conversions with an upper and with a lower bound.
    pub bounded: (u64, u64),
    /// Conversions that went back within an epoch.
    pub backwards: u64,
    /// Seconds from the start, or from the device's restart, until the error stayed below 0.5 ms.
    pub settled_after_s: f64,
    /// Number of epochs.
    pub epochs: u32,
    /// The most memory that was held, in bytes.
    pub memory: usize,
}

/// Runs a sensor clock through a simulated case, converting each sample right after it came.
pub fn score(
    scenario: &Scenario,
    seed: u64,
    mut clock: SensorClock,
    host_clock: HostClock,
) -> Score {
    if host_clock == HostClock::Steady {
        clock.set_host_stamps(HostStamps::Steady);
        clock.set_device_clock(DeviceClock::Counter);
    }
    let mut tally = Tally::new(scenario);
    for simulated in scenario.simulate(seed) {
        let step = host_clock.step(&simulated);
        let sample = simulated.sample.shifted(step);
        clock.status(simulated.status, &sample);
        if clock.push(&sample).is_ok() {
            let mapped = clock.convert(sample.device());
            tally.add(&simulated, step, mapped.as_ref());
        }
        tally.memory = tally.memory.max(clock.memory());
    }
    tally.score()
}

/// Runs a bare estimator through a simulated case, without the care of a [`SensorClock`]: as a driver would use it.
pub fn score_bare(
    scenario: &Scenario,
    seed: u64,
    mut estimator: Box<dyn Estimator>,
    host_clock: HostClock,
) -> Score {
    let mut tally = Tally::new(scenario);
    for simulated in scenario.simulate(seed) {
        let step = host_clock.step(&simulated);
        let sample = simulated.sample.shifted(step);
        estimator.status(simulated.status);
        match &sample {
            Sample::Passive(sample) => estimator.passive(sample),
            Sample::Active(sample) => estimator.active(sample),
        };
        let estimate = estimator.estimate(sample.device());
        let mapped = estimate.map(|estimate| Mapped {
            host: estimate.host,
            sigma: estimate.sigma,
            bounds: Bounds::default(),
            health: Health::Locked,
            epoch: 0,
        });
        tally.add(&simulated, step, mapped.as_ref());
    }
    tally.memory = estimator.memory();
    tally.score()
}

/// Smooths the recording of a simulated case, and scores it.
///
/// # Errors
///
/// As [`smooth`]; simulated samples give none.
pub fn score_smoothed(scenario: &Scenario, seed: u64, limits: &Limits) -> Result<Score> {
    let simulated: Vec<Simulated> = scenario.simulate(seed).collect();
    let samples: Vec<Sample> = simulated.iter().map(|one| one.sample).collect();
    let mut tally = Tally::new(scenario);
    for (one, mapped) in simulated.iter().zip(smooth(&samples, limits)?) {
        tally.add(one, Duration::ZERO, Some(&mapped));
    }
    Ok(tally.score())
}

/// Errors, being collected.
#[derive(Debug)]
struct Tally {
    scenario: Scenario,
    floor: f64,
    errors: Vec<f64>,
    sigmas: Vec<f64>,
    /// Host minus truth and sigma, after the settling.
    signed: Vec<(f64, f64)>,
    widths: Vec<f64>,
    evaluations: u64,
    locked: u64,
    locked_and_wrong: u64,
    negative: u64,
    bound_violations: u64,
    bounded: (u64, u64),
    backwards: u64,
    settled_after: f64,
    before: Option<(i64, Mapped)>,
    epochs: u32,
    memory: usize,
}

impl Tally {
    fn new(scenario: &Scenario) -> Self {
        Self {
            scenario: *scenario,
            floor: scenario.floor_ns(),
            errors: Vec::new(),
            sigmas: Vec::new(),
            signed: Vec::new(),
            widths: Vec::new(),
            evaluations: 0,
            locked: 0,
            locked_and_wrong: 0,
            negative: 0,
            bound_violations: 0,
            bounded: (0, 0),
            backwards: 0,
            settled_after: 0.0,
            before: None,
            epochs: 0,
            memory: 0,
        }
    }

    /// Adds the conversion of a sample's device time, on a host clock that is `step` ahead of the steady clock.
    fn add(&mut self, simulated: &Simulated, step: Duration, mapped: Option<&Mapped>) {
        let Some(mapped) = mapped else { return };
        self.evaluations += 1;
        let truth = simulated.truth.saturating_add(step);
        let holds = mapped.bounds.contain(truth);
        self.count_bounds(&mapped.bounds, holds);
        self.count_backwards(simulated, mapped);
        let locked = mapped.health == Health::Locked;
        self.locked += u64::from(locked);
        self.locked_and_wrong += u64::from(locked && !holds);
        self.negative += u64::from(mapped.host.nanos() < 0);
        self.widths
            .extend(mapped.bounds.width().map(|width| width.nanos() as f64));
        let signed = (mapped.host - truth).nanos() as f64;
        let error = (signed - self.floor).abs();
        let since = self.since_start(simulated.at_s);
        if since >= SETTLING {
            self.signed.push((signed, mapped.sigma.nanos() as f64));
            self.errors.push(error);
            self.sigmas.push(error / mapped.sigma.nanos().max(1) as f64);
        } else if error > SETTLED {
            self.settled_after = self.settled_after.max(since);
        }
    }

    fn since_start(&self, at: f64) -> f64 {
        match self.scenario.disturbances.reboot {
            Some(window) if at >= window.from_s => at - window.until_s,
            _ => at,
        }
    }

    fn count_bounds(&mut self, bounds: &Bounds, hold: bool) {
        self.bound_violations += u64::from(!hold);
        self.bounded.0 += u64::from(bounds.upper.is_some());
        self.bounded.1 += u64::from(bounds.lower.is_some());
    }

    fn count_backwards(&mut self, simulated: &Simulated, mapped: &Mapped) {
        let device = simulated.sample.device().nanos();
        match self.before {
            Some((last_device, last)) if last.epoch == mapped.epoch => {
                let went_back = device >= last_device && mapped.host < last.host;
                self.backwards += u64::from(went_back);
            }
            _ => self.epochs += 1,
        }
        self.before = Some((device, *mapped));
    }

    fn score(mut self) -> Score {
        self.errors.sort_by(f64::total_cmp);
        self.sigmas.sort_by(f64::total_cmp);
        self.widths.sort_by(f64::total_cmp);
        self.signed.sort_by(|one, other| one.0.total_cmp(&other.0));
        let bias = self
            .signed
            .get(self.signed.len() / 2)
            .map_or(0.0, |one| one.0);
        let mut raw: Vec<f64> = self.signed.iter().map(|one| one.0.abs()).collect();
        raw.sort_by(f64::total_cmp);
        let within = self
            .signed
            .iter()
            .filter(|(error, sigma)| (error - bias).abs() <= 2.0 * sigma);
        Score {
            bias_ns: bias,
            raw_p99_ns: percentile(&raw, 0.99),
            within_2_sigma: within.count() as f64 / self.signed.len().max(1) as f64,
            locked_and_wrong: self.locked_and_wrong,
            locked: self.locked,
            negative: self.negative,
            width_ns: percentile(&self.widths, 0.5),
            evaluations: self.evaluations,
            p50_ns: percentile(&self.errors, 0.5),
            p99_ns: percentile(&self.errors, 0.99),
            max_ns: percentile(&self.errors, 1.0),
            p99_sigmas: percentile(&self.sigmas, 0.99),
            bound_violations: self.bound_violations,
            bounded: self.bounded,
            backwards: self.backwards,
            settled_after_s: self.settled_after,
            epochs: self.epochs,
            memory: self.memory,
        }
    }
}

/// The value below which a share of the sorted values lies; infinite without values.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index into a list, from a share between 0 and 1"
)]
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let index = (sorted.len() as f64 * share) as usize;
    sorted
        .get(index.min(last))
        .copied()
        .unwrap_or(f64::INFINITY)
}
