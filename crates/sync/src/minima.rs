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
use crate::minima::high_row::HighRow;

mod bucket;
mod floor;
mod high_row;

/// The parameters of an envelope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    /// Half of the largest change of the rate, in ns/s².
    pub(crate) kappa: f64,
    /// Age at which the slope is taken, as a multiple of the age at which noise and drift weigh the same.
    pub(crate) objective: f64,
    /// Retention of minima, in seconds.
    pub(crate) window: f64,
    /// The largest slope, in ns/s.
    pub(crate) steepest: f64,
    /// The treatment of a path that becomes longer.
    pub(crate) path: Path,
}

/// The treatment of a path that becomes longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Path {
    /// It is separated from noise and subtracted.
    Watched,
    /// It is noise.
    Taken,
}

/// Hulls seldom have more points than this.
const USUAL_HULL: usize = 256;

/// The effect of a sample on an envelope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Change {
    /// Nothing worth telling.
    None,
    /// The path is longer than at its best, by so many nanoseconds.
    Longer(f64),
    /// The rate of the clocks changed at once: what came before the last minima no longer counts.
    Rate,
}

/// No more minima than this are kept, whatever the rate and the window.
const MOST_POINTS: usize = 1_024;

/// The smallest offsets (host minus device time) of the last minutes, and the line below them.
#[derive(Debug, Clone)]
pub(crate) struct Minima {
    shape: Shape,
    /// Minima: device time, offset less the extra delay of the path.
    points: VecDeque<(i64, i64)>,
    hull: Vec<Point>,
    /// The device time and offset that the hull is relative to.
    hull_origin: (i64, i64),
    bucket: Bucket,
    floor: DelayFloor,
    line: Option<Line>,
    first: i64,
    /// Samples in a row that lie too high.
    high: HighRow,
    /// Consecutive minima that lie too high or too low; they remain if the rate changed.
    row: VecDeque<(i64, i64)>,
    /// The newest minimum that was kept; it may have left `points` since.
    kept: Option<i64>,
    closed: u64,
    /// All minima ever kept, if requested.
    archive: Option<Vec<(i64, i64)>>,
}

impl Minima {
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            shape,
            points: VecDeque::new(),
            hull: Vec::new(),
            hull_origin: (0, 0),
            bucket: Bucket::default(),
            floor: DelayFloor::default(),
            line: None,
            first: 0,
            high: HighRow::default(),
            row: VecDeque::new(),
            kept: None,
            closed: 0,
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
        self.high = HighRow::default();
        self.row.clear();
    }

    /// Takes another largest change of the rate, in ns/s², and another largest slope, in ns/s.
    pub(crate) const fn set_shape(&mut self, kappa: f64, steepest: f64) {
        self.shape.kappa = kappa;
        self.shape.steepest = steepest;
    }

    /// Extra delay of the path compared with its best, in nanoseconds.
    pub(crate) const fn extra(&self) -> f64 {
        self.floor.extra()
    }

    /// Largest height of a fitting sample above the line, in nanoseconds.
    pub(crate) const fn too_high(&self) -> f64 {
        self.floor.extra() + self.floor.too_high()
    }

    /// Least height of the newest samples above the line if all of them lie too high, in nanoseconds.
    pub(crate) fn mismatch(&self) -> f64 {
        if self.is_in_doubt() {
            self.high.least()
        } else {
            0.0
        }
    }

    /// The newest minimum that was kept.
    pub(crate) fn newest(&self) -> Option<(i64, i64)> {
        self.points.back().copied()
    }

    /// The line at the newest samples.
    pub(crate) const fn line(&self) -> Option<&Line> {
        self.line.as_ref()
    }

    /// The deviation of the minima from the line, in nanoseconds.
    pub(crate) const fn noise(&self) -> f64 {
        self.floor.noise()
    }

    /// Uncertainty of the extra delay, in nanoseconds.
    pub(crate) const fn extra_sigma(&self) -> f64 {
        self.floor.extra_sigma()
    }

    /// Whether the newest minima do not fit the line.
    pub(crate) const fn is_in_doubt(&self) -> bool {
        self.floor.is_in_doubt() || self.high.is_long()
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

    /// Number of fits of the line.
    pub(crate) const fn closed(&self) -> u64 {
        self.closed
    }

    /// The minima, oldest first: device time, offset less the extra delay of the path.
    pub(crate) fn points(&self) -> impl DoubleEndedIterator<Item = (i64, i64)> + '_ {
        self.points.iter().copied()
    }

    /// Takes the offset seen at a device time.
    pub(crate) fn push(&mut self, at: i64, offset: i64) -> Change {
        let line = *self.line.get_or_insert_with(|| {
            self.first = at;
            // All at once, so that memory does not creep up over days.
            self.points.reserve(MOST_POINTS + 1);
            self.hull.reserve(USUAL_HULL);
            Line::flat(at, offset)
        });
        let above = line.above(at, offset);
        self.note_height(at, above);
        self.bucket.take(at, offset, above);
        if !self.bucket.is_full(at, seconds_between(self.first, at)) {
            return Change::None;
        }
        self.close_bucket(at)
    }

    /// Counts samples in a row that lie too high.
    fn note_height(&mut self, at: i64, above: f64) {
        if self.shape.path == Path::Taken || above <= self.too_high() {
            self.high = HighRow::default();
        } else {
            self.high.add(at, above);
        }
    }

    fn close_bucket(&mut self, now: i64) -> Change {
        let Some(least) = self.bucket.close(now) else {
            return Change::None;
        };
        self.closed += 1;
        let age = seconds_between(self.first, now);
        let silence = self
            .kept
            .map_or(0.0, |kept| seconds_between(kept, least.at).max(0.0));
        let unknown = self.shape.kappa * silence * silence;
        let (verdict, change) = match self.shape.path {
            Path::Watched => self.floor.judge(least.above, age, unknown),
            Path::Taken => (Verdict::Fits, Change::None),
        };
        self.remember(verdict, least.at, least.offset);
        if change == Change::Rate {
            self.begin_again(now);
            return change;
        }
        if verdict != Verdict::TooHigh {
            self.keep(
                least.at,
                least.offset.saturating_sub(self.floor.extra_nanos()),
            );
        }
        self.forget(now);
        self.fit(now);
        change
    }

    /// Keeps minima that do not fit apart, as long as they come in a row.
    fn remember(&mut self, verdict: Verdict, at: i64, offset: i64) {
        if verdict == Verdict::Fits {
            self.row.clear();
            return;
        }
        if self.row.len() == floor::ROW {
            self.row.pop_front();
        }
        self.row.push_back((at, offset));
    }

    /// Forgets all but the minima of the row, which have another slope.
    fn begin_again(&mut self, now: i64) {
        self.points.clear();
        self.floor.begin_again();
        self.high = HighRow::default();
        for (at, offset) in std::mem::take(&mut self.row) {
            self.keep(at, offset);
        }
        self.first = self.points.front().map_or(now, |point| point.0);
        self.line = self.newest().map(|(at, offset)| Line::flat(at, offset));
        self.fit(now);
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
        self.hull_origin = (now, reference);
        self.hull.clear();
        for &(at, offset) in &self.points {
            let ahead = seconds_between(now, at);
            let lifted = nanos_between(reference, offset) + self.shape.kappa * ahead * ahead;
            hull::push(&mut self.hull, (ahead, lifted));
        }
        let slope = self.slope(seconds_between(oldest, now));
        self.line = self.line_of_slope(slope).or(self.line);
    }

    /// The line of a slope that touches the minima from below; none without minima.
    fn line_of_slope(&self, slope: f64) -> Option<Line> {
        let (at, offset) = self.hull_origin;
        let residual = hull::support(&self.hull, slope)?;
        Some(Line {
            at,
            offset,
            residual,
            slope,
        })
    }

    /// The slope of the hull where it is most informative about the present.
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
