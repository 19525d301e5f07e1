use std::collections::BTreeMap;

use crate::gid::Gid;

/// Counts what is missing from each writer's consecutive numbers.
///
/// Exact between the first and the last sample received of a writer; what lies before and after is unknown and
/// never counted. A sample that comes late, after a gap was counted, takes its place back; one from before the
/// first moves the beginning back. Any numbers a peer may send are taken without a panic.
///
/// Any number of writers is taken in bounded memory: above [`LossTracker::MOST_WRITERS`], those that were silent
/// longest are forgotten. What they lost stays in the sum; one that speaks again begins a new account.
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
    /// Counts the samples: which writer was heard last.
    samples: u64,
    /// What was lost of writers that were forgotten.
    forgotten: u64,
}

#[derive(Clone, Debug)]
struct Writer {
    account: WriterAccount,
    /// The sample by which it was heard last.
    heard: u64,
    /// Gaps that a late sample may still fill, newest last; bounded.
    open: Vec<Gap>,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    first: u64,
    last: u64,
}

/// What is known of one writer's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterAccount {
    /// The lowest number received.
    pub first: u64,
    /// The highest number received.
    pub last: u64,
    /// How many different samples were received.
    pub received: u64,
    /// How many between the first and the last were not.
    pub lost: u64,
    /// How many came twice.
    pub duplicates: u64,
}

/// What a sample's number says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceStep {
    /// The writer's first: how many came before is unknown.
    First,
    /// The next one.
    Next,
    /// This many are missing before it.
    Gap(u64),
    /// It was counted as lost and came after all: one fewer is lost.
    Late,
    /// It is older than the first so far, with this many missing in between: the account now begins with it.
    Earlier(u64),
    /// It was received before.
    Duplicate,
}

/// More open gaps than this are not remembered: a sample later than that many gaps counts as a duplicate.
const MAX_OPEN_GAPS: usize = 64;

impl LossTracker {
    /// More writers than this are not remembered: no robot has as many on one topic.
    pub const MOST_WRITERS: usize = 4096;

    /// Takes in a sample's number.
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

    /// Takes in a sample's number; gives how many are missing right before it.
    ///
    /// For transports, which tell gaps when they see them; what comes late or twice is no gap.
    pub fn gap_before(&mut self, writer: Gid, sequence: u64) -> u64 {
        match self.sample(writer, sequence) {
            SequenceStep::Gap(missing) => missing,
            _ => 0,
        }
    }

    /// Forgets a quarter of the writers, those that were silent longest, if there is no room for another; gives
    /// them, for whoever keeps more of them than is kept here.
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

    /// A writer said that its last number is `last`: what was sent up to there and not received is lost.
    ///
    /// Gives how many more are lost than was known. Nothing for a writer that nothing was received of.
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

    /// What is known of one writer.
    pub fn account(&self, writer: &Gid) -> Option<&WriterAccount> {
        self.writers.get(writer).map(|known| &known.account)
    }

    /// What is known of all writers that are not forgotten.
    pub fn accounts(&self) -> impl Iterator<Item = (&Gid, &WriterAccount)> {
        self.writers
            .iter()
            .map(|(gid, known)| (gid, &known.account))
    }

    /// How many samples are lost in all.
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

    /// Counts the numbers from `first` to `last` as lost; gives how many that are.
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
    fn what_lies_before_the_first_is_not_counted() {
        let mut losses = LossTracker::default();
        assert_eq!(losses.sample(WRITER, 1_000), SequenceStep::First);
        assert_eq!(losses.lost(), 0);
    }

    #[test]
    fn a_writer_that_says_where_it_ended_closes_the_account() {
        let mut losses = LossTracker::default();
        losses.sample(WRITER, 5);
        assert_eq!(losses.writer_ended(&WRITER, 9), 4);
        assert_eq!(losses.writer_ended(&WRITER, 9), 0);
        assert_eq!(losses.writer_ended(&Gid::UNKNOWN, 9), 0);
        assert_eq!(losses.lost(), 4);
    }

    #[test]
    fn the_ends_of_the_numbers_are_no_cliff() {
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
    fn gaps_are_told_per_writer() {
        let mut losses = LossTracker::default();
        let (one, two) = (Gid([1; 16]), Gid([2; 16]));
        let mut before = |writer, sequence| losses.gap_before(writer, sequence);
        assert_eq!(before(one, 10), 0);
        assert_eq!(before(two, 1), 0);
        assert_eq!(before(one, 11), 0);
        assert_eq!(before(one, 15), 3);
        assert_eq!(before(two, 2), 0);
        assert_eq!(before(one, 12), 0, "late, not lost");
        assert_eq!(before(one, 3), 0, "numbers that go back are no loss");
        assert_eq!(before(one, u64::MAX), u64::MAX - 16);
    }

    #[test]
    fn a_start_out_of_order_is_no_duplicate() {
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
    fn what_comes_after_the_end_was_told_takes_its_place_back() {
        let mut losses = LossTracker::default();
        losses.sample(WRITER, 5);
        losses.writer_ended(&WRITER, 9);
        assert_eq!(losses.sample(WRITER, 7), SequenceStep::Late);
        assert_eq!(losses.lost(), 3);
    }

    #[test]
    fn made_up_writers_take_bounded_memory_and_their_losses_stay() {
        let mut losses = LossTracker::default();
        let many = 3 * LossTracker::MOST_WRITERS as u64;
        for number in 0..many {
            let mut made_up = Gid::UNKNOWN;
            made_up.0[..8].copy_from_slice(&number.to_le_bytes());
            losses.sample(made_up, 1);
            losses.sample(made_up, 3);
            // Whoever speaks all the time is never forgotten.
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

        /// Any numbers at all, with ends told in between: no panic, and the account stays whole.
        #[test]
        fn no_peer_can_break_it(
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
