//! A set of measured values and its order statistics.

/// Measured values, kept in the order they were taken and sorted.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    taken: Vec<f64>,
    sorted: Vec<f64>,
}

impl Samples {
    /// The values in the order they were taken.
    pub fn taken(&self) -> &[f64] {
        &self.taken
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.taken.len()
    }

    /// Whether there is no value at all.
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// The value that half of the samples do not exceed; not a number when there are none.
    pub fn median(&self) -> f64 {
        self.percentile(50.0)
    }

    /// The smallest value that at least `percent` of the samples do not exceed (nearest rank).
    ///
    /// `percent` is clamped to 0..=100; the result is not a number when there are no samples.
    pub fn percentile(&self, percent: f64) -> f64 {
        let share = (percent / 100.0).clamp(0.0, 1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the rank lies between 0 and the number of samples"
        )]
        let rank = (share * self.sorted.len() as f64).ceil() as usize;
        self.sorted
            .get(rank.saturating_sub(1))
            .copied()
            .unwrap_or(f64::NAN)
    }

    /// The smallest value; not a number when there are none.
    pub fn min(&self) -> f64 {
        self.percentile(0.0)
    }

    /// The largest value; not a number when there are none.
    pub fn max(&self) -> f64 {
        self.percentile(100.0)
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let taken: Vec<f64> = values.into_iter().collect();
        let mut sorted = taken.clone();
        sorted.sort_by(f64::total_cmp);
        Self { taken, sorted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_rank() {
        let samples: Samples = (1..=100).rev().map(f64::from).collect();
        let at = [0.0, 1.0, 50.0, 90.0, 99.0, 100.0].map(|p| samples.percentile(p).to_string());
        assert_eq!(at, ["1", "1", "50", "90", "99", "100"]);
        assert_eq!(samples.median().to_string(), "50");
        assert_eq!(
            (samples.min().to_string(), samples.max().to_string()),
            ("1".into(), "100".into())
        );
    }

    #[test]
    fn values_keep_their_order() {
        let samples: Samples = [3.0, 1.0, 2.0].into_iter().collect();
        assert_eq!(samples.taken(), [3.0, 1.0, 2.0]);
        assert_eq!(samples.len(), 3);
    }

    #[test]
    fn one_sample_is_every_percentile() {
        let samples: Samples = [7.0].into_iter().collect();
        assert!(
            [0.0, 50.0, 100.0, 250.0, -1.0]
                .iter()
                .all(|&p| samples.percentile(p).to_string() == "7")
        );
    }

    #[test]
    fn no_samples_is_not_a_number() {
        let samples = Samples::default();
        assert!(samples.is_empty());
        assert!(samples.median().is_nan() && samples.min().is_nan() && samples.max().is_nan());
    }
}
