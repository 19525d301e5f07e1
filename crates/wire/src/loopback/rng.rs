/// A small generator of numbers that look random and are the same for the same seed.
#[derive(Clone, Debug)]
pub(super) struct Rng(u64);

impl Rng {
    /// A generator of its own for each combination of numbers.
    pub(super) fn new(parts: impl IntoIterator<Item = u64>) -> Self {
        let mut rng = Self(0x0071_4D3A_7E5E_ED00);
        for part in parts {
            rng.0 = rng.next() ^ part;
        }
        rng
    }

    /// `SplitMix64`: every state gives a different number, so there are no bad seeds.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, not including, 1.
    pub(super) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from 0 to `most`, both included.
    pub(super) fn up_to(&mut self, most: u64) -> u64 {
        match most.checked_add(1) {
            None => self.next(),
            // The tiny bias of the remainder does not matter for faults.
            Some(count) => self.next() % count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_gives_others() {
        let numbers = |parts: [u64; 2]| {
            let mut rng = Rng::new(parts);
            [rng.next(), rng.next(), rng.next()]
        };
        assert_eq!(numbers([1, 2]), numbers([1, 2]));
        assert_ne!(numbers([1, 2]), numbers([2, 1]));
        assert_ne!(numbers([0, 0]), numbers([0, 1]));
    }

    #[test]
    fn fractions_are_spread_evenly() {
        let mut rng = Rng::new([7]);
        let below = (0..10_000).filter(|_| rng.fraction() < 0.25).count();
        assert!((2_300..2_700).contains(&below), "{below}");
        assert!((0..1_000).all(|_| rng.up_to(3) <= 3));
    }
}
