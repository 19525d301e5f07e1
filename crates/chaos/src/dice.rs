/// Random choices that a seed repeats (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The same for the same seed and number.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        let mut dice = Self(seed ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03));
        dice.next();
        dice
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From `low` to `high`, both of them included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// One of them.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let last = of.len() as u64 - 1;
        let place = usize::try_from(self.between(0, last)).unwrap_or(0);
        &of[place]
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            let other = self.between(0, place as u64);
            items.swap(place, usize::try_from(other).unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_itself_and_stays_within_bounds() {
        let row = |seed| {
            let mut dice = Dice::new(seed, 7);
            (0..200).map(|_| dice.between(3, 9)).collect::<Vec<_>>()
        };
        assert_eq!(row(1), row(1));
        assert_ne!(row(1), row(2));
        assert!((3..=9).all(|number| row(1).contains(&number)));
        assert!(row(1).iter().all(|number| (3..=9).contains(number)));
    }
}
