use std::collections::VecDeque;

/// Time that does not change for this long stands, unless its source always takes so long.
const PATIENCE: i64 = 250_000_000;
/// How many usual periods a change may take.
const PERIODS: i64 = 4;
/// How many changes the rate is measured over.
const WINDOW: usize = 32;

/// What the samples of an external clock say about it: whether its time stands, and how fast it goes.
///
/// Sans I/O: it takes samples with the steady time of their arrival, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct ClockBeat {
    /// Arrivals and times of the last changes, oldest first.
    changes: VecDeque<(i64, i64)>,
    /// When the last sample came, and the one before it.
    last: Option<i64>,
    before: Option<i64>,
}

impl ClockBeat {
    /// Takes a sample.
    pub(super) fn sample(&mut self, steady: i64, time: i64) {
        self.before = self.last.replace(steady);
        match self.changes.back() {
            Some((_, shown)) if *shown == time => return,
            // What was measured before a jump back says nothing about the time after it.
            Some((_, shown)) if time < *shown => self.changes.clear(),
            _ => {}
        }
        if self.changes.len() == WINDOW {
            self.changes.pop_front();
        }
        self.changes.push_back((steady, time));
    }

    /// When the last sample came.
    pub(super) fn last(&self) -> Option<i64> {
        self.last
    }

    /// How much time passed between the last two samples.
    pub(super) fn gap(&self) -> Option<i64> {
        Some(self.last?.saturating_sub(self.before?))
    }

    /// Whether time stands: it is paused, or no sample comes any more. True before the first sample.
    pub(super) fn is_standing(&self, steady: i64) -> bool {
        let Some((changed, _)) = self.changes.back() else {
            return true;
        };
        let usual = self.period().saturating_mul(PERIODS).max(PATIENCE);
        steady.saturating_sub(*changed) > usual
    }

    /// How fast time went while it changed; none before the second change.
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
    fn a_paused_owner_goes_on_sending_the_same_time() {
        let mut beat = ClockBeat::default();
        assert!(beat.is_standing(0));
        for n in 0..40 {
            beat.sample(n * 25 * MS, 1000 * MS + n * 50 * MS);
        }
        let now = 39 * 25 * MS;
        assert!(!beat.is_standing(now + 200 * MS));
        assert!((beat.rate().unwrap() - 2.0).abs() < 1e-9);
        for n in 1..40 {
            beat.sample(now + n * 25 * MS, 1000 * MS + 39 * 50 * MS);
        }
        assert!(beat.is_standing(now + 39 * 25 * MS));
        assert!(
            (beat.rate().unwrap() - 2.0).abs() < 1e-9,
            "as when it runs on"
        );
        beat.sample(now + 1000 * MS, 5000 * MS);
        assert!(!beat.is_standing(now + 1000 * MS));
    }

    #[test]
    fn time_stands_when_its_owner_is_silent() {
        let mut beat = ClockBeat::default();
        for n in 0..10 {
            beat.sample(n * 25 * MS, n * 25 * MS + 1);
        }
        assert!(beat.is_standing(20_000 * MS));
        assert_eq!(beat.last(), Some(9 * 25 * MS));
        assert_eq!(beat.gap(), Some(25 * MS));
    }

    #[test]
    fn a_slow_source_does_not_stand_between_its_samples() {
        let mut beat = ClockBeat::default();
        for n in 0..5 {
            beat.sample(n * 2000 * MS, n * 2000 * MS + 1);
        }
        assert!(!beat.is_standing(4 * 2000 * MS + 1900 * MS));
    }

    #[test]
    fn a_jump_back_begins_a_new_measurement() {
        let mut beat = ClockBeat::default();
        beat.sample(0, 5000 * MS);
        beat.sample(10 * MS, 5010 * MS);
        beat.sample(20 * MS, 1000 * MS);
        assert_eq!(beat.rate(), None);
        beat.sample(30 * MS, 1010 * MS);
        assert!((beat.rate().unwrap() - 1.0).abs() < 1e-9);
    }
}
