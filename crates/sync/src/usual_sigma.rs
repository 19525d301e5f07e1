//! The usual deviation of an estimate over the last minute.

use crate::line::seconds_between;

/// Seconds over which deviations are averaged.
const MEMORY: f64 = 60.0;
/// At the start, deviations fall by decades: the average covers only this share of the time since then.
const SHARE: f64 = 0.5;

/// The geometric mean of recent deviations.
///
/// The deviation of one fit is a guess itself: minima that happen to lie on a straight line make it too small for half
/// a minute, just when they mislead the fit. The mean of the last minute does not fall for them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UsualSigma {
    /// The device time of the newest deviation, and the mean of their logarithms.
    mean: Option<(i64, f64)>,
    /// The deviation of that mean; it is asked for with each sample, and changes with each fit.
    usual: f64,
}

impl UsualSigma {
    /// Takes the deviation of a fit, `age` seconds after the first sample.
    pub(crate) fn add(&mut self, at: i64, sigma: f64, age: f64) {
        let fresh = sigma.max(1.0).ln();
        let mean = self.mean.map_or(fresh, |(before, mean)| {
            let passed = seconds_between(before, at).max(0.0);
            let memory = MEMORY.min(SHARE * age);
            mean + (fresh - mean) * passed / (passed + memory).max(1e-3)
        });
        self.mean = Some((at, mean));
        self.usual = mean.exp();
    }

    /// The usual deviation, or a larger one.
    pub(crate) fn or_larger(&self, sigma: f64) -> f64 {
        self.mean.map_or(sigma, |_| sigma.max(self.usual))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn a_short_time_of_small_deviations_is_not_believed_at_once() {
        let mut usual = UsualSigma::default();
        for second in 0..300 {
            usual.add(second * SECOND, 60e3, second as f64);
        }
        for second in 300..330 {
            usual.add(second * SECOND, 15e3, second as f64);
        }
        let sigma = usual.or_larger(15e3);
        assert!((30e3..50e3).contains(&sigma), "{sigma}");
        assert!((usual.or_larger(90e3) - 90e3).abs() < 1.0);
    }

    #[test]
    fn a_deviation_that_falls_at_the_start_is_followed() {
        let mut usual = UsualSigma::default();
        for second in 0..30 {
            let sigma = 1e6 / f64::from(1 + second).powi(2);
            usual.add(i64::from(second) * SECOND, sigma, f64::from(second));
        }
        let sigma = usual.or_larger(1e3);
        assert!(sigma < 20e3, "{sigma}");
    }
}
