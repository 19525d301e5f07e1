//! Bounds from both sides, with a limit on how fast the rate of the clocks changes.
//!
//! The offset of the clocks is `a + b · t` around now, off by no more than `kappa · t²`. Every arrival bounds it from
//! above and every request from below; lifted by that much, the bounds leave a convex set of lines. The steepest and
//! the flattest of them limit the offset.

use std::collections::VecDeque;

use crate::anchor::whole_nanos;
use crate::hull::{self, Point};
use crate::limits::Limits;
use crate::line::{nanos_between, seconds_between};

/// Bounds closer than this many seconds are one: the tighter of them.
const SPACING: f64 = 1.0;
/// Most points of each side: older ones add nothing to newer ones.
const MOST_POINTS: usize = 128;
/// Rounds of the search for the steepest and the flattest line.
const ROUNDS: usize = 40;

/// Offsets at device times, thinned out.
#[derive(Debug, Clone, Default)]
struct Wall {
    points: VecDeque<(i64, i64)>,
    /// Start of the interval of the newest point.
    from: i64,
    hull: Vec<Point>,
}

impl Wall {
    /// Takes a bound that holds when it is not below others; lower bounds come mirrored.
    fn take(&mut self, at: i64, offset: i64) {
        match self.points.back_mut() {
            Some(last) if seconds_between(self.from, at) < SPACING => {
                if offset < last.1 && at >= last.0 {
                    *last = (at, offset);
                }
            }
            _ => {
                self.from = at;
                if self.points.is_empty() {
                    // All at once, so that memory does not creep up over days.
                    self.points.reserve(MOST_POINTS + 1);
                    self.hull.reserve(MOST_POINTS + 1);
                }
                self.points.push_back((at, offset));
                if self.points.len() > MOST_POINTS {
                    self.points.pop_front();
                }
            }
        }
    }

    /// Lifts all bounds by what the rate may have changed since, as seen from `now`.
    fn lift(&mut self, now: i64, origin: i64, kappa: f64) {
        self.hull.clear();
        for &(at, offset) in &self.points {
            let t = seconds_between(now, at);
            let lifted = nanos_between(origin, offset) + kappa * t * t;
            hull::push(&mut self.hull, (t, lifted));
        }
    }

    /// The height at zero of the line of `slope` below all bounds.
    fn support(&self, slope: f64) -> f64 {
        hull::support(&self.hull, slope).unwrap_or(f64::INFINITY)
    }
}

/// The possible lines around a device time.
#[derive(Debug, Clone, Copy)]
struct Opening {
    at: i64,
    origin: i64,
    /// The smallest and the largest offset, in nanoseconds above the origin.
    heights: (f64, f64),
    /// The smallest and the largest slope, in ns/s.
    slopes: (f64, f64),
}

/// The offsets that are possible, by all bounds of the last minutes together.
#[derive(Debug, Clone)]
pub(crate) struct Corridor {
    kappa: f64,
    steepest: f64,
    grain: f64,
    above: Wall,
    /// Mirrored.
    below: Wall,
    opening: Option<Opening>,
}

impl Corridor {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            kappa: DRIFT_MARGIN * limits.drift_ppm_per_minute * 1e3 / 120.0,
            steepest: limits.skew_ppm * 1e3,
            grain: limits.stamp_grain.nanos() as f64,
            above: Wall::default(),
            below: Wall::default(),
            opening: None,
        }
    }

    /// Takes limits that were raised; what a narrower limit left possible is looked at again with the next request.
    pub(crate) fn set_limits(&mut self, limits: &Limits) {
        let drift = DRIFT_MARGIN * limits.drift_ppm_per_minute * 1e3 / 120.0;
        let steepest = limits.skew_ppm * 1e3;
        let grain = limits.stamp_grain.nanos() as f64;
        if (self.kappa, self.steepest, self.grain) != (drift, steepest, grain) {
            (self.kappa, self.steepest, self.grain) = (drift, steepest, grain);
            self.opening = None;
        }
    }

    pub(crate) fn restart(&mut self) {
        self.above.points.clear();
        self.below.points.clear();
        self.opening = None;
    }

    pub(crate) fn memory(&self) -> usize {
        let wall = |wall: &Wall| {
            wall.points.capacity() * size_of::<(i64, i64)>()
                + wall.hull.capacity() * size_of::<Point>()
        };
        wall(&self.above) + wall(&self.below)
    }

    /// Takes the bounds of a sample.
    pub(crate) fn take(&mut self, at: i64, lower: Option<i64>, upper: Option<i64>) {
        if let Some(upper) = upper {
            self.above.take(at, upper);
        }
        if let Some(lower) = lower {
            self.below.take(at, lower.saturating_neg());
            self.open(at);
        }
    }

    /// The lowest and highest possible offset at a device time; none without bounds from both sides.
    pub(crate) fn at(&self, at: i64) -> Option<(i64, i64)> {
        let opening = self.opening.as_ref()?;
        let t = seconds_between(opening.at, at);
        let (flattest, steepest) = opening.slopes;
        let (low, high) = if t >= 0.0 {
            (flattest * t, steepest * t)
        } else {
            (steepest * t, flattest * t)
        };
        let room = self.kappa * t * t + 1.0;
        let from = opening.heights.0 + low - room;
        let until = opening.heights.1 + high + room;
        let offset = |height: f64| opening.origin.saturating_add(whole_nanos(height));
        Some((offset(from), offset(until)))
    }

    fn open(&mut self, now: i64) {
        let Some(&(_, origin)) = self.above.points.back() else {
            return;
        };
        self.above.lift(now, origin, self.kappa);
        self.below.lift(now, origin.saturating_neg(), self.kappa);
        let width =
            |slope: f64| self.above.support(slope) + self.below.support(-slope) + self.grain;
        let Some(widest) = widest(-self.steepest, self.steepest, width) else {
            // The clocks exceed the limits, so old bounds are void.
            self.restart();
            return;
        };
        let flattest = edge(widest, -self.steepest, width);
        let steepest = edge(widest, self.steepest, width);
        self.opening = Some(Opening {
            at: now,
            origin,
            heights: (-self.below.support(-flattest), self.above.support(steepest)),
            slopes: (flattest, steepest),
        });
    }
}

/// The drift may be this many times the limit before bounds are wrong.
const DRIFT_MARGIN: f64 = 3.0;

/// The slope of the widest opening; none if there is no opening. The width is concave.
fn widest(mut low: f64, mut high: f64, width: impl Fn(f64) -> f64) -> Option<f64> {
    for _ in 0..ROUNDS {
        let third = (high - low) / 3.0;
        if width(low + third) < width(high - third) {
            low += third;
        } else {
            high -= third;
        }
    }
    let slope = f64::midpoint(low, high);
    (width(slope) >= 0.0).then_some(slope)
}

/// The slope towards `limit` at which the opening closes.
fn edge(widest: f64, limit: f64, width: impl Fn(f64) -> f64) -> f64 {
    let (mut open, mut closed) = (widest, limit);
    if width(limit) >= 0.0 {
        return limit;
    }
    for _ in 0..ROUNDS {
        let middle = f64::midpoint(open, closed);
        if width(middle) >= 0.0 {
            open = middle;
        } else {
            closed = middle;
        }
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn few_narrow_requests_bound_later_times() {
        let mut corridor = Corridor::new(&Limits::default());
        assert_eq!(corridor.at(0), None);
        // 50 ppm, round trips of 2 ms, and every tenth of 20 µs.
        for step in 0..60 {
            let offset = step * 50_000;
            let half = if step % 10 == 0 { 10_000 } else { 1_000_000 };
            corridor.take(step * SECOND, Some(offset - half), Some(offset + half));
        }
        let (from, until) = corridor.at(59 * SECOND).expect("both sides");
        let truth = 59 * 50_000;
        assert!(from <= truth && truth <= until);
        assert!(until - from < 250_000, "{} ns", until - from);
        let (from, until) = corridor.at(69 * SECOND).expect("both sides");
        let truth = 69 * 50_000;
        assert!(from <= truth && truth <= until);
        assert!(until - from < 600_000, "{} ns", until - from);
    }

    #[test]
    fn clocks_that_break_the_limits_restart_it() {
        let mut corridor = Corridor::new(&Limits::default());
        for step in 0..20 {
            let offset = if step < 10 { 0 } else { 5_000_000 };
            corridor.take(
                step * SECOND / 10,
                Some(offset - 1_000),
                Some(offset + 1_000),
            );
        }
        let (from, until) = corridor.at(2 * SECOND).expect("both sides");
        assert!(from <= 5_000_000 && until >= 5_000_000, "{from} {until}");
    }
}
