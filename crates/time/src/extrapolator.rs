//! Time between the samples of a time source, as required by `playback_time.md`.

use crate::duration::Duration;
use crate::segment::Segment;

/// Time that is stopped at `ros` from `steady` on.
fn still(steady: i64, ros: i64) -> Segment {
    Segment::fixed(ros).anchored_at(steady)
}

/// The effect of a sample on the extrapolated time. Each variant carries the segment that is valid from now on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Update {
    /// The first sample: time has started.
    Start(Segment),
    /// Time continues, and caught up with the sample if it was behind.
    Continue(Segment),
    /// Time was ahead of the sample. It stops until the source has caught up.
    Hold(Segment),
    /// The source jumped: back to before its last sample, or far forward.
    Jump(Segment),
}

impl Update {
    /// The segment that is valid from now on.
    pub fn segment(&self) -> Segment {
        match *self {
            Self::Start(segment)
            | Self::Continue(segment)
            | Self::Hold(segment)
            | Self::Jump(segment) => segment,
        }
    }
}

/// Continues the time of a source between its samples.
///
/// The rate is the median slope of the last `N` intervals between samples. Time never runs more
/// than one sample period ahead of the last sample: when samples stop, it stops by itself. When
/// it ran ahead of a source that slowed down, it holds until the source has caught up, so it goes
/// back only when the source itself did.
///
/// The error is at most one sample period (the source time between two samples), plus the advance of the source while a
/// sample is delayed on its way.
///
/// ```
/// use timeloom_time::{Extrapolator, Update};
///
/// let ms = 1_000_000;
/// let mut clock = Extrapolator::<8>::new();
/// clock.sample(0, 5_000 * ms);
/// // 100 ms later, the source has advanced by 200 ms: it runs at double rate.
/// let update = clock.sample(100 * ms, 5_200 * ms);
/// assert!(matches!(update, Update::Continue(_)));
/// assert_eq!(update.segment().eval(150 * ms), 5_300 * ms);
/// // No sample comes: time stops after one period.
/// assert_eq!(update.segment().eval(900 * ms), 5_400 * ms);
/// assert!(clock.is_overdue(900 * ms));
/// ```
#[derive(Debug, Clone)]
pub struct Extrapolator<const N: usize = 8> {
    intervals: [Interval; N],
    len: usize,
    oldest: usize,
    last: Option<Sample>,
    /// The usual step of the source before the history was cleared.
    usual_step: Option<i64>,
    segment: Option<Segment>,
    forward_jump: Duration,
    deadline_percent: u32,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    steady: i64,
    ros: i64,
}

/// The interval from one sample to the next; both lengths are positive.
#[derive(Debug, Clone, Copy, Default)]
struct Interval {
    steady: i64,
    ros: i64,
}

/// A step is a jump only if it is this many times larger than usual, so that a fast source that loses a few samples
/// does not appear to jump.
const UNUSUAL: i64 = 8;

impl<const N: usize> Extrapolator<N> {
    /// An extrapolator without samples.
    ///
    /// A forward step of more than ten seconds is a jump, and a sample is overdue after one and a
    /// half periods.
    pub fn new() -> Self {
        const { assert!(N > 0, "the rate needs at least one interval") };
        Self {
            intervals: [Interval::default(); N],
            len: 0,
            oldest: 0,
            last: None,
            usual_step: None,
            segment: None,
            forward_jump: Duration::from_secs(10),
            deadline_percent: 150,
        }
    }

    /// The same extrapolator with another smallest forward jump. A step that is less than eight
    /// times the usual step of the source is never a jump.
    #[must_use]
    pub fn with_forward_jump(mut self, step: Duration) -> Self {
        self.forward_jump = step;
        self
    }

    /// The same extrapolator with another deadline for the next sample, in percent of the
    /// expected period.
    #[must_use]
    pub fn with_deadline_percent(mut self, percent: u32) -> Self {
        self.deadline_percent = percent;
        self
    }

    /// Takes a sample: the source showed `ros` when `steady` was read, both in nanoseconds.
    ///
    /// The same sample at the same instant changes nothing. A steady time that went back counts as not having moved.
    pub fn sample(&mut self, steady: i64, ros: i64) -> Update {
        let Some((last, segment)) = self.last.zip(self.segment) else {
            return Update::Start(self.restart(still(steady, ros)));
        };
        let steady = steady.max(last.steady);
        let step = ros.saturating_sub(last.ros);
        if step < 0 || self.is_jump(step) {
            let segment = self.restart(still(steady, ros));
            if step > 0 {
                // A very fast source seems to jump at its first step, but not at every step.
                self.usual_step = self.usual_step.or(Some(step));
            }
            return Update::Jump(segment);
        }
        if step == 0 && steady == last.steady {
            return Update::Continue(segment);
        }
        let shown = segment.eval(steady);
        let next = if step == 0 {
            self.restart(still(steady, ros).with_floor(shown))
        } else {
            self.push(steady.saturating_sub(last.steady), step);
            self.resume(steady, ros, step, shown)
        };
        if shown > ros {
            Update::Hold(next)
        } else {
            Update::Continue(next)
        }
    }

    /// Discards everything except the settings.
    pub fn reset(&mut self) {
        *self = Self::new()
            .with_forward_jump(self.forward_jump)
            .with_deadline_percent(self.deadline_percent);
    }

    /// The segment that is valid now; `None` before the first sample.
    pub fn segment(&self) -> Option<Segment> {
        self.segment
    }

    /// The usual steady time between two samples; `None` while it is unknown, and while the
    /// source is paused.
    pub fn expected_period(&self) -> Option<Duration> {
        self.median(|interval| interval.steady, Middle::Upper)
            .map(Duration::from_nanos)
    }

    /// The steady time after which the next sample is overdue; `None` if none is expected.
    pub fn deadline(&self) -> Option<i64> {
        let period = self.expected_period()?.nanos();
        let slack = i128::from(period) * i128::from(self.deadline_percent) / 100;
        let slack = i64::try_from(slack).unwrap_or(i64::MAX);
        Some(self.last?.steady.saturating_add(slack))
    }

    /// Whether the next sample is overdue at `steady`: the source is gone, or was paused without a sample that shows
    /// it.
    pub fn is_overdue(&self, steady: i64) -> bool {
        self.deadline().is_some_and(|deadline| steady > deadline)
    }

    fn is_jump(&self, step: i64) -> bool {
        let usual = self.usual_step().unwrap_or(0);
        step > self.forward_jump.nanos() && step > usual.saturating_mul(UNUSUAL)
    }

    /// The usual step of the source, also just after its history was cleared.
    fn usual_step(&self) -> Option<i64> {
        self.median(|interval| interval.ros, Middle::Lower)
            .or(self.usual_step)
    }

    /// Clears the history and stops.
    fn restart(&mut self, segment: Segment) -> Segment {
        self.usual_step = self.usual_step();
        self.len = 0;
        self.oldest = 0;
        self.place(segment)
    }

    /// Continues from a sample at the median rate.
    fn resume(&mut self, steady: i64, ros: i64, step: i64, shown: i64) -> Segment {
        let usual = self.usual_step().unwrap_or(step);
        // A single interval after a pause or a jump is not reliable: it may contain a seek. The usual step from before
        // keeps it from being continued.
        let remembered = self.usual_step.filter(|_| self.len < 2).unwrap_or(usual);
        let ahead = step.min(usual).min(remembered);
        let cap = ros.saturating_add(ahead);
        let segment = Segment::bounded(ros, steady, self.rate(), ros, cap);
        self.place(segment.with_floor(shown))
    }

    fn place(&mut self, segment: Segment) -> Segment {
        self.last = Some(Sample {
            steady: segment.steady_ref,
            ros: segment.ros_ref,
        });
        self.segment = Some(segment);
        segment
    }

    /// Adds an interval. One without steady time has no slope and is left out.
    fn push(&mut self, steady: i64, ros: i64) {
        if steady <= 0 {
            return;
        }
        let interval = Interval { steady, ros };
        if let Some(slot) = self.intervals.get_mut(self.len) {
            *slot = interval;
            self.len += 1;
        } else if let Some(slot) = self.intervals.get_mut(self.oldest) {
            *slot = interval;
            self.oldest = (self.oldest + 1) % N;
        }
    }

    fn history(&self) -> &[Interval] {
        self.intervals.get(..self.len).unwrap_or_default()
    }

    fn rate(&self) -> f64 {
        let mut slopes = [0.0; N];
        for (slope, interval) in slopes.iter_mut().zip(self.history()) {
            *slope = interval.ros as f64 / interval.steady as f64;
        }
        let slopes = slopes.get_mut(..self.len).unwrap_or_default();
        slopes.sort_unstable_by(f64::total_cmp);
        // The lower of two: better behind than ahead.
        let middle = slopes.get(slopes.len().saturating_sub(1) / 2);
        middle.copied().unwrap_or(0.0)
    }

    fn median(&self, length: impl Fn(&Interval) -> i64, middle: Middle) -> Option<i64> {
        let mut lengths = [0; N];
        for (slot, interval) in lengths.iter_mut().zip(self.history()) {
            *slot = length(interval);
        }
        let lengths = lengths.get_mut(..self.len)?;
        lengths.sort_unstable();
        let index = match middle {
            Middle::Lower => lengths.len().checked_sub(1)? / 2,
            Middle::Upper => lengths.len() / 2,
        };
        lengths.get(index).copied()
    }
}

impl<const N: usize> Default for Extrapolator<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// The middle value of an even number of values that is the median.
#[derive(Clone, Copy)]
enum Middle {
    Lower,
    Upper,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// An extrapolator fed with `(steady, ros)` samples in milliseconds.
    fn fed(samples: &[(i64, i64)]) -> (Extrapolator, Update) {
        let mut clock = Extrapolator::<8>::new();
        let mut update = None;
        for &(steady, ros) in samples {
            update = Some(clock.sample(steady * MS, ros * MS));
        }
        (clock, update.expect("at least one sample"))
    }

    #[test]
    fn after_one_sample_time_stands_still() {
        let (clock, update) = fed(&[(0, 100)]);
        assert_eq!(update, Update::Start(still(0, 100 * MS)));
        assert_eq!(update.segment().eval(i64::MAX), 100 * MS);
        assert_eq!(clock.deadline(), None);
        assert!(!clock.is_overdue(i64::MAX));
    }

    #[test]
    fn a_source_that_slows_down_is_awaited() {
        // At steady 20 it was 40; the source sends 30, and time waits there.
        let (_, update) = fed(&[(0, 0), (10, 20), (20, 30)]);
        let segment = update.segment();
        assert_eq!(update, Update::Hold(segment));
        assert_eq!((segment.floor, segment.cap), (40 * MS, 40 * MS));
        // Its next sample equals our time: time continues from there.
        let (_, update) = fed(&[(0, 0), (10, 20), (20, 30), (30, 40)]);
        assert!(matches!(update, Update::Continue(_)));
        assert!(update.segment().eval(35 * MS) > 40 * MS);
    }

    #[test]
    fn a_repeated_sample_is_a_pause() {
        let (clock, update) = fed(&[(0, 0), (10, 10), (15, 10)]);
        let segment = update.segment();
        assert!(segment.rate().abs() < f64::EPSILON);
        assert_eq!(segment.eval(1_000 * MS), 15 * MS, "holds what was shown");
        assert_eq!(clock.expected_period(), None);
        // The very same reading twice changes nothing.
        let (_, again) = fed(&[(0, 0), (10, 10), (10, 10)]);
        assert_eq!(again, fed(&[(0, 0), (10, 10)]).1);
    }

    #[test]
    fn a_seek_while_paused_is_not_continued() {
        let (_, update) = fed(&[(0, 0), (10, 10), (20, 20), (30, 20), (40, 5020)]);
        assert_eq!(update.segment().eval(1_000 * MS), 5030 * MS);
    }

    #[test]
    fn one_lost_sample_does_not_double_the_cap() {
        let (_, update) = fed(&[(0, 0), (10, 10), (20, 20), (40, 40)]);
        assert_eq!(update.segment().cap, 50 * MS);
    }

    #[test]
    fn jumps_clear_the_history() {
        let (clock, update) = fed(&[(0, 50), (10, 60), (20, 59)]);
        assert_eq!(update, Update::Jump(still(20 * MS, 59 * MS)));
        assert_eq!(clock.expected_period(), None);
        let (_, update) = fed(&[(0, 0), (10, 10), (20, 10_010)]);
        assert!(
            matches!(update, Update::Continue(_)),
            "ten seconds are no jump"
        );
        let (_, update) = fed(&[(0, 0), (10, 10), (20, 10_011)]);
        assert!(matches!(update, Update::Jump(_)));
    }

    #[test]
    fn a_very_fast_source_jumps_only_once() {
        let (_, update) = fed(&[(0, 0), (100, 50_000)]);
        assert!(matches!(update, Update::Jump(_)));
        let (_, update) = fed(&[(0, 0), (100, 50_000), (200, 100_000)]);
        assert!(matches!(update, Update::Continue(_)));
        assert_eq!(update.segment().eval(250 * MS), 125_000 * MS);
    }

    #[test]
    fn samples_without_steady_time_between_them_have_no_slope() {
        let (_, update) = fed(&[(10, 0), (10, 10), (5, 20)]);
        let segment = update.segment();
        assert_eq!(segment.steady_ref, 10 * MS, "steady time does not go back");
        assert_eq!(segment.eval(1_000 * MS), 20 * MS);
    }

    #[test]
    fn the_deadline_has_slack() {
        let (clock, _) = fed(&[(0, 0), (10, 1), (20, 2)]);
        assert_eq!(clock.expected_period(), Some(Duration::from_millis(10)));
        assert_eq!(clock.deadline(), Some(35 * MS));
        assert!(!clock.is_overdue(35 * MS));
        assert!(clock.is_overdue(35 * MS + 1));
    }
}
