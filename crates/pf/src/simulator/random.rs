/// Random numbers (splitmix64): the same on every machine for one seed.
///
/// `fastrand` is not used here: it does not promise the same numbers in later versions, and accuracy tests and
/// BENCHMARKS.md refer to seeds. With its numbers, `the_default_is_fifty_times_better_…` gives a factor of 26.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// The numbers of a seed; each `stream` has its own.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        Self(seed ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential with the given mean.
    pub(super) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// True once in `count` calls on average; never for zero.
    pub(super) fn one_in(&mut self, count: u32) -> bool {
        count > 0 && self.unit() * f64::from(count) < 1.0
    }
}
