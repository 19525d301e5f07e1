//! What is missing between the samples of each writer.

use std::collections::BTreeMap;

use timeloom_wire::{Gid, LossTracker, SequenceStep};

/// The accounts of the writers of one subscription; bounded, whatever gids peers make up.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    writers: BTreeMap<Gid, LossTracker>,
}

/// Above this, writers that are gone are forgotten.
const MANY: usize = 64;

impl Losses {
    /// How many samples are missing before this one. `is_there` tells the writers of the graph.
    pub(crate) fn before(
        &mut self,
        writer: Gid,
        sequence: u64,
        is_there: impl Fn(&Gid) -> bool,
    ) -> u64 {
        if let Some(account) = self.writers.get_mut(&writer) {
            return missing(account.sample(writer, sequence));
        }
        if self.writers.len() >= MANY {
            self.writers.retain(|writer, _| is_there(writer));
            // All of them real, or a peer that makes them up: the real ones stay.
            if self.writers.len() >= MANY && !is_there(&writer) {
                return 0;
            }
        }
        missing(
            self.writers
                .entry(writer)
                .or_default()
                .sample(writer, sequence),
        )
    }
}

fn missing(step: SequenceStep) -> u64 {
    match step {
        SequenceStep::Gap(missing) => missing,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_counted_per_writer() {
        let mut losses = Losses::default();
        let (one, two) = (Gid([1; 16]), Gid([2; 16]));
        let mut before = |writer, sequence| losses.before(writer, sequence, |_| true);
        assert_eq!(before(one, 10), 0);
        assert_eq!(before(two, 1), 0);
        assert_eq!(before(one, 11), 0);
        assert_eq!(before(one, 15), 3);
        assert_eq!(before(two, 2), 0);
        assert_eq!(before(one, 12), 0, "late, not lost");
        assert_eq!(before(one, u64::MAX), u64::MAX - 16);
    }

    #[test]
    fn made_up_writers_take_no_memory_and_no_real_account() {
        let mut losses = Losses::default();
        let real = Gid([7; 16]);
        let is_real = |gid: &Gid| *gid == real;
        losses.before(real, 1, is_real);
        for number in 0..10_000_u32 {
            let mut made_up = Gid::UNKNOWN;
            made_up.0[..4].copy_from_slice(&number.to_le_bytes());
            losses.before(made_up, 1, is_real);
            assert!(losses.writers.len() <= MANY);
        }
        assert_eq!(losses.before(real, 5, is_real), 3);
    }
}
