//! The default estimator: the lower envelope of delays for packets, two-sided for requests.

use timeloom_time::{Duration, Steady, Time};

use crate::anchor::whole_nanos;
use crate::device_time::DeviceTime;
use crate::drift_watch::{DriftWatch, PathNow};
use crate::envelope_fit::{EnvelopeFit, LeastDelay, Prior, Side};
use crate::estimator::{Estimate, Estimator, Maturity, Outcome};
use crate::limits::Limits;
use crate::line::{Line, seconds_between};
use crate::minima::{Change, Minima, Path, Shape};
use crate::sample::{ActiveSample, PassiveSample};
use crate::usual_sigma::UsualSigma;

/// The result of the last fit of the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Refinement {
    /// A smooth curve through all minima, let down to the lowest: the default.
    #[default]
    Curve,
    /// The hull of the lowest samples as it is (PSLE): less exact, and does less.
    Hull,
}

/// Seconds that the change of a rate takes at least from nothing to its limit.
const SWING: f64 = 480.0;
/// Seconds of device time from the first sample until the estimate counts as settled.
const SETTLED_AFTER: f64 = 5.0;

/// A hull is quieter with less room for a change of the rate than the limit; the curve makes up for it.
const HULL_ROOM: f64 = 0.25;
/// Slopes are searched up to this multiple of the limit, so that an excess is detected.
const STEEPEST: f64 = 10.0;
/// The weight of a minimum in the strain, and the most that one of them counts.
pub(crate) const STRAIN_GAIN: f64 = 0.1;
const MOST_STRAIN: f64 = 25.0;
/// Grains from here on are seen in results, in nanoseconds.
const COARSE: f64 = 10e3;
/// The lower envelope of delays, with a bounded change of the clock's rate.
///
/// Packets give `host = truth + smallest delay`. Requests bound from both sides: alone they give the middle, and beside
/// packets they limit the smallest delay, and its likely share is subtracted. The narrower the
/// corridor between the two, the nearer the result is to its middle; a corridor of several milliseconds is ignored.
/// With [`Limits::least_delay`] nothing else is taken off. Works for any mixture of the two.
#[derive(Debug, Clone)]
pub struct DelayEnvelope {
    refinement: Refinement,
    least_delay: i64,
    /// Limit of the change of the rate of the clocks, in ns/s².
    kappa: f64,
    packets: Minima,
    answers: Minima,
    /// Mirrored: the largest of host minus device time at sending is the least of its negative.
    requests: Minima,
    fit: EnvelopeFit,
    line: Option<Line>,
    sigma: f64,
    slope_sigma: f64,
    grain: f64,
    /// Stamps are cut off by so much on average, in nanoseconds, if their grain is coarse.
    cut: f64,
    /// The deviation of the last minute.
    usual_sigma: UsualSigma,
    /// Distance of the newest minima below the prediction, in squared deviations: above one if the model is incomplete.
    strain: f64,
    drift: DriftWatch,
}

impl DelayEnvelope {
    /// An estimator without samples.
    pub fn new(limits: &Limits, refinement: Refinement) -> Self {
        // Half of the change per second is 1/120 of the change per minute.
        let kappa = limits.drift_ppm_per_minute.max(0.01) * 1e3 / 120.0;
        let shape = |path| Shape {
            kappa: HULL_ROOM * kappa,
            objective: 0.2,
            window: 420.0,
            steepest: STEEPEST * limits.skew_ppm * 1e3,
            path,
        };
        Self {
            refinement,
            least_delay: limits.least_delay.nanos(),
            kappa,
            packets: Minima::new(shape(Path::Watched)),
            answers: Minima::new(shape(Path::Taken)),
            requests: Minima::new(shape(Path::Taken)),
            fit: EnvelopeFit::new(prior(limits)),
            line: None,
            sigma: 0.0,
            slope_sigma: 0.0,
            grain: grain_sigma(limits),
            cut: cut_off(limits),
            usual_sigma: UsualSigma::default(),
            strain: 0.0,
            drift: DriftWatch::default(),
        }
    }

    /// Keeps all minima from now on.
    pub(crate) fn keep_all(&mut self) {
        self.packets.keep_all();
        self.answers.keep_all();
        self.requests.keep_all();
    }

    /// Gives the minima of packets, answers and (mirrored) requests away.
    pub(crate) fn take_all(&mut self) -> [Vec<(i64, i64)>; 3] {
        [
            self.packets.take_all(),
            self.answers.take_all(),
            self.requests.take_all(),
        ]
    }

    /// The current line.
    pub(crate) const fn line(&self) -> Option<&Line> {
        self.line.as_ref()
    }

    fn closed(&self) -> u64 {
        self.packets.closed() + self.answers.closed() + self.requests.closed()
    }

    /// Seconds since the first sample of the side that has seen most.
    fn age(&self) -> f64 {
        self.packets.age().max(self.answers.age())
    }

    /// Compares the newest minimum with what was expected: below the envelope there is nothing but its own error.
    fn compare(&mut self) {
        let mut minima = [&self.packets, &self.answers].into_iter();
        let newest = minima.find_map(Minima::newest);
        let (Some(line), Some((at, offset))) = (&self.line, newest) else {
            return;
        };
        let grown = self.growth(seconds_between(line.at, at).max(0.0));
        let below = (-line.above(at, offset)).max(0.0);
        let square = |sigma: f64| (below / (sigma + grown).max(1e3)).powi(2).min(MOST_STRAIN);
        let strain = square(self.sigma);
        self.strain += STRAIN_GAIN * (strain - self.strain);
        let is_longer = self.packets.is_in_doubt() || self.packets.extra() > 0.0;
        let path = if is_longer {
            PathNow::Longer
        } else {
            PathNow::Same
        };
        let still = square(self.drift.still_sigma());
        self.drift.compared(still, path);
    }

    /// Growth of the deviation until `ahead` seconds after the newest sample.
    fn growth(&self, ahead: f64) -> f64 {
        // The rate may change, usually by half the limit.
        self.kappa * ahead * ahead + self.slope_sigma * ahead
    }

    /// Joins the three envelopes to one line at the device time `now`.
    fn join(&mut self, now: i64) {
        if let (Refinement::Hull, Some(line)) = (self.refinement, self.packets.line()) {
            (self.line, self.sigma) = (Some(*line), self.packets.noise().hypot(self.grain));
            return;
        }
        let start = self.line.or(self.packets.line().copied());
        let Some(start) = start.or(self.answers.line().copied()) else {
            return;
        };
        let reference = start.anchored_at(now);
        let sides = [
            (&self.packets, Side::Above),
            (&self.answers, Side::Above),
            (&self.requests, Side::Below),
        ];
        for (group, (minima, side)) in sides.into_iter().enumerate() {
            self.fit
                .fill(group, minima.points().rev(), &reference, side);
        }
        if let Some(fitted) = self.fit.fit() {
            self.line = Some(reference.moved(fitted.height, fitted.slope));
            self.sigma = fitted
                .sigma
                .hypot(self.grain)
                .hypot(self.packets.extra_sigma());
            self.slope_sigma = fitted.slope_sigma;
            self.usual_sigma.add(now, self.sigma, self.age());
            self.drift.fitted(fitted.still_sigma.hypot(self.grain));
        }
    }

    fn forget_line(&mut self) {
        (self.line, self.strain) = (None, 0.0);
        self.usual_sigma = UsualSigma::default();
        self.drift = DriftWatch::default();
    }

    fn outcome(&mut self, before: u64, now: i64, change: Change) -> Outcome {
        if change == Change::Rate {
            self.fit.restart();
            self.forget_line();
        }
        if self.closed() != before {
            self.compare();
            let newest = self.line.map_or(now, |line| line.at.max(now));
            self.join(newest);
        }
        match change {
            Change::None if self.drift.is_exceeded() && self.age() > SETTLED_AFTER => {
                self.drift = DriftWatch::default();
                Outcome::DriftExceeded
            }
            Change::None => Outcome::Used,
            Change::Rate => Outcome::RateChange,
            Change::Longer(nanos) => Outcome::PathShift(Duration::from_nanos(whole_nanos(nanos))),
        }
    }
}

/// Contribution of the grain to the deviation: the true time lies between a stamp and one grain later.
fn grain_sigma(limits: &Limits) -> f64 {
    limits.stamp_grain.nanos() as f64 / 12_f64.sqrt()
}

/// Half of a coarse grain: what a stamp that is cut off is early by on average.
fn cut_off(limits: &Limits) -> f64 {
    let grain = limits.stamp_grain.nanos() as f64;
    if grain < COARSE { 0.0 } else { 0.5 * grain }
}

/// Priors for a clock within the limits.
pub(crate) fn prior(limits: &Limits) -> Prior {
    let most_bend = limits.drift_ppm_per_minute.max(0.01) * 1e3 / 120.0;
    Prior {
        slope: 0.2 * limits.skew_ppm.max(0.1) * 1e3,
        bend: 0.1 * most_bend,
        // Few clocks bend so much, but those that do are followed.
        most_bend: 4.0 * most_bend,
        // From nothing to the limit takes two minutes or longer.
        slack: most_bend / SWING / 3.0,
        grain: 2e3_f64.max(limits.stamp_grain.nanos() as f64 - 5e3),
        least_delay: if limits.least_delay.is_zero() {
            LeastDelay::Unknown
        } else {
            LeastDelay::Given
        },
    }
}

impl Estimator for DelayEnvelope {
    fn name(&self) -> &'static str {
        match self.refinement {
            Refinement::Curve => "envelope",
            Refinement::Hull => "psle",
        }
    }

    fn passive(&mut self, sample: &PassiveSample) -> Outcome {
        let before = self.closed();
        let at = sample.device_stamp().nanos();
        let offset = sample.host_rx.nanos() - at - self.least_delay;
        self.fit.set_sent_stamps(sample.device_tx.is_some());
        let change = self.packets.push(at, offset);
        self.outcome(before, at, change)
    }

    fn active(&mut self, sample: &ActiveSample) -> Outcome {
        let before = self.closed();
        let at = sample.device.nanos();
        self.answers.push(at, sample.host_rx.nanos() - at);
        self.requests.push(at, at - sample.host_tx.nanos());
        self.outcome(before, at, Change::None)
    }

    fn restart(&mut self) {
        self.packets.restart();
        self.answers.restart();
        self.requests.restart();
        self.fit.restart();
        self.forget_line();
    }

    fn estimate(&self, device: DeviceTime) -> Option<Estimate> {
        let line = self.line?;
        let ahead = seconds_between(line.at, device.nanos()).max(0.0);
        // A misfit adds to the uncertainty.
        let sigma = self.usual_sigma.or_larger(self.sigma);
        let sigma = sigma * (1.0 + self.strain).sqrt() + self.growth(ahead);
        let sigma = sigma.max(self.packets.mismatch());
        Some(Estimate {
            host: Time::<Steady>::from_nanos(
                line.host(device).saturating_add(whole_nanos(self.cut)),
            ),
            sigma: Duration::from_nanos(whole_nanos(sigma)),
        })
    }

    fn skew_ppm(&self) -> Option<f64> {
        Some(self.line?.slope * 1e-3)
    }

    fn skew_sigma_ppm(&self) -> f64 {
        self.slope_sigma * 1e-3
    }

    fn usual_lateness(&self) -> Duration {
        Duration::from_nanos(whole_nanos(self.packets.too_high()))
    }

    fn extra_delay(&self) -> Duration {
        Duration::from_nanos(whole_nanos(self.packets.extra()))
    }

    fn set_limits(&mut self, limits: &Limits) {
        self.kappa = limits.drift_ppm_per_minute.max(0.01) * 1e3 / 120.0;
        (self.grain, self.cut) = (grain_sigma(limits), cut_off(limits));
        self.fit.set_prior(prior(limits));
        let steepest = STEEPEST * limits.skew_ppm * 1e3;
        for minima in [&mut self.packets, &mut self.answers, &mut self.requests] {
            minima.set_shape(HULL_ROOM * self.kappa, steepest);
        }
    }

    fn maturity(&self) -> Maturity {
        if self.line.is_none() {
            Maturity::Empty
        } else if self.age() < SETTLED_AFTER {
            Maturity::Settling
        } else if self.packets.is_in_doubt() {
            Maturity::Doubtful
        } else {
            Maturity::Settled
        }
    }

    fn memory(&self) -> usize {
        size_of::<Self>()
            + self.packets.memory()
            + self.answers.memory()
            + self.requests.memory()
            + self.fit.memory()
    }
}
