use std::collections::BTreeMap;

use crate::gid::Gid;

/// Counts lost samples by the gaps in each writer's sequence numbers.
///
/// The count is exact between the first and the last sample received from a writer; samples before and after are
/// unknown and not counted. A sample that arrives late is no longer lost; one that is older than the first extends the
/// range. Any sequence of numbers is accepted without a panic.
///
/// Memory is bounded: above [`LossTracker::MOST_WRITERS`] writers, those that were silent longest are forgotten. Their
/// losses stay in the sum; a forgotten writer that is received again starts a new account.
///
/// ```
/// use timeloom_wire::{Gid, LossTracker, SequenceStep};
/// let mut losses = LossTracker::default();
/// let writer = Gid([1; 16]);
/// assert_eq!(losses.sample(writer, 7), SequenceStep::First);
/// assert_eq!(losses.sample(writer, 10), SequenceStep::Gap(2));
/// assert_eq!(losses.sample(writer, 8), SequenceStep::Late);
/// assert_eq!(losses.account(&writer).unwrap().lost, 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LossTracker {
    writers: BTreeMap<Gid, Writer>,
    /// Number of samples so far; orders the writers by their last sample.
    samples: u64,
    /// Lost samples of writers that were forgotten.
    forgotten: u64,
}

#[derive(Clone, Debug)]
struct Writer {
    account: WriterAccount,
    /// The number of its last sample.
    heard: u64,
    /// Gaps that a late sample may still fill, newest last; bounded.
    open: Vec<Gap>,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    first: u64,
    last: u64,
}

/// The account of one writer's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterAccount {
    /// The lowest sequence number received.
    pub first: u64,
    /// The highest sequence number received, or announced by the writer.
    pub last: u64,
    /// Number of distinct samples received.
    pub received: u64,
    /// Number of samples between the first and the last that were not received.
    pub lost: u64,
    /// Number of duplicates.
    pub duplicates: u64,
}

/// The place of a sample in its writer's sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceStep {
    /// The first sample of the writer: the number of samples before it is unknown.
    First,
    /// The next number.
    Next,
    /// This many samples are missing before it.
    Gap(u64),
    /// It was counted as lost and arrived late.
    Late,
    /// It is older than the first so far, with this many missing in between: the account now starts with it.
    Earlier(u64),
    /// It was received before.
    Duplicate,
}

/// More open gaps than this are not remembered: a sample later than that many gaps counts as a duplicate.
const MAX_OPEN_GAPS: usize = 64;

impl LossTracker {
    /// The most writers that are remembered; no robot has as many on one topic.
    pub const MOST_WRITERS: usize = 4096;

    /// Counts a sample.
    pub fn sample(&mut self, writer: Gid, sequence: u64) -> SequenceStep {
        self.samples += 1;
        let Some(known) = self.writers.get_mut(&writer) else {
            self.make_room();
            let account = WriterAccount {
                first: sequence,
                last: sequence,
                received: 1,
                lost: 0,
                duplicates: 0,
            };
            self.writers.insert(
                writer,
                Writer {
                    account,
                    heard: self.samples,
                    open: Vec::new(),
                },
            );
            return SequenceStep::First;
        };
        known.heard = self.samples;
        known.step(sequence)
    }

    /// Forgets a quarter of the writers, those that were silent longest, if there is no room for another; returns their
    /// accounts.
    pub fn make_room(&mut self) -> Vec<(Gid, WriterAccount)> {
        if self.writers.len() < Self::MOST_WRITERS {
            return Vec::new();
        }
        let mut heard: Vec<u64> = self.writers.values().map(|known| known.heard).collect();
        let (_, last, _) = heard.select_nth_unstable(Self::MOST_WRITERS / 4);
        let last = *last;
        let silent = self.writers.extract_if(.., |_, known| known.heard <= last);
        let silent: Vec<_> = silent.map(|(gid, known)| (gid, known.account)).collect();
        for (_, account) in &silent {
            self.forgotten = self.forgotten.saturating_add(account.lost);
        }
        silent
    }

    /// A writer announced `last` as its last number: samples up to it that were not received are lost.
    ///
    /// Returns how many more samples are lost than before; 0 for a writer without a received sample.
    pub fn writer_ended(&mut self, writer: &Gid, last: u64) -> u64 {
        let Some(known) = self.writers.get_mut(writer) else {
            return 0;
        };
        let missing = last.saturating_sub(known.account.last);
        if missing > 0 {
            known.lose(known.account.last + 1, last);
            known.account.last = last;
        }
        missing
    }

    /// The account of one writer.
    pub fn account(&self, writer: &Gid) -> Option<&WriterAccount> {
        self.writers.get(writer).map(|known| &known.account)
    }

    /// The accounts of all writers that are not forgotten.
    pub fn accounts(&self) -> impl Iterator<Item = (&Gid, &WriterAccount)> {
        self.writers
            .iter()
            .map(|(gid, known)| (gid, &known.account))
    }

    /// The number of lost samples of all writers.
    pub fn lost(&self) -> u64 {
        let lost = self.writers.values().map(|known| known.account.lost);
        lost.fold(self.forgotten, u64::saturating_add)
    }
}

impl Writer {
    fn step(&mut self, sequence: u64) -> SequenceStep {
        let WriterAccount { first, last, .. } = self.account;
        let step = if sequence > last {
            self.account.last = sequence;
            match self.lose(last + 1, sequence - 1) {
                0 => SequenceStep::Next,
                missing => SequenceStep::Gap(missing),
            }
        } else if sequence < first {
            self.account.first = sequence;
            SequenceStep::Earlier(self.lose(sequence + 1, first - 1))
        } else if self.fill(sequence) {
            self.account.lost -= 1;
            SequenceStep::Late
        } else {
            self.account.duplicates += 1;
            return SequenceStep::Duplicate;
        };
        self.account.received += 1;
        step
    }

    /// Counts the numbers from `first` to `last` as lost; returns how many.
    fn lose(&mut self, first: u64, last: u64) -> u64 {
        if first > last {
            return 0;
        }
        // Both lie strictly inside what a u64 can number, so neither this nor the sum of all gaps overflows.
        let missing = last - first + 1;
        self.account.lost += missing;
        self.remember(Gap { first, last });
        missing
    }

    fn remember(&mut self, gap: Gap) {
        if self.open.len() == MAX_OPEN_GAPS {
            self.open.remove(0);
        }
        self.open.push(gap);
    }

    /// Takes one number out of the open gaps; false if it is in none.
    fn fill(&mut self, sequence: u64) -> bool {
        let Some(at) = self
            .open
            .iter()
            .rposition(|gap| (gap.first..=gap.last).contains(&sequence))
        else {
            return false;
        };
        let gap = self.open.remove(at);
        let parts = [
            (sequence > gap.first).then(|| Gap {
                first: gap.first,
                last: sequence - 1,
            }),
            (sequence < gap.last).then(|| Gap {
                first: sequence + 1,
                last: gap.last,
            }),
        ];
        for part in parts.into_iter().flatten().rev() {
            self.open.insert(at, part);
        }
        if self.open.len() > MAX_OPEN_GAPS {
            self.open.remove(0);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WRITER: Gid = Gid([7; 16]);

    #[test]
    fn samples_before_the_first_are_not_counted() {
        let mut losses = LossTracker::default();
        assert_eq!(losses.sample(WRITER, 1_000), SequenceStep::First);
        assert_eq!(losses.lost(), 0);
    }

    #[test]
    fn samples_up_to_the_announced_last_number_are_lost() {
        let mut losses = LossTracker::default();
        losses.sample(WRITER, 5);
        assert_eq!(losses.writer_ended(&WRITER, 9), 4);
        assert_eq!(losses.writer_ended(&WRITER, 9), 0);
        assert_eq!(losses.writer_ended(&Gid::UNKNOWN, 9), 0);
        assert_eq!(losses.lost(), 4);
    }

    #[test]
    fn sequence_numbers_at_zero_and_u64_max() {
        let mut losses = LossTracker::default();
        assert_eq!(losses.sample(WRITER, u64::MAX), SequenceStep::First);
        assert_eq!(losses.sample(WRITER, u64::MAX), SequenceStep::Duplicate);
        assert_eq!(
            losses.sample(WRITER, 0),
            SequenceStep::Earlier(u64::MAX - 1)
        );
        assert_eq!(losses.writer_ended(&WRITER, u64::MAX), 0);
        assert_eq!(losses.sample(WRITER, 5), SequenceStep::Late);
        assert_eq!(losses.lost(), u64::MAX - 2);
        let other = Gid([8; 16]);
        losses.sample(other, 0);
        losses.sample(other, u64::MAX);
        assert_eq!(losses.lost(), u64::MAX, "the sum saturates");
    }

    #[test]
    fn gaps_are_counted_per_writer() {
        let mut losses = LossTracker::default();
        let (one, two) = (Gid([1; 16]), Gid([2; 16]));
        assert_eq!(losses.sample(one, 10), SequenceStep::First);
        assert_eq!(losses.sample(two, 1), SequenceStep::First);
        assert_eq!(losses.sample(one, 11), SequenceStep::Next);
        assert_eq!(losses.sample(one, 15), SequenceStep::Gap(3));
        assert_eq!(losses.sample(two, 2), SequenceStep::Next);
        assert_eq!(losses.sample(one, 12), SequenceStep::Late);
        assert_eq!(losses.sample(one, 3), SequenceStep::Earlier(6));
        assert_eq!(
            losses.sample(one, u64::MAX),
            SequenceStep::Gap(u64::MAX - 16)
        );
    }

    #[test]
    fn samples_out_of_order_at_the_start_are_not_duplicates() {
        let mut losses = LossTracker::default();
        assert_eq!(losses.sample(WRITER, 4), SequenceStep::First);
        assert_eq!(losses.sample(WRITER, 2), SequenceStep::Earlier(1));
        assert_eq!(losses.sample(WRITER, 1), SequenceStep::Earlier(0));
        assert_eq!(losses.sample(WRITER, 3), SequenceStep::Late);
        let account = losses.account(&WRITER).unwrap();
        assert_eq!((account.received, account.lost), (4, 0));
        assert_eq!((account.first, account.last), (1, 4));
    }

    #[test]
    fn a_sample_that_arrives_after_the_announced_end_is_not_lost() {
        let mut losses = LossTracker::default();
        losses.sample(WRITER, 5);
        losses.writer_ended(&WRITER, 9);
        assert_eq!(losses.sample(WRITER, 7), SequenceStep::Late);
        assert_eq!(losses.lost(), 3);
    }

    #[test]
    fn many_writers_take_bounded_memory_and_their_losses_stay() {
        let mut losses = LossTracker::default();
        let many = 3 * LossTracker::MOST_WRITERS as u64;
        for number in 0..many {
            let mut made_up = Gid::UNKNOWN;
            made_up.0[..8].copy_from_slice(&number.to_le_bytes());
            losses.sample(made_up, 1);
            losses.sample(made_up, 3);
            // A writer that is received all the time is never forgotten.
            assert_ne!(losses.sample(WRITER, number), SequenceStep::Duplicate);
            assert!(losses.accounts().count() <= LossTracker::MOST_WRITERS);
        }
        assert_eq!(losses.lost(), many, "one of each");
        assert_eq!(losses.account(&WRITER).unwrap().received, many);
    }

    proptest! {
        #[test]
        fn received_and_lost_make_up_the_whole(numbers in prop::collection::vec(1u64..60, 1..80)) {
            let mut losses = LossTracker::default();
            for number in &numbers {
                losses.sample(WRITER, *number);
            }
            let account = *losses.account(&WRITER).unwrap();
            let seen: std::collections::BTreeSet<_> = numbers.iter().copied().collect();
            prop_assert_eq!(Some(&account.first), seen.first());
            prop_assert_eq!(Some(&account.last), seen.last());
            prop_assert_eq!(account.received, seen.len() as u64);
            prop_assert_eq!(account.received + account.lost, account.last - account.first + 1);
            prop_assert_eq!(account.received + account.duplicates, numbers.len() as u64);
        }

        /// Any numbers, with announced ends in between: no panic, and the account stays consistent.
        #[test]
        fn any_numbers_keep_the_account_consistent(
            numbers in prop::collection::vec(
                (prop_oneof![any::<u64>(), 0u64..200, (u64::MAX - 200)..=u64::MAX], any::<bool>()),
                1..400,
            ),
        ) {
            let mut losses = LossTracker::default();
            for (number, ends) in numbers {
                if ends {
                    losses.writer_ended(&WRITER, number);
                } else {
                    losses.sample(WRITER, number);
                }
                if let Some(account) = losses.account(&WRITER) {
                    prop_assert_eq!(
                        u128::from(account.received) + u128::from(account.lost),
                        u128::from(account.last) - u128::from(account.first) + 1
                    );
                }
            }
        }
    }
}
