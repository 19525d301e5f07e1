//! The most likely envelopes of packets, answers and requests: one shape for all, one height for each.
//!
//! The offset of the clocks is a curve with a slope and a bend, and the bend changes slowly. Delays lie above it as if
//! at random: many small, few large. Then a curve is the likelier, the smaller the delays that it leaves above the
//! envelope are on average: `likelihood = 1 / (mean − least)^count`, for each of the three kinds. The height needs no
//! search, slope and bend are integrated over: what comes out is the mean of all curves that are likely, and how much
//! they differ.
//!
//! Old minima may lie below the curve by `slack · age³`: the noisier the delays, the longer the memory.

use crate::envelope_fit::group::Group;
use crate::envelope_fit::likely_delay::{USUAL_DELAY, USUAL_TRANSIT};
use crate::envelope_fit::slice::Slice;
use crate::line::{Line, nanos_between, seconds_between};

mod group;
mod likely_delay;
mod peak;
mod slice;

/// Priors of a clock before the first sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prior {
    /// The deviation of the slope from zero, in ns/s.
    pub(crate) slope: f64,
    /// The deviation of the bend (half of the change of the rate), in ns/s².
    pub(crate) bend: f64,
    /// The largest bend.
    pub(crate) most_bend: f64,
    /// A sixth of the change of the rate's change, in ns/s³.
    pub(crate) slack: f64,
    /// An envelope may lie on the wrong side of another by this much, in nanoseconds, as stamps have a grain.
    pub(crate) grain: f64,
    /// Prior knowledge of the smallest delay of packets.
    pub(crate) least_delay: LeastDelay,
}

/// Prior knowledge of the smallest delay of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeastDelay {
    /// It is given, and taken off already.
    Given,
    /// The corridor between requests and arrivals determines the part that is subtracted.
    Unknown,
}

/// On which side of the truth a group lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Side {
    /// Arrivals: never before.
    #[default]
    Above,
    /// Requests: never after; their offsets come mirrored.
    Below,
}

impl Side {
    const fn sign(self) -> f64 {
        match self {
            Self::Above => 1.0,
            Self::Below => -1.0,
        }
    }
}

/// The mean of all likely curves, at the anchor of the reference line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fitted {
    /// Nanoseconds above the reference.
    pub(crate) height: f64,
    /// Slope relative to the reference, in ns/s.
    pub(crate) slope: f64,
    /// The deviations of height and slope.
    pub(crate) sigma: f64,
    pub(crate) slope_sigma: f64,
    /// The deviation of the height without the floor's own movement.
    pub(crate) still_sigma: f64,
}

/// Bends that are integrated over.
const BENDS: usize = 7;
/// Curves that are less likely than the best by `exp` of this do not count.
const UNLIKELY: f64 = 6.0;

/// Deviations are given larger than they come out: delays are not quite what they are taken for.
const CAUTION: f64 = 1.5;

/// A fit in work; it keeps its memory.
#[derive(Debug, Clone)]
pub(crate) struct EnvelopeFit {
    prior: Prior,
    groups: [Group; 3],
    /// The size of the smallest delay of packets before anything is known, in nanoseconds.
    delay: f64,
    /// The slope of the reference line, in ns/s.
    reference: f64,
    /// The bend of the last fit, and how far bends and slopes were likely: where to begin the next time.
    bend: f64,
    widths: (f64, f64),
}

impl EnvelopeFit {
    pub(crate) fn new(prior: Prior) -> Self {
        Self {
            prior,
            groups: Default::default(),
            delay: USUAL_DELAY,
            reference: 0.0,
            bend: 0.0,
            widths: (prior.bend, prior.slope),
        }
    }

    pub(crate) fn restart(&mut self) {
        for group in &mut self.groups {
            group.restart();
        }
        (self.bend, self.widths) = (0.0, (self.prior.bend, self.prior.slope));
    }

    /// Takes another belief of the clock; what was measured of delays stays.
    pub(crate) const fn set_prior(&mut self, prior: Prior) {
        self.prior = prior;
    }

    /// Says whether packets are stamped when they are sent: then their delay is that of the network alone.
    pub(crate) const fn set_sent_stamps(&mut self, sent: bool) {
        self.delay = if sent { USUAL_TRANSIT } else { USUAL_DELAY };
    }

    /// Gives a group its minima (device time, offset), newest first.
    pub(crate) fn fill(
        &mut self,
        group: usize,
        minima: impl Iterator<Item = (i64, i64)>,
        reference: &Line,
        side: Side,
    ) {
        self.reference = reference.slope;
        let Some(group) = self.groups.get_mut(group) else {
            return;
        };
        let sign = side.sign();
        let points = minima.map(|(at, offset)| {
            let t = seconds_between(reference.at, at);
            // Requests come mirrored: their offsets are negative.
            let height = match side {
                Side::Above => nanos_between(reference.offset, offset),
                Side::Below => nanos_between(reference.offset.saturating_neg(), offset),
            };
            (
                t,
                height - sign * (reference.residual + reference.slope * t),
            )
        });
        group.fill(sign, self.prior.slack, points);
    }

    /// The mean of all likely curves; none without minima.
    pub(crate) fn fit(&mut self) -> Option<Fitted> {
        if self.groups.iter().all(Group::is_empty) {
            return None;
        }
        let most = self.prior.most_bend;
        let (start, width) = (self.bend, self.widths.0);
        let best = |fit: &mut Self, bend: f64| fit.slice(bend).best();
        let (bend, top) = peak::highest(start, width, (-most, most), |bend| best(self, bend));
        let floor = top - UNLIKELY;
        let from = peak::end(bend, width, -most, floor, |bend| best(self, bend));
        let until = peak::end(bend, width, most, floor, |bend| best(self, bend));
        let mut sums = Sums::default();
        let step = (until - from) / BENDS as f64;
        for place in 0..BENDS {
            let bend = from + step * (place as f64 + 0.5);
            self.slice(bend).integrate(top, &mut sums);
        }
        let fitted = sums.fitted()?;
        self.bend = bend;
        self.widths = (
            (0.1 * (until - from)).clamp(1e-3, most),
            fitted.slope_sigma.clamp(0.1, self.prior.slope),
        );
        let slope = self.slice(bend).best_slope();
        for group in &mut self.groups {
            group.measure(slope);
        }
        let wander = self.wander();
        Some(Fitted {
            sigma: fitted.sigma.hypot(wander),
            ..fitted
        })
    }

    /// The deviation of the deciding floor's own movement, in nanoseconds.
    fn wander(&self) -> f64 {
        let [packets, answers, requests] = &self.groups;
        if packets.is_empty() {
            return 0.5 * answers.wander().hypot(requests.wander());
        }
        packets.wander()
    }

    fn slice(&mut self, bend: f64) -> Slice<'_> {
        Slice::new(
            &mut self.groups,
            bend,
            self.widths.1,
            &self.prior,
            self.delay,
            self.reference,
        )
    }

    pub(crate) fn memory(&self) -> usize {
        self.groups.iter().map(Group::memory).sum()
    }
}

/// Weighted sums over likely curves.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    weight: f64,
    height: f64,
    height_squared: f64,
    slope: f64,
    slope_squared: f64,
}

impl Sums {
    /// Adds a curve: its weight, slope, height and the variance of this.
    fn add(&mut self, weight: f64, slope: f64, (height, variance): (f64, f64)) {
        self.weight += weight;
        self.height += weight * height;
        self.height_squared += weight * (height * height + variance);
        self.slope += weight * slope;
        self.slope_squared += weight * slope * slope;
    }

    fn fitted(&self) -> Option<Fitted> {
        let (height, slope) = (self.height / self.weight, self.slope / self.weight);
        let deviation =
            |square: f64, mean: f64| (square / self.weight - mean * mean).max(0.0).sqrt();
        let sigma = CAUTION * deviation(self.height_squared, height);
        let fitted = Fitted {
            height,
            slope,
            sigma,
            slope_sigma: deviation(self.slope_squared, slope),
            still_sigma: sigma,
        };
        (height.is_finite() && slope.is_finite()).then_some(fitted)
    }
}
