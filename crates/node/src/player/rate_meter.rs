use std::collections::VecDeque;

/// The achieved rate: the bag's time per steady time, over the last second.
#[derive(Clone, Debug, Default)]
pub(super) struct RateMeter(VecDeque<(i64, i64)>);

/// Over this much steady time.
const WINDOW: i64 = 1_000_000_000;
/// The shortest time to measure over.
const LEAST: i64 = 100_000_000;

impl RateMeter {
    /// Takes a sample of steady time and of the bag's time; returns the rate, once there are enough samples.
    pub(super) fn sample(&mut self, steady: i64, progress: i64) -> Option<f64> {
        if self.0.back().is_some_and(|(_, last)| progress < *last) {
            // A loop or a seek back restarts the measurement.
            self.0.clear();
        }
        self.0.push_back((steady, progress));
        while self.0.len() > 2 && self.0.get(1).is_some_and(|(at, _)| steady - at >= WINDOW) {
            self.0.pop_front();
        }
        let (from, progressed) = self.0.front().copied()?;
        let passed = steady.saturating_sub(from);
        (passed >= LEAST).then(|| progress.saturating_sub(progressed) as f64 / passed as f64)
    }

    pub(super) fn reset(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: i64 = 100_000_000;

    #[test]
    fn the_rate_is_that_of_the_last_second() {
        let mut meter = RateMeter::default();
        assert_eq!(meter.sample(0, 0), None);
        let mut rate = None;
        for n in 1..=20 {
            rate = meter.sample(n * TENTH, n * TENTH / 2);
        }
        assert_eq!(rate, Some(0.5));
        let base = 10 * TENTH;
        for n in 1..=11 {
            rate = meter.sample((20 + n) * TENTH, base + n * TENTH * 2);
        }
        assert_eq!(rate, Some(2.0));
    }

    #[test]
    fn a_step_back_restarts_the_measurement() {
        let mut meter = RateMeter::default();
        meter.sample(0, 1_000);
        meter.sample(5 * TENTH, 2_000);
        assert_eq!(meter.sample(6 * TENTH, 0), None);
        assert_eq!(meter.sample(7 * TENTH, TENTH), Some(1.0));
    }
}
