//! The default estimator: the lower envelope of delays for packets, two-sided for requests.

use timeloom_time::{Duration, Steady, Time};

use crate::anchor::whole_nanos;
use crate::device_time::DeviceTime;
use crate::envelope_fit::{EnvelopeFit, Prior, Side};
use crate::estimator::{Estimate, Estimator, Maturity, Outcome};
use crate::limits::Limits;
use crate::line::{Line, seconds_between};
use crate::minima::{Change, Minima, Path, Shape};
use crate::sample::{ActiveSample, PassiveSample};

/// What is made of the envelope.
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

/// The lower envelope of delays, with a bounded change of the clock's rate.
///
/// Packets give `host = truth + smallest delay`. Requests bound from both sides; alone they give the middle, beside
/// packets they keep the result possible. Works for any mixture of the two.
#[derive(Debug, Clone)]
pub struct DelayEnvelope {
    refinement: Refinement,
    least_delay: i64,
    /// How far the rate of the clocks may change, in ns/s².
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
}

impl DelayEnvelope {
    /// An estimator without samples.
    pub fn new(limits: &Limits, refinement: Refinement) -> Self {
        // Half of the change per second is 1/120 of the change per minute.
        let kappa = limits.drift_ppm_per_minute.max(0.01) * 1e3 / 120.0;
        let shape = |path| Shape {
            // A hull is quieter with less room than the limit; the curve makes up for it.
            kappa: kappa / 4.0,
            objective: 0.2,
            window: 420.0,
            steepest: limits.skew_ppm * 1e3,
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
            grain: limits.stamp_grain.nanos() as f64 / 12_f64.sqrt(),
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

    /// Joins the three envelopes to one line at the device time `now`.
    fn join(&mut self, now: i64) {
        if let (Refinement::Hull, Some(line)) = (self.refinement, self.packets.line()) {
            (self.line, self.sigma) = (Some(*line), self.packets.noise());
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
        }
    }

    fn outcome(&mut self, before: u64, now: i64, change: Change) -> Outcome {
        if self.closed() != before {
            let newest = self.line.map_or(now, |line| line.at.max(now));
            self.join(newest);
        }
        match change {
            Change::None => Outcome::Used,
            Change::Longer(nanos) => Outcome::PathShift(Duration::from_nanos(whole_nanos(nanos))),
        }
    }
}

/// What is believed of a clock that keeps to the limits.
pub(crate) fn prior(limits: &Limits) -> Prior {
    let most_bend = limits.drift_ppm_per_minute.max(0.01) * 1e3 / 120.0;
    Prior {
        slope: 0.2 * limits.skew_ppm.max(0.1) * 1e3,
        bend: 0.1 * most_bend,
        // Few clocks bend so much, but those that do are followed.
        most_bend: 4.0 * most_bend,
        // From nothing to the limit takes two minutes or longer.
        slack: most_bend / SWING / 3.0,
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
        self.line = None;
    }

    fn estimate(&self, device: DeviceTime) -> Option<Estimate> {
        let line = self.line?;
        // Beyond the newest sample the rate may change: half the limit is what it usually does.
        let ahead = seconds_between(line.at, device.nanos()).max(0.0);
        let grown = self.kappa * ahead * ahead + self.slope_sigma * ahead;
        Some(Estimate {
            host: Time::<Steady>::from_nanos(line.host(device)),
            sigma: Duration::from_nanos(whole_nanos(self.sigma + grown)),
        })
    }

    fn skew_ppm(&self) -> Option<f64> {
        Some(self.line?.slope * 1e-3)
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
