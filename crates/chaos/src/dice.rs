/// Random choices that a seed repeats.
#[derive(Clone, Debug)]
pub(crate) struct Dice(fastrand::Rng);

impl Dice {
    /// The choices of a case: the same for the same seed and number.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        let mixed = seed ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03);
        Self(fastrand::Rng::with_seed(mixed))
    }

    /// From `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0.u64(low..=high)
    }

    /// One of the items.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.0.usize(..items.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        self.0.shuffle(items);
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
