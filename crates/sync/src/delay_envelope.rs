//! The default estimator: the lower envelope of delays for packets, two-sided for requests.

use timeloom_time::{Duration, Steady, Time};

use crate::anchor::whole_nanos;
use crate::device_time::DeviceTime;
use crate::estimator::{Estimate, Estimator, Maturity, Outcome};
use crate::levels::Levels;
use crate::limits::Limits;
use crate::line::{Line, seconds_between};
use crate::minima::{Change, Minima, Shape};
use crate::sample::{ActiveSample, PassiveSample};
use crate::shape_fit::{Level, ShapeFit, Side};

/// What is made of the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Refinement {
    /// A smooth curve through all minima, let down to the lowest: the default.
    #[default]
    Curve,
    /// The hull of the lowest samples as it is (PSLE): less exact, and does less.
    Hull,
}

/// Seconds of device time from the first sample until there is enough for a curve.
const CURVE_AFTER: f64 = 4.0;
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
    packets: Minima,
    answers: Minima,
    /// Mirrored: the largest of host minus device time at sending is the least of its negative.
    requests: Minima,
    fit: ShapeFit,
    line: Option<Line>,
    sigma: f64,
}

impl DelayEnvelope {
    /// An estimator without samples.
    pub fn new(limits: &Limits, refinement: Refinement) -> Self {
        // Half of the change per second is 1/120 of the change per minute. The hull alone is quieter with less
        // room, at the price of fast drifts; the curve makes up for both.
        let per_kappa = match refinement {
            Refinement::Curve => 120.0,
            Refinement::Hull => 480.0,
        };
        let shape = Shape {
            kappa: limits.drift_ppm_per_minute.max(0.01) * 1e3 / per_kappa,
            objective: 0.2,
            window: 420.0,
            steepest: limits.skew_ppm * 1e3,
        };
        Self {
            refinement,
            least_delay: limits.least_delay.nanos(),
            packets: Minima::new(shape),
            answers: Minima::new(shape),
            requests: Minima::new(shape),
            fit: ShapeFit::default(),
            line: None,
            sigma: 0.0,
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

    /// Noise, likeness of neighbours and rate of the side that leads.
    pub(crate) fn character(&self) -> (f64, f64, f64) {
        let leading = self.leading();
        (leading.noise(), leading.alike(), leading.rate())
    }

    /// The side that says most about the shape.
    fn leading(&self) -> &Minima {
        if self.packets.line().is_some() {
            &self.packets
        } else if self.answers.noise() <= self.requests.noise() {
            &self.answers
        } else {
            &self.requests
        }
    }

    fn closed(&self) -> u64 {
        self.packets.closed() + self.answers.closed() + self.requests.closed()
    }

    /// Seconds since the first sample of the side that has seen most.
    fn age(&self) -> f64 {
        self.packets.age().max(self.answers.age())
    }

    /// Joins the three envelopes to one line.
    fn join(&mut self) {
        let leading = if self.packets.line().is_some() {
            &self.packets
        } else {
            &self.answers
        };
        let Some(reference) = leading.line().copied() else {
            return;
        };
        let mut levels = Levels {
            slope: 0.0,
            packets: self
                .packets
                .line()
                .map(|_| Level::of_hull(0.0, self.packets.noise())),
            answers: self.answers.line().map(|line| {
                let touch = -reference.above_line(line);
                Level::of_hull(touch, self.answers.noise())
            }),
            requests: self.requests.line().map(|line| {
                let touch = -reference.above_line(&line.mirrored());
                Level::of_hull(touch, self.requests.noise())
            }),
        };
        if self.refinement == Refinement::Curve && self.age() >= CURVE_AFTER {
            self.refine(&reference, &mut levels);
        }
        let Some((touch, sigma)) = levels.result() else {
            return;
        };
        self.line = Some(Line {
            residual: reference.residual + touch,
            slope: reference.slope + levels.slope,
            ..reference
        });
        self.sigma = sigma;
    }

    fn refine(&mut self, reference: &Line, levels: &mut Levels) {
        let (noise, alike, rate) = self.character();
        let age = self.age();
        self.fit.begin(noise, alike, rate, age);
        let sides = [
            (&self.packets, Side::Above),
            (&self.answers, Side::Above),
            (&self.requests, Side::Below),
        ];
        for (group, (minima, side)) in sides.into_iter().enumerate() {
            self.fit.fill(group, minima.points(), reference, side);
        }
        let Some(fitted) = self.fit.fit() else {
            return;
        };
        levels.slope = fitted.slope;
        let gap = |minima: &Minima| minima.expected_gap(self.fit.oldest());
        let level = |group| self.fit.level(group, &fitted);
        levels.packets = level(0).map(|level| level.moved(-gap(&self.packets)));
        levels.answers = level(1).map(|level| level.moved(-gap(&self.answers)));
        levels.requests = level(2).map(|level| level.moved(gap(&self.requests)));
    }

    fn outcome(&mut self, before: u64, change: Change) -> Outcome {
        if self.closed() != before {
            self.join();
        }
        match change {
            Change::None => Outcome::Used,
            Change::Longer(nanos) => Outcome::PathShift(Duration::from_nanos(whole_nanos(nanos))),
        }
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
        self.outcome(before, change)
    }

    fn active(&mut self, sample: &ActiveSample) -> Outcome {
        let before = self.closed();
        let at = sample.device.nanos();
        self.answers.push(at, sample.host_rx.nanos() - at);
        self.requests.push(at, at - sample.host_tx.nanos());
        self.outcome(before, Change::None)
    }

    fn restart(&mut self) {
        self.packets.restart();
        self.answers.restart();
        self.requests.restart();
        self.line = None;
    }

    fn estimate(&self, device: DeviceTime) -> Option<Estimate> {
        let line = self.line?;
        // Beyond the newest sample the rate may change: half the limit is what it usually does.
        let ahead = seconds_between(line.at, device.nanos()).max(0.0);
        let grown = self.packets.kappa() * ahead * ahead;
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
