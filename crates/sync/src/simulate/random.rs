//! Random numbers of the simulator.

/// xoshiro256++, seeded by splitmix64.
///
/// `fastrand` is not used here: it does not promise the same numbers in later versions, and the samples of a scenario
/// family and seed must stay the same, because thresholds of tests, BENCHMARKS.md and users' files refer to them.
#[derive(Debug, Clone)]
pub(crate) struct Random([u64; 4]);

impl Random {
    /// The numbers of `seed`, apart from those of every other `stream`.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut state = seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut next = || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^ (mixed >> 31)
        };
        Self([next(), next(), next(), next()])
    }

    fn next(&mut self) -> u64 {
        let [a, b, c, d] = self.0;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.0 = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// Evenly in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Evenly in [low, high).
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Exponential with the given mean.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Normal with mean 0 and deviation 1 (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_as_asked_and_seeds_differ() {
        let mut random = Random::new(1, 0);
        let count = 100_000;
        let mean = (0..count).map(|_| random.exponential(3.0)).sum::<f64>() / f64::from(count);
        assert!((mean - 3.0).abs() < 0.05, "{mean}");
        let square = (0..count).map(|_| random.normal().powi(2)).sum::<f64>() / f64::from(count);
        assert!((square - 1.0).abs() < 0.05, "{square}");
        assert_eq!(Random::new(7, 1).next(), Random::new(7, 1).next());
        assert_ne!(Random::new(7, 1).next(), Random::new(8, 1).next());
        assert_ne!(Random::new(7, 1).next(), Random::new(7, 2).next());
    }
}
