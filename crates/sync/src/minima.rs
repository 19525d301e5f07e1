//! The lower envelope of delays, with a bounded change of the clock's rate.
//!
//! Delays are never negative, so host minus device time lies on or above a smooth curve: the offset of the clocks plus
//! the smallest delay. A sample of age `a` may lie below a straight line by `kappa · a²` when the rate of the clocks
//! changes by no more than `2 · kappa`. Lifted by that much, old samples count as long as they say more than new ones:
//! the noisier the delays, the longer the memory.

use std::collections::VecDeque;

use crate::hull::{self, Point};
use crate::line::{Line, nanos_between, seconds_between};
use crate::minima::bucket::Bucket;
use crate::minima::floor::{DelayFloor, Verdict};

mod bucket;
mod floor;

/// What shapes an envelope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    /// Half of the largest change of the rate, in ns/s².
    pub(crate) kappa: f64,
    /// Where the slope is taken: this many times the age at which noise and drift weigh the same.
    pub(crate) objective: f64,
    /// How long minima are kept, in seconds.
    pub(crate) window: f64,
    /// The largest slope, in ns/s.
    pub(crate) steepest: f64,
}

/// What a sample did to an envelope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Change {
    /// Nothing worth telling.
    None,
    /// The path is longer than at its best, by so many nanoseconds.
    Longer(f64),
}

/// The weight of a sample in the mean of what lies above the line.
const EXCESS_GAIN: f64 = 0.02;

/// No more minima than this are kept, whatever the rate and the window.
const MOST_POINTS: usize = 1_024;

/// The smallest offsets (host minus device time) of the last minutes, and the line below them.
#[derive(Debug, Clone)]
pub(crate) struct Minima {
    shape: Shape,
    /// Minima: device time, offset less the extra delay of the path.
    points: VecDeque<(i64, i64)>,
    hull: Vec<Point>,
    bucket: Bucket,
    floor: DelayFloor,
    line: Option<Line>,
    first: i64,
    /// The newest minimum that was kept; it may have left `points` since.
    kept: Option<i64>,
    closed: u64,
    /// Samples per second, of the last buckets.
    rate: f64,
    /// How far samples lie above the line on average, in nanoseconds.
    excess: f64,
    /// All minima ever kept, if asked for.
    archive: Option<Vec<(i64, i64)>>,
}

impl Minima {
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            shape,
            points: VecDeque::new(),
            hull: Vec::new(),
            bucket: Bucket::default(),
            floor: DelayFloor::default(),
            line: None,
            first: 0,
            kept: None,
            closed: 0,
            rate: 0.0,
            excess: 0.0,
            archive: None,
        }
    }

    /// Keeps all minima from now on, for a smoother.
    pub(crate) fn keep_all(&mut self) {
        self.archive = Some(Vec::new());
    }

    /// All minima since [`keep_all`](Self::keep_all), in the order of time.
    pub(crate) fn take_all(&mut self) -> Vec<(i64, i64)> {
        let mut all = self.archive.take().unwrap_or_default();
        all.sort_unstable();
        all
    }

    pub(crate) fn restart(&mut self) {
        self.points.clear();
        self.hull.clear();
        self.bucket = Bucket::default();
        self.floor = DelayFloor::default();
        self.line = None;
        self.kept = None;
        self.rate = 0.0;
        self.excess = 0.0;
    }

    /// The line at the newest samples.
    pub(crate) const fn line(&self) -> Option<&Line> {
        self.line.as_ref()
    }

    /// Half of the largest change of the rate, in ns/s².
    pub(crate) const fn kappa(&self) -> f64 {
        self.shape.kappa
    }

    /// The deviation of the minima from the line, in nanoseconds.
    pub(crate) const fn noise(&self) -> f64 {
        self.floor.noise()
    }

    /// How much more the mean of many minima deviates than if neighbours had nothing in common; at least one.
    pub(crate) fn alike(&self) -> f64 {
        self.floor.alike()
    }

    /// Whether the newest minima do not fit the line.
    pub(crate) const fn is_in_doubt(&self) -> bool {
        self.floor.is_in_doubt()
    }

    /// Seconds of device time since the first sample.
    pub(crate) fn age(&self) -> f64 {
        let newest = self.points.back();
        newest.map_or(0.0, |(at, _)| seconds_between(self.first, *at))
    }

    pub(crate) fn memory(&self) -> usize {
        let archived = self.archive.as_ref().map_or(0, Vec::capacity);
        (self.points.capacity() + archived) * size_of::<(i64, i64)>()
            + self.hull.capacity() * size_of::<Point>()
    }

    /// How often the line was fitted.
    pub(crate) const fn closed(&self) -> u64 {
        self.closed
    }

    /// Samples per second.
    pub(crate) const fn rate(&self) -> f64 {
        self.rate
    }

    /// How far the least of the samples of `seconds` is above the floor, in nanoseconds, if delays are exponential.
    ///
    /// Where small delays are rarer than that it is more, so this never takes away too much.
    pub(crate) fn expected_gap(&self, seconds: f64) -> f64 {
        self.excess / (self.rate * seconds.min(self.age())).max(1.0)
    }

    /// The minima, oldest first: device time, offset less the extra delay of the path.
    pub(crate) fn points(&self) -> impl DoubleEndedIterator<Item = (i64, i64)> + '_ {
        self.points.iter().copied()
    }

    /// Takes the offset seen at a device time.
    pub(crate) fn push(&mut self, at: i64, offset: i64) -> Change {
        let line = *self.line.get_or_insert_with(|| {
            self.first = at;
            Line::flat(at, offset)
        });
        let above = line.above(at, offset);
        self.bucket.take(at, offset, above);
        // Stalls are cut: they say nothing about the density of delays near their floor.
        let cut = above.clamp(0.0, 5.0 * self.excess + 10e3);
        self.excess += EXCESS_GAIN * (cut - self.excess);
        if !self.bucket.is_full(at, seconds_between(self.first, at)) {
            return Change::None;
        }
        self.close_bucket(at)
    }

    fn close_bucket(&mut self, now: i64) -> Change {
        let Some(least) = self.bucket.close(now) else {
            return Change::None;
        };
        self.closed += 1;
        if least.seconds > 0.0 {
            let rate = f64::from(least.count) / least.seconds;
            let keep = if self.rate > 0.0 { 0.9 } else { 0.0 };
            self.rate = keep * self.rate + (1.0 - keep) * rate;
        }
        let age = seconds_between(self.first, now);
        let silence = self
            .kept
            .map_or(0.0, |kept| seconds_between(kept, least.at).max(0.0));
        let unknown = self.shape.kappa * silence * silence;
        let (verdict, change) = self.floor.judge(least.above, age, unknown);
        if verdict == Verdict::Fits {
            self.keep(
                least.at,
                least.offset.saturating_sub(self.floor.extra_nanos()),
            );
        }
        self.forget(now);
        self.fit(now);
        change
    }

    /// Keeps a minimum at its place in time; samples of two kinds may come a little out of order.
    fn keep(&mut self, at: i64, offset: i64) {
        let later = self.points.iter().rev().take_while(|point| point.0 > at);
        let place = self.points.len() - later.count();
        self.points.insert(place, (at, offset));
        self.kept = self.kept.max(Some(at));
        if let Some(archive) = &mut self.archive {
            archive.push((at, offset));
        }
    }

    fn forget(&mut self, now: i64) {
        let window = self.shape.window;
        let too_old = |point: &(i64, i64)| seconds_between(point.0, now) > window;
        while self.points.front().is_some_and(too_old) || self.points.len() > MOST_POINTS {
            self.points.pop_front();
        }
    }

    fn fit(&mut self, now: i64) {
        let Some(&(oldest, _)) = self.points.front() else {
            return;
        };
        let reference = self.points.back().map_or(0, |point| point.1);
        self.hull.clear();
        for &(at, offset) in &self.points {
            let ahead = seconds_between(now, at);
            let lifted = nanos_between(reference, offset) + self.shape.kappa * ahead * ahead;
            hull::push(&mut self.hull, (ahead, lifted));
        }
        let slope = self.slope(seconds_between(oldest, now));
        if let Some(residual) = hull::support(&self.hull, slope) {
            self.line = Some(Line {
                at: now,
                offset: reference,
                residual,
                slope,
            });
        }
    }

    /// The slope of the hull where it says most about the present.
    fn slope(&self, span: f64) -> f64 {
        let before = self.line.map_or(0.0, |line| line.slope);
        let (Some(first), Some(last)) = (self.hull.first(), self.hull.last()) else {
            return before;
        };
        if span < 0.5 || self.hull.len() < 2 {
            return before;
        }
        let balance = (self.floor.noise() / self.shape.kappa).sqrt();
        let back = (self.shape.objective * balance).clamp(5.0, 60.0);
        let place = last.0 - back.min(0.5 * (last.0 - first.0));
        let slope = hull::slope_at(&self.hull, place).unwrap_or(before);
        slope.clamp(-self.shape.steepest, self.shape.steepest)
    }
}
