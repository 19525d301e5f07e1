/// The targets that a message reached, by their indices. Most robots have few, which need no allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    first: u64,
    more: Box<[u64]>,
}

impl Reached {
    pub(super) fn insert(&mut self, place: usize) {
        let bit = 1 << (place % 64);
        let Some(word) = (place / 64).checked_sub(1) else {
            self.first |= bit;
            return;
        };
        if self.more.len() <= word {
            let mut longer = std::mem::take(&mut self.more).into_vec();
            longer.resize(word + 1, 0);
            self.more = longer.into();
        }
        if let Some(word) = self.more.get_mut(word) {
            *word |= bit;
        }
    }

    pub(super) fn contains(&self, place: usize) -> bool {
        let word = match (place / 64).checked_sub(1) {
            None => Some(&self.first),
            Some(word) => self.more.get(word),
        };
        word.is_some_and(|word| word & (1 << (place % 64)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_beyond_the_first_word_are_kept_apart() {
        let mut reached = Reached::default();
        let places = [0, 63, 64, 200];
        for place in places {
            assert!(!reached.contains(place));
            reached.insert(place);
        }
        let found: Vec<_> = (0..300).filter(|place| reached.contains(*place)).collect();
        assert_eq!(found, places);
    }
}
