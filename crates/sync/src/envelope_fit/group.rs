//! The minima of one kind.

use crate::hull::{self, Point};

/// The least plausible mean delay, in nanoseconds: stamps have a grain.
const FINEST: f64 = 300.0;
/// Prior of the mean delay of a kind, in nanoseconds.
const FIRST_MEAN: f64 = 1e6;
/// Prior of the rarity of small delays.
const FIRST_RARITY: f64 = 1.2;
/// Minima are kept as long as their slack is below this many gaps.
const OLDEST: f64 = 4.0;
/// Rounds of the search for the gap.
const GAP_ROUNDS: usize = 12;
/// Minima higher than this many times the median are stalls and ignored.
const STALL: f64 = 6.0;
/// Fewer minima than this show no shape of their distribution.
const FEWEST: usize = 12;
/// Neighbours that are alike by less than this over the root of their number are so by chance.
const CHANCE: f64 = 2.0;
/// More minima than this are seldom within the memory.
const USUAL_POINTS: usize = 512;

/// Minima seen from the reference line: seconds from now, nanoseconds above (or mirrored, below).
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    sign: f64,
    /// Oldest first: time, height with its slack, weight (at first: slack).
    points: Vec<(f64, f64, f64)>,
    hull: Vec<Point>,
    scratch: Vec<f64>,
    /// Sum of the weights.
    count: f64,
    /// How many minima these are as good as, if small delays were not rare: by their least, the same if neighbours
    /// that are alike count as one, and by all of them together.
    many: f64,
    different: f64,
    together: f64,
    /// Weighted means of the time, its square and the height.
    means: (f64, f64, f64),
    /// The bend that is taken off in the hull.
    bend: f64,
    /// The mean delay above the envelope at the last fit; zero before.
    mean: f64,
    /// Rarity of small delays: 1 as in an exponential distribution, 2 if rarer.
    rarity: f64,
    /// Number of consecutive minima that are correlated, for example by a wandering floor.
    echo: f64,
    /// The deviation of the slow part of the heights, in nanoseconds: the floor itself moves.
    wander: f64,
}

/// The minima below an envelope; its likelihood follows from them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Floor {
    /// The lowest of the minima, in nanoseconds above the reference (mirrored: below).
    pub(super) least: f64,
    /// Mean distance of the minima above it.
    pub(super) mean: f64,
}

/// The position of an envelope.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    /// The lowest of the minima, in nanoseconds above the reference (mirrored: below).
    pub(super) least: f64,
    /// Mean height of the minima above it.
    pub(super) mean: f64,
    /// The most likely height of the lowest minimum above the floor.
    pub(super) gap: f64,
    /// The deviation of the gap.
    pub(super) sigma: f64,
}

impl Group {
    pub(super) fn restart(&mut self) {
        (self.mean, self.rarity, self.echo) = (0.0, 0.0, 0.0);
        self.wander = 0.0;
        self.points.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The deviation of the floor's own movement, in nanoseconds.
    pub(super) const fn wander(&self) -> f64 {
        self.wander
    }

    pub(super) fn memory(&self) -> usize {
        self.points.capacity() * size_of::<(f64, f64, f64)>()
            + self.hull.capacity() * size_of::<Point>()
            + self.scratch.capacity() * size_of::<f64>()
    }

    fn usual_mean(&self) -> f64 {
        if self.mean > 0.0 {
            self.mean
        } else {
            FIRST_MEAN
        }
    }

    /// Takes minima, newest first.
    pub(super) fn fill(&mut self, sign: f64, slack: f64, points: impl Iterator<Item = (f64, f64)>) {
        self.sign = sign;
        self.points.clear();
        // Even a single minimum is not further above the floor than some mean delays.
        let oldest = (OLDEST * self.usual_mean() / slack).cbrt();
        for (t, height) in points.take_while(|(t, _)| *t >= -oldest) {
            if t > oldest {
                continue;
            }
            if self.points.is_empty() {
                // All at once, so that memory does not creep up over days.
                self.points.reserve(USUAL_POINTS);
                self.scratch.reserve(USUAL_POINTS);
                self.hull.reserve(USUAL_POINTS);
            }
            let lift = slack * t.abs().powi(3);
            self.points.push((t, height + lift, lift));
        }
        self.points.reverse();
        self.drop_stalls();
        self.weigh();
        self.sum();
    }

    /// Gives weights: a minimum counts as far as its slack is below the gap that is left by all.
    ///
    /// The least of many delays with slack lies a gap above the floor for which `Σ (gap − slack)^rarity` is that of
    /// one mean delay.
    fn weigh(&mut self) {
        let rarity = self.rarity();
        let wanted = self.usual_mean().powf(rarity);
        let mut gap = self.usual_mean();
        for _ in 0..GAP_ROUNDS {
            // Near enough to the power of the rarity, and quick.
            let room = |lift: f64| (1.0 - rarity * lift / gap).max(0.0);
            let count: f64 = self.points.iter().map(|point| room(point.2)).sum();
            let next = (wanted / count.max(1.0)).powf(1.0 / rarity);
            gap = (gap * next).sqrt();
        }
        self.points.retain(|point| point.2 <= OLDEST * gap);
        for point in &mut self.points {
            point.2 = (1.0 - point.2 / gap).max(0.0).powf(rarity);
        }
    }

    /// Leaves out minima of times in which nothing came through.
    fn drop_stalls(&mut self) {
        if self.points.len() < FEWEST {
            return;
        }
        self.scratch.clear();
        self.scratch.extend(self.points.iter().map(|point| point.1));
        let half = self.scratch.len() / 2;
        let (_, median, _) = self.scratch.select_nth_unstable_by(half, f64::total_cmp);
        let median = *median;
        let least = self
            .points
            .iter()
            .map(|point| point.1)
            .fold(f64::INFINITY, f64::min);
        let most = median + STALL * (median - least).max(FINEST);
        self.points.retain(|point| point.1 <= most);
    }

    fn sum(&mut self) {
        let mut sums = [0.0; 4];
        for (t, height, weight) in &self.points {
            sums[0] += weight;
            sums[1] += weight * t;
            sums[2] += weight * t * t;
            sums[3] += weight * height;
        }
        self.count = sums[0];
        let rarity = self.rarity();
        self.many = self.count.powf(1.0 / rarity);
        self.different = (self.count / self.echo.max(1.0)).powf(1.0 / rarity);
        // All minima together hold at least as much information as their mean.
        self.together = self.count.powf(1.0 / rarity.min(2.0));
        let all = sums[0].max(f64::MIN_POSITIVE);
        self.means = (sums[1] / all, sums[2] / all, sums[3] / all);
    }

    /// Subtracts a bend; later results refer to the rest.
    pub(super) fn straighten(&mut self, bend: f64) {
        self.bend = bend;
        self.hull.clear();
        let bend = self.sign * bend;
        for (t, height, _) in &self.points {
            hull::push(&mut self.hull, (*t, height - bend * t * t));
        }
    }

    /// The minima for this slope, with the subtracted bend; none without minima.
    #[inline]
    pub(super) fn floor(&self, slope: f64) -> Option<Floor> {
        let slope = self.sign * slope;
        let least = hull::support(&self.hull, slope)?;
        let (t, q, height) = self.means;
        let mean = (height - self.sign * self.bend * q - slope * t - least).max(0.0);
        Some(Floor { least, mean })
    }

    /// Where the envelope of this slope lies, with the bend that was taken off; none without minima.
    pub(super) fn level(&self, slope: f64) -> Option<Level> {
        self.floor(slope).map(|floor| self.level_of(&floor))
    }

    /// Where the envelope with this floor lies.
    pub(super) fn level_of(&self, floor: &Floor) -> Level {
        let Floor { least, mean } = *floor;
        let few = if self.mean > 0.0 { 0.0 } else { 1.0 };
        // As long as there are few minima, they may all be far above the floor.
        let usual = (self.count * mean + few * FIRST_MEAN) / (self.count + few) + FINEST;
        let gap = usual / (self.many - 1.0).max(0.5);
        let sigma = usual / (self.different - 1.0).max(0.5);
        Level {
            least,
            mean,
            gap,
            sigma,
        }
    }

    fn rarity(&self) -> f64 {
        if self.rarity > 0.0 {
            self.rarity
        } else {
            FIRST_RARITY
        }
    }

    /// How many minima speak for a curve; `shared` parameters are found from all groups with `all` minima together.
    pub(super) fn voices(&self, all: f64) -> f64 {
        let free = 1.0 + 2.0 * self.count / all;
        (self.together - free).max(0.0)
    }

    /// How much more likely a curve with this floor is than one with delays of a nanosecond, if so many minima speak
    /// for it.
    #[inline]
    pub(super) fn likelihood(floor: &Floor, voices: f64) -> f64 {
        -voices * (floor.mean + FINEST).ln()
    }

    pub(super) const fn count(&self) -> f64 {
        self.count
    }

    /// Remembers how delays are distributed above the best curve.
    pub(super) fn measure(&mut self, slope: f64) {
        let Some(level) = self.level(slope) else {
            return;
        };
        if self.points.len() < FEWEST {
            return;
        }
        let (slope, bend) = (self.sign * slope, self.sign * self.bend);
        let (mut squares, mut products, mut before) = (0.0, 0.0, 0.0);
        for (t, height, weight) in &self.points {
            let above = height - (slope + bend * t) * t - level.least - level.mean;
            squares += weight * above * above;
            products += weight * above * before;
            before = above;
        }
        let deviation = (squares / self.count).sqrt();
        let mean = level.mean + FINEST;
        // As for a Weibull distribution: the larger the mean beside the deviation, the rarer are small delays.
        let rarity = ((mean + level.gap) / (deviation + FINEST)).clamp(1.0, 3.0);
        let known = self.count / (self.count + 20.0);
        let rarity = 1.0 + known * (rarity - 1.0);
        // Similar neighbours are correlated.
        let alike = known * (products / squares.max(1.0)).clamp(0.0, 0.95);
        let echo = (1.0 + alike) / (1.0 - alike);
        let keep = if self.mean > 0.0 { 0.9 } else { 0.0 };
        let blend = |old: &mut f64, new: f64| *old = keep * *old + (1.0 - keep) * new;
        blend(&mut self.mean, mean);
        blend(&mut self.rarity, rarity);
        blend(&mut self.echo, echo);
        // Chance makes some neighbours alike too.
        let chance = CHANCE / self.count.max(1.0).sqrt();
        blend(
            &mut self.wander,
            deviation * (alike - chance).max(0.0).sqrt(),
        );
    }
}
