//! The smoothed map of one epoch.

use timeloom_time::{Duration, Time};

use super::Mark;
use crate::anchor::whole_nanos;
use crate::bound_tracker::{BoundTracker, Trust};
use crate::delay_envelope::{DelayEnvelope, Refinement, prior};
use crate::device_time::DeviceTime;
use crate::envelope_fit::{EnvelopeFit, Side};
use crate::estimator::Estimator;
use crate::limits::Limits;
use crate::line::{Line, seconds_between};
use crate::mapped::{Bounds, Health, Mapped};
use crate::sample::Sample;
use crate::sensor_clock::Doubt;

/// Seconds of device time between two knots.
const SPACING: f64 = 2.0;

/// Minima further than this from a knot are ignored for it, in seconds.
const REACH: f64 = 420.0;

/// A line that is good around a device time.
#[derive(Debug, Clone, Copy)]
struct Knot {
    line: Line,
    sigma: f64,
}

/// The smoothed map of one epoch: lines at knots, blended in between.
#[derive(Debug)]
pub(super) struct EpochSmoother {
    knots: Vec<Knot>,
    limits: Limits,
}

impl EpochSmoother {
    pub(super) fn new(samples: &[Sample], marks: &[Mark], limits: &Limits) -> Self {
        let mut envelope = DelayEnvelope::new(limits, Refinement::Curve);
        envelope.keep_all();
        let mut references: Vec<Line> = Vec::new();
        for (sample, _) in used(samples, marks) {
            match sample {
                Sample::Passive(sample) => envelope.passive(sample),
                Sample::Active(sample) => envelope.active(sample),
            };
            let Some(line) = envelope.line() else {
                continue;
            };
            let is_due = references
                .last()
                .is_none_or(|last| seconds_between(last.at, line.at) >= SPACING);
            if is_due {
                references.push(*line);
            }
        }
        let minima = envelope.take_all();
        let mut fit = EnvelopeFit::new(prior(limits));
        fit.set_sent_stamps(samples.iter().any(is_sent_stamp));
        let knots = references
            .iter()
            .filter_map(|reference| knot(&mut fit, &minima, reference))
            .collect();
        Self {
            knots,
            limits: *limits,
        }
    }

    /// Replaces host times, deviations and bounds by smoothed ones; `before` is the row before, which none goes back
    /// behind.
    pub(super) fn apply(
        &self,
        samples: &[Sample],
        marks: &[Mark],
        rows: &mut [Mapped],
        before: &mut Option<(DeviceTime, Mapped)>,
    ) {
        let bounds = self.bounds(samples, marks);
        for (((sample, mark), row), bounds) in samples.iter().zip(marks).zip(rows).zip(bounds) {
            let device = sample.device();
            let smoothed = self.at(device);
            let (Some((host, sigma)), true) = (smoothed, mark.doubt != Doubt::Withheld) else {
                continue;
            };
            if mark.consistent {
                row.bounds = bounds.loosened(mark.hidden, &row.bounds);
            }
            let mut host = Time::from_nanos(host);
            host = row.bounds.upper.map_or(host, |upper| host.min(upper));
            host = row.bounds.lower.map_or(host, |lower| host.max(lower));
            let same =
                |last: &&mut (DeviceTime, Mapped)| last.1.epoch == row.epoch && device >= last.0;
            if let Some((_, last)) = before.as_mut().filter(same) {
                host = host.max(last.host);
            }
            row.host = host;
            row.bounds = row.bounds.widened_to(host);
            if mark.consistent && row.health != Health::Degraded {
                row.sigma = Duration::from_nanos(whole_nanos(sigma));
            }
            *before = Some((device, *row));
        }
    }

    /// Host time in nanoseconds, and its deviation.
    fn at(&self, device: DeviceTime) -> Option<(i64, f64)> {
        let after = self
            .knots
            .partition_point(|knot| knot.line.at <= device.nanos());
        let right = self.knots.get(after);
        let left = after.checked_sub(1).and_then(|index| self.knots.get(index));
        let (left, right) = match (left, right) {
            (Some(left), Some(right)) => (left, right),
            (one, other) => {
                let knot = one.or(other)?;
                return Some((knot.line.host(device), knot.sigma));
            }
        };
        let span = seconds_between(left.line.at, right.line.at);
        let share = seconds_between(left.line.at, device.nanos()) / span;
        let (from, to) = (left.line.host(device), right.line.host(device));
        let blended = from.saturating_add(whole_nanos(share * (to.saturating_sub(from)) as f64));
        let sigma = left.sigma + share * (right.sigma - left.sigma);
        Some((blended, sigma))
    }

    /// The tighter of the bounds by earlier and by later samples.
    fn bounds(&self, samples: &[Sample], marks: &[Mark]) -> Vec<Bounds> {
        let mut bounds = vec![Bounds::default(); samples.len()];
        let mut forwards = BoundTracker::new(&self.limits);
        let mut backwards = BoundTracker::backwards(&self.limits);
        for (sample, index) in used(samples, marks) {
            if gives_up(marks, index) {
                forwards.restart();
            }
            forwards.take(sample);
            bounds[index] = forwards.bounds(sample.device(), Trust::All);
        }
        for (sample, index) in used(samples, marks).rev() {
            backwards.take(sample);
            let later = backwards.bounds(sample.device(), Trust::All);
            bounds[index] = bounds[index].intersection(&later);
            if gives_up(marks, index) {
                backwards.restart();
            }
        }
        bounds
    }
}

/// Whether a sample has the send time of its packet.
const fn is_sent_stamp(sample: &Sample) -> bool {
    matches!(sample, Sample::Passive(packet) if packet.device_tx.is_some())
}

/// Whether earlier bounds are discarded at this row.
fn gives_up(marks: &[Mark], index: usize) -> bool {
    marks.get(index).is_some_and(|mark| mark.gives_up)
}

/// The samples that were not withheld, with their indices.
fn used<'a>(
    samples: &'a [Sample],
    marks: &'a [Mark],
) -> impl DoubleEndedIterator<Item = (&'a Sample, usize)> {
    samples
        .iter()
        .enumerate()
        .zip(marks)
        .filter(|(_, mark)| mark.doubt != Doubt::Withheld)
        .map(|((index, sample), _)| (sample, index))
}

/// Fits the curve around a reference line, with minima of before and after.
fn knot(fit: &mut EnvelopeFit, minima: &[Vec<(i64, i64)>; 3], reference: &Line) -> Option<Knot> {
    let sides = [Side::Above, Side::Above, Side::Below];
    for (group, (all, side)) in minima.iter().zip(sides).enumerate() {
        let until = all.partition_point(|(at, _)| seconds_between(reference.at, *at) < REACH);
        let before = all.get(..until).unwrap_or_default();
        fit.fill(group, before.iter().rev().copied(), reference, side);
    }
    let fitted = fit.fit()?;
    Some(Knot {
        line: reference.moved(fitted.height, fitted.slope),
        sigma: fitted.sigma,
    })
}
