//! The minima of one group of a fit.

use super::{Fitted, Level, NormalSums};

/// Older minima may lie below the curve by this times age squared, in ns/s².
const SLACK: f64 = 0.5;
/// The least deviation that is believed, in nanoseconds: stamps have a grain.
const FINEST: f64 = 500.0;
/// What lies further off than this many deviations has no weight.
const CUT: f64 = 4.0;

/// Minima seen from the reference line: seconds before now, nanoseconds above (or mirrored, below).
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    sign: f64,
    points: Vec<(f64, f64)>,
    weights: Vec<f64>,
    /// Middle and deviation of the points about the curve.
    height: f64,
    scale: f64,
}

impl Group {
    pub(super) fn clear(&mut self) {
        self.points.clear();
        self.weights.clear();
    }

    pub(super) const fn len(&self) -> usize {
        self.points.len()
    }

    pub(super) fn memory(&self) -> usize {
        self.points.capacity() * size_of::<(f64, f64)>()
            + self.weights.capacity() * size_of::<f64>()
    }

    /// Takes minima, newest first; of those within `cell` seconds only the least.
    pub(super) fn fill(&mut self, sign: f64, cell: f64, points: impl Iterator<Item = (f64, f64)>) {
        self.sign = sign;
        let mut end = f64::INFINITY;
        for (t, height) in points {
            match self.points.last_mut() {
                Some(last) if t > end => {
                    if height < last.1 {
                        *last = (t, height);
                    }
                }
                _ => {
                    end = t - cell;
                    self.points.push((t, height));
                }
            }
        }
    }

    /// Finds middle and deviation about the curve.
    pub(super) fn measure(&mut self, fitted: &Fitted, scratch: &mut Vec<f64>) {
        if self.points.is_empty() {
            return;
        }
        scratch.clear();
        let sign = self.sign;
        scratch.extend(self.points.iter().map(|(t, y)| y - sign * fitted.at(*t)));
        self.height = middle(scratch);
        for value in scratch.iter_mut() {
            *value = (*value - self.height).abs();
        }
        self.scale = (1.4826 * middle(scratch)).max(FINEST);
    }

    /// Gives weights: newer counts more, and what lies far off does not count.
    pub(super) fn weigh(&mut self, fitted: &Fitted, fade: f64) {
        let (sign, height, scale) = (self.sign, self.height, self.scale);
        self.weights.clear();
        self.weights.extend(self.points.iter().map(|(t, y)| {
            let off = (y - sign * fitted.at(*t) - height) / (CUT * scale);
            let near = (1.0 - off * off).max(0.0);
            near * near * (-t.abs() / fade).exp() / (scale * scale)
        }));
    }

    /// Adds this group, about its own mean, to the normal equations.
    pub(super) fn add_to(&self, sums: &mut NormalSums) {
        let total: f64 = self.weights.iter().sum();
        if total <= 0.0 {
            return;
        }
        let weighted = || self.points.iter().zip(&self.weights);
        let mean = |of: fn(f64, f64) -> f64| {
            weighted()
                .map(|((t, y), weight)| weight * of(*t, *y))
                .sum::<f64>()
                / total
        };
        let (mean_t, mean_q, mean_y) = (mean(|t, _| t), mean(|t, _| t * t), mean(|_, y| y));
        for ((t, y), weight) in weighted() {
            let (u, v, r) = (t - mean_t, t * t - mean_q, self.sign * (y - mean_y));
            sums.tt += weight * u * u;
            sums.tq += weight * u * v;
            sums.qq += weight * v * v;
            sums.ty += weight * u * r;
            sums.qy += weight * v * r;
        }
    }

    /// Where the curve touches the outermost minimum.
    pub(super) fn level(&self, fitted: &Fitted, alike: f64) -> Option<Level> {
        let heights = self
            .points
            .iter()
            .map(|(t, y)| y - self.sign * fitted.at(*t) + SLACK * t * t);
        let touch = heights.reduce(f64::min)?;
        let effective = self.weights.iter().sum::<f64>() * self.scale * self.scale;
        let curve = 3.0 * alike * self.scale / effective.max(1.0).sqrt();
        // The lowest of all is still a little above the floor: less, the more of them there are.
        let floor = (self.height - touch) / 6.0;
        Some(Level {
            touch: self.sign * touch,
            sigma: curve.hypot(floor),
        })
    }
}

/// The median; changes the order of the values.
fn middle(values: &mut [f64]) -> f64 {
    let half = values.len() / 2;
    let (_, middle, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    *middle
}
