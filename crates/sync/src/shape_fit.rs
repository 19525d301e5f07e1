//! A smooth curve through the minima of several groups: one shape for all, one height for each.
//!
//! An envelope rests on the few lowest samples and moves whenever one of them leaves. All minima together say far
//! better how the offset of the clocks bends; so the curve is fitted to all of them, robustly, and then let down until
//! it touches the lowest.

use crate::line::{Line, nanos_between, seconds_between};
use crate::shape_fit::group::Group;

mod group;

/// What the change of rate is expected to be at most, in ns/s²: holds the curve while it rests on little.
const BEND: f64 = 20.0;
/// What the slope is expected to differ from the reference at most, in ns/s.
const STEEPEST: f64 = 100e3;
/// Rounds of reweighting.
const ROUNDS: usize = 4;
/// Fewer minima than this are no curve.
const FEWEST: usize = 12;
/// A minimum for the curve is the least of so many samples.
const SAMPLES_PER_CELL: f64 = 24.0;

/// Cells are short enough that there are so many of them.
const FEWEST_CELLS: f64 = 16.0;
/// Noise of minima beyond this is heavy, in nanoseconds.
const HEAVY: f64 = 500e3;
/// No cell is shorter once there is time enough, in seconds.
const FINEST_CELL: f64 = 0.95;

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

/// A fitted shape, relative to its reference line, about the present.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Fitted {
    /// How much steeper than the reference, in ns/s.
    pub(crate) slope: f64,
    /// Half of the change of the rate, in ns/s².
    bend: f64,
}

impl Fitted {
    fn at(&self, t: f64) -> f64 {
        (self.slope + self.bend * t) * t
    }
}

/// Where a group's curve lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    /// Nanoseconds above the reference line where the curve touches the outermost minima.
    pub(crate) touch: f64,
    /// What is not known about it, in nanoseconds.
    sigma: f64,
}

impl Level {
    /// The level of a hull, whose points deviate by `noise`.
    pub(crate) const fn of_hull(touch: f64, noise: f64) -> Self {
        Self {
            touch,
            sigma: noise,
        }
    }

    /// The level, moved by so many nanoseconds.
    pub(crate) fn moved(self, by: f64) -> Self {
        Self {
            touch: self.touch + by,
            ..self
        }
    }

    /// The deviation of the level, in nanoseconds.
    pub(crate) const fn sigma(&self) -> f64 {
        self.sigma
    }
}

/// How far back a fit looks, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reach {
    /// Older minima have no weight.
    oldest: f64,
    /// The time constant with which minima lose their weight.
    fade: f64,
    /// Minima closer than this are one: the least of few samples lies higher than that of many.
    cell: f64,
}

impl Default for Reach {
    fn default() -> Self {
        Self::new(0.0, 0.0, 0.0)
    }
}

impl Reach {
    /// Noise wants a long memory, the bending of the clock's rate a short one; `noise` in nanoseconds.
    fn new(noise: f64, rate: f64, age: f64) -> Self {
        let wanted = (SAMPLES_PER_CELL / rate.max(0.1)).max(FINEST_CELL);
        let oldest = (120.0 * (noise / 24e3).powf(0.28)).clamp(110.0, 400.0);
        // Short cells of heavy noise say less than a hull: wait for long ones.
        let span = if noise < HEAVY {
            oldest.min(age)
        } else {
            oldest
        };
        Self {
            oldest,
            fade: 0.375 * oldest,
            cell: wanted.min(span / FEWEST_CELLS),
        }
    }
}

/// A fit in work; it keeps its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShapeFit {
    groups: [Group; 3],
    scratch: Vec<f64>,
    reach: Reach,
    alike: f64,
}

impl ShapeFit {
    /// Begins a fit anew, for minima at `rate` samples per second that deviate by `noise` nanoseconds.
    ///
    /// They began `age` seconds ago. `alike` says how much more their mean deviates than if neighbours had nothing in common.
    pub(crate) fn begin(&mut self, noise: f64, alike: f64, rate: f64, age: f64) {
        self.reach = Reach::new(noise * alike, rate, age);
        self.alike = alike;
        for group in &mut self.groups {
            group.clear();
        }
    }

    /// Looks half as far back, and as far ahead: for a fit in the middle of its minima.
    pub(crate) fn look_both_ways(&mut self) {
        self.reach.oldest /= 2.0;
        self.reach.fade /= 2.0;
    }

    /// Gives a group its minima (device time, offset), oldest first.
    pub(crate) fn fill(
        &mut self,
        group: usize,
        minima: impl DoubleEndedIterator<Item = (i64, i64)>,
        reference: &Line,
        side: Side,
    ) {
        let Some(group) = self.groups.get_mut(group) else {
            return;
        };
        let reach = self.reach;
        let sign = side.sign();
        let recent = minima.rev().map(|(at, offset)| {
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
        let within = recent
            .skip_while(|(t, _)| *t > reach.oldest)
            .take_while(|(t, _)| *t > -reach.oldest);
        group.fill(sign, reach.cell, within);
    }

    /// Fits the common shape; none with too few minima.
    pub(crate) fn fit(&mut self) -> Option<Fitted> {
        let most = self.groups.iter().map(Group::len).max()?;
        if most < FEWEST {
            return None;
        }
        let mut fitted = Fitted::default();
        for _ in 0..ROUNDS {
            for group in &mut self.groups {
                group.measure(&fitted, &mut self.scratch);
                group.weigh(&fitted, self.reach.fade);
            }
            fitted = self.solve()?;
        }
        for group in &mut self.groups {
            group.measure(&fitted, &mut self.scratch);
        }
        Some(fitted)
    }

    /// Where the curve of a group touches; none without minima.
    pub(crate) fn level(&self, group: usize, fitted: &Fitted) -> Option<Level> {
        self.groups.get(group)?.level(fitted, self.alike)
    }

    /// Seconds that the fit looks back.
    pub(crate) const fn oldest(&self) -> f64 {
        self.reach.oldest
    }

    pub(crate) fn memory(&self) -> usize {
        let groups: usize = self.groups.iter().map(Group::memory).sum();
        groups + self.scratch.capacity() * size_of::<f64>()
    }

    /// Least squares for slope and bend, each group about its own mean.
    fn solve(&self) -> Option<Fitted> {
        let mut sums = NormalSums {
            tt: STEEPEST.powi(-2),
            qq: BEND.powi(-2),
            ..NormalSums::default()
        };
        for group in &self.groups {
            group.add_to(&mut sums);
        }
        let determinant = sums.tt * sums.qq - sums.tq * sums.tq;
        let fitted = Fitted {
            slope: (sums.ty * sums.qq - sums.qy * sums.tq) / determinant,
            bend: (sums.qy * sums.tt - sums.ty * sums.tq) / determinant,
        };
        (fitted.slope.is_finite() && fitted.bend.is_finite()).then_some(fitted)
    }
}

/// The sums of the normal equations: time, its square, height.
#[derive(Debug, Clone, Copy, Default)]
struct NormalSums {
    tt: f64,
    tq: f64,
    qq: f64,
    ty: f64,
    qy: f64,
}
