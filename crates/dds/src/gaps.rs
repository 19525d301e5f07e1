//! What is missing between the samples of each writer: DDS delivers a writer's samples in order.

use std::collections::BTreeMap;

/// The last number of each writer.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    last: BTreeMap<[u8; 16], u64>,
}

/// Above this, writers that are gone are forgotten.
const MANY: usize = 64;

impl Gaps {
    /// How many samples are missing before this one.
    pub(crate) fn before(&mut self, writer: [u8; 16], sequence: u64) -> u64 {
        match self.last.insert(writer, sequence) {
            Some(last) => sequence.saturating_sub(last).saturating_sub(1),
            None => 0,
        }
    }

    /// Whether there are so many that it is time to [`keep`](Self::keep) only those that are there.
    pub(crate) fn are_many(&self) -> bool {
        self.last.len() > MANY
    }

    /// Forgets all writers but these.
    pub(crate) fn keep(&mut self, writers: &[[u8; 16]]) {
        self.last.retain(|writer, _| writers.contains(writer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_counted_per_writer() {
        let mut gaps = Gaps::default();
        let (one, two) = ([1; 16], [2; 16]);
        assert_eq!(gaps.before(one, 10), 0);
        assert_eq!(gaps.before(two, 1), 0);
        assert_eq!(gaps.before(one, 11), 0);
        assert_eq!(gaps.before(one, 15), 3);
        assert_eq!(gaps.before(two, 2), 0);
        assert_eq!(gaps.before(one, 3), 0, "numbers that go back are no loss");
        assert_eq!(gaps.before(one, u64::MAX), u64::MAX - 4);
    }

    #[test]
    fn writers_that_are_gone_are_forgotten() {
        let mut gaps = Gaps::default();
        for number in 0..=u8::try_from(MANY).unwrap() {
            assert!(!gaps.are_many());
            gaps.before([number; 16], 1);
        }
        assert!(gaps.are_many());
        gaps.keep(&[[1; 16]]);
        assert!(!gaps.are_many());
        assert_eq!(gaps.before([1; 16], 3), 1);
    }
}
