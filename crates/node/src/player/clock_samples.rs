use std::collections::VecDeque;

use timeloom_wire::Gid;

/// Time that does not change for this long is stopped, unless its source is always that slow.
const PATIENCE: i64 = 250_000_000;
/// Number of usual periods that a change may take.
const PERIODS: i64 = 4;
/// Number of changes over which the rate is measured.
const WINDOW: usize = 32;
/// Number of samples that the clock does not show yet; more accumulate only behind a jump handler that hangs.
const MAX_PENDING: usize = 1_000;

/// The samples of an external clock: whether its time is stopped, its rate, and lost samples.
///
/// Sans I/O: it takes samples with the steady time of their arrival, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct ClockSamples {
    /// Arrivals and times of the last changes, oldest first.
    changes: VecDeque<(i64, i64)>,
    /// The arrival of the last sample.
    last: Option<i64>,
    last_id: Option<SampleId>,
    /// The last sample that the clock has shown.
    shown: Option<SampleId>,
    /// Samples that the clock does not show yet, oldest first.
    pending: VecDeque<Pending>,
}

/// The number of a sample and its publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SampleId {
    pub(super) writer: Gid,
    pub(super) sequence: u64,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    time: i64,
    passed: Option<i64>,
    lost_before: bool,
    id: Option<SampleId>,
}

/// A change of the clock to the time of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockStep {
    /// Steady time between this sample and the one before it.
    pub(super) passed: i64,
    /// Whether samples may have been lost since the last step.
    pub(super) lost_samples: bool,
    /// The last sample that the clock showed, and this one.
    pub(super) samples: Option<(SampleId, SampleId)>,
}

impl ClockSamples {
    /// Takes a sample.
    pub(super) fn sample(&mut self, steady: i64, time: i64, id: Option<SampleId>) {
        let last = self.last.replace(steady);
        let last_id = self.last_id.take();
        let same = last_id.filter(|last| id.is_some_and(|id| id.writer == last.writer));
        let is_old = matches!((same, id), (Some(last), Some(id)) if id.sequence <= last.sequence);
        if is_old {
            // The hub drops a sample that was overtaken.
            self.last_id = last_id;
            return;
        }
        self.last_id = id;
        let follows = match (last_id, id) {
            (Some(last), Some(id)) => same.is_some() && id.sequence == last.sequence + 1,
            _ => true,
        };
        if self.pending.len() == MAX_PENDING {
            self.pending.pop_front();
        }
        self.pending.push_back(Pending {
            time,
            passed: last.map(|last| steady.saturating_sub(last)),
            lost_before: !follows,
            id,
        });
        self.change(steady, time);
    }

    fn change(&mut self, steady: i64, time: i64) {
        match self.changes.back() {
            Some((_, shown)) if *shown == time => return,
            // Measurements from before a jump back do not apply to the time after it.
            Some((_, shown)) if time < *shown => self.changes.clear(),
            _ => {}
        }
        if self.changes.len() == WINDOW {
            self.changes.pop_front();
        }
        self.changes.push_back((steady, time));
    }

    /// The clock is about to show this time. The sample may have arrived long before, with others after it.
    pub(super) fn step_to(&mut self, time: i64) -> Option<ClockStep> {
        let at = self.pending.iter().position(|sample| sample.time == time);
        // A clock that extrapolates shows times between those of its samples.
        let at = at.or(self.pending.len().checked_sub(1))?;
        let mut lost_samples = false;
        let mut step = None;
        for sample in self.pending.drain(..=at) {
            lost_samples |= sample.lost_before;
            step = Some(sample);
        }
        let sample = step?;
        let before = self.shown.take();
        self.shown = sample.id;
        Some(ClockStep {
            passed: sample.passed?,
            lost_samples,
            samples: before.zip(sample.id),
        })
    }

    /// The arrival of the last sample.
    pub(super) fn last(&self) -> Option<i64> {
        self.last
    }

    /// Whether time is stopped: it is paused, or samples have ceased. True before the first sample.
    pub(super) fn is_standing(&self, steady: i64) -> bool {
        let Some((changed, _)) = self.changes.back() else {
            return true;
        };
        let usual = self.period().saturating_mul(PERIODS).max(PATIENCE);
        steady.saturating_sub(*changed) > usual
    }

    /// The rate of time while it changed; `None` before the second change.
    pub(super) fn rate(&self) -> Option<f64> {
        let (first, last) = (self.changes.front()?, self.changes.back()?);
        let steady = last.0.saturating_sub(first.0);
        let rate = last.1.saturating_sub(first.1) as f64 / steady as f64;
        (steady > 0).then_some(rate)
    }

    /// The time between two changes.
    fn period(&self) -> i64 {
        let count = i64::try_from(self.changes.len()).unwrap_or(i64::MAX);
        match (self.changes.front(), self.changes.back()) {
            (Some(first), Some(last)) if count > 1 => last.0.saturating_sub(first.0) / (count - 1),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn a_repeated_time_means_paused() {
        let mut samples = ClockSamples::default();
        assert!(samples.is_standing(0));
        for n in 0..40 {
            samples.sample(n * 25 * MS, 1000 * MS + n * 50 * MS, None);
        }
        let now = 39 * 25 * MS;
        assert!(!samples.is_standing(now + 200 * MS));
        assert!((samples.rate().unwrap() - 2.0).abs() < 1e-9);
        for n in 1..40 {
            samples.sample(now + n * 25 * MS, 1000 * MS + 39 * 50 * MS, None);
        }
        assert!(samples.is_standing(now + 39 * 25 * MS));
        assert!(
            (samples.rate().unwrap() - 2.0).abs() < 1e-9,
            "as when it runs on"
        );
        samples.sample(now + 1000 * MS, 5000 * MS, None);
        assert!(!samples.is_standing(now + 1000 * MS));
    }

    #[test]
    fn a_silent_owner_means_paused() {
        let mut samples = ClockSamples::default();
        for n in 0..10 {
            samples.sample(n * 25 * MS, n * 25 * MS + 1, None);
        }
        assert!(samples.is_standing(20_000 * MS));
        assert_eq!(samples.last(), Some(9 * 25 * MS));
    }

    #[test]
    fn a_slow_source_is_not_paused_between_samples() {
        let mut samples = ClockSamples::default();
        for n in 0..5 {
            samples.sample(n * 2000 * MS, n * 2000 * MS + 1, None);
        }
        assert!(!samples.is_standing(4 * 2000 * MS + 1900 * MS));
    }

    #[test]
    fn a_jump_back_restarts_the_measurement() {
        let mut samples = ClockSamples::default();
        samples.sample(0, 5000 * MS, None);
        samples.sample(10 * MS, 5010 * MS, None);
        samples.sample(20 * MS, 1000 * MS, None);
        assert_eq!(samples.rate(), None);
        samples.sample(30 * MS, 1010 * MS, None);
        assert!((samples.rate().unwrap() - 1.0).abs() < 1e-9);
    }

    fn id(writer: u8, sequence: u64) -> SampleId {
        let writer = Gid([writer; 16]);
        SampleId { writer, sequence }
    }

    #[test]
    fn a_step_finds_its_own_sample_also_when_others_arrived_after_it() {
        let mut samples = ClockSamples::default();
        for (steady, time, sequence) in [(0, 100, 1), (25, 125, 2), (26, 100, 3), (50, 124, 4)] {
            samples.sample(steady * MS, time * MS, Some(id(1, sequence)));
        }
        assert_eq!(samples.step_to(100 * MS), None, "the first one");
        let forward = samples.step_to(125 * MS).unwrap();
        assert_eq!((forward.passed, forward.lost_samples), (25 * MS, false));
        let back = samples.step_to(100 * MS).unwrap();
        assert_eq!((back.passed, back.lost_samples), (MS, false));
        assert_eq!(back.samples, Some((id(1, 2), id(1, 3))));
    }

    #[test]
    fn lost_samples_are_noticed_by_their_numbers_and_by_another_publisher() {
        let mut samples = ClockSamples::default();
        let mut lost = |time: i64, id| {
            samples.sample(time, time, Some(id));
            samples.step_to(time).map(|step| step.lost_samples)
        };
        assert_eq!(lost(1, id(1, 7)), None);
        assert_eq!(lost(2, id(1, 8)), Some(false));
        assert_eq!(lost(3, id(1, 10)), Some(true));
        assert_eq!(lost(4, id(2, 1)), Some(true));
        assert_eq!(lost(5, id(2, 2)), Some(false));
    }
}
