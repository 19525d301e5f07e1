//! How good a clock was in such a world.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small simulated numbers"
)]

use timeloom_sync::{Estimator, Health, Limits, Mapped, Method, Sample, SensorClock, causal_one};

use super::world::{Row, World};

/// Seconds after the start and after a jump that do not count for the error.
const SETTLING: f64 = 30.0;
/// An error below this has converged, in nanoseconds.
const CONVERGED: f64 = 500e3;

/// Figures of one run, errors in microseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) most: f64,
    /// The mean of the error with its sign.
    pub(crate) bias: f64,
    /// The share of errors within three sigma.
    pub(crate) within_3_sigma: f64,
    /// Rows whose bounds did not contain the truth; rows whose bounds did not contain the estimate.
    pub(crate) bounds_broken: u64,
    pub(crate) outside_bounds: u64,
    /// The median of upper minus lower bound, where there are both.
    pub(crate) width: f64,
    /// Epochs beyond those that the jumps of the world ask for.
    pub(crate) epochs: u32,
    pub(crate) backwards: u64,
    /// The longest time after the start or a jump until the error stayed small, in seconds.
    pub(crate) converged_after: f64,
    pub(crate) gaps: u64,
}

pub(crate) fn measure(world: &World, rows: &[Row], mut clock: SensorClock) -> Figures {
    let mut figures = Figures::default();
    let mut tally = Tally::default();
    for row in rows {
        let Ok(mapped) = causal_one(&row.sample, &mut clock) else {
            continue;
        };
        tally.add(world, row, &mapped, &mut figures);
    }
    while let Some(event) = clock.take_event() {
        figures.gaps += u64::from(matches!(event.kind, timeloom_sync::EventKind::Gap { .. }));
    }
    tally.finish(&mut figures);
    figures
}

/// p99 of the anchor's estimator on its own, as the driver uses it, in microseconds.
pub(crate) fn anchor_p99(world: &World, rows: &[Row], method: Method) -> f64 {
    let mut estimator = method.estimator(&Limits::default());
    let mut errors = Vec::new();
    for row in rows {
        feed(&mut *estimator, &row.sample);
        let estimate = estimator.estimate(row.sample.device());
        if let Some(estimate) = estimate.filter(|_| row.since_s >= SETTLING) {
            errors.push(error(world, row, estimate.host.nanos()).abs());
        }
    }
    percentile(&mut errors, 0.99) / 1e3
}

fn feed(estimator: &mut dyn Estimator, sample: &Sample) {
    match sample {
        Sample::Passive(sample) => estimator.passive(sample),
        Sample::Active(sample) => estimator.active(sample),
    };
}

/// Estimate minus truth, less what nobody can know, in nanoseconds.
fn error(world: &World, row: &Row, host: i64) -> f64 {
    let error = host as f64 - row.truth;
    let (least, most) = world.unknowable();
    error - error.clamp(least, most)
}

#[derive(Default)]
struct Tally {
    errors: Vec<f64>,
    signed: f64,
    within: u64,
    widths: Vec<f64>,
    before: Option<(i64, Mapped)>,
    jumps: u32,
}

impl Tally {
    fn add(&mut self, world: &World, row: &Row, mapped: &Mapped, figures: &mut Figures) {
        let device = row.sample.device().nanos();
        if mapped.health == Health::Unsynced {
            return;
        }
        let lower = mapped.bounds.lower.map(|lower| lower.nanos() as f64);
        let upper = mapped.bounds.upper.map(|upper| upper.nanos() as f64);
        let holds = |time: f64| {
            lower.is_none_or(|lower| lower <= time + 1.0)
                && upper.is_none_or(|upper| time <= upper + 1.0)
        };
        figures.bounds_broken += u64::from(!holds(row.truth));
        figures.outside_bounds += u64::from(!holds(mapped.host.nanos() as f64));
        self.widths
            .extend(upper.zip(lower).map(|(upper, lower)| upper - lower));
        match self.before {
            Some((last, before)) if before.epoch == mapped.epoch => {
                figures.backwards += u64::from(device >= last && mapped.host < before.host);
            }
            _ => figures.epochs += 1,
        }
        self.before = Some((device, *mapped));
        self.jumps = self.jumps.max(row.jumps);
        let error = error(world, row, mapped.host.nanos());
        if row.since_s >= SETTLING {
            self.errors.push(error.abs());
            self.signed += error;
            self.within += u64::from(error.abs() <= 3.0 * mapped.sigma.nanos() as f64);
        } else if error.abs() > CONVERGED {
            figures.converged_after = figures.converged_after.max(row.since_s);
        }
    }

    fn finish(mut self, figures: &mut Figures) {
        let count = self.errors.len().max(1) as f64;
        figures.p50 = percentile(&mut self.errors, 0.5) / 1e3;
        figures.p99 = percentile(&mut self.errors, 0.99) / 1e3;
        figures.most = percentile(&mut self.errors, 1.0) / 1e3;
        figures.bias = self.signed / count / 1e3;
        figures.within_3_sigma = self.within as f64 / count;
        figures.width = percentile(&mut self.widths, 0.5) / 1e3;
        figures.epochs = figures.epochs.abs_diff(1 + self.jumps);
    }
}

fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (values.len() as f64 * share) as usize;
    let last = values.len().saturating_sub(1);
    values.get(place.min(last)).copied().unwrap_or(f64::NAN)
}
