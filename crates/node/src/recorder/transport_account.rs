use std::collections::BTreeMap;

use timeloom_bag::UnknownMessages;
use timeloom_wire::{Gid, LossKnowledge, LossTracker, SequenceStep, WriterAccount};

/// What is known of the samples of one topic before they reach the recorder.
///
/// A loss is seen by gaps in a writer's numbers and by the middleware's own count. The two overlap: per writer, the
/// one that knows more counts.
#[derive(Debug, Default)]
pub(super) struct TransportAccount {
    tracker: LossTracker,
    writers: BTreeMap<Gid, Writer>,
    /// What is missing of all writers with a name, those that are forgotten included.
    sums: Sums,
    /// What is not known of writers that are forgotten, because more were seen than are remembered.
    forgotten: UnknownMessages,
}

#[derive(Debug, Default)]
struct Writer {
    /// Missing between its samples.
    gaps: Missing,
    /// Lost as the middleware counts, while they were to be recorded.
    told: u64,
    /// How many of those while our own queue held the middleware up.
    told_backpressure: u64,
    /// Whether its last sample was to be recorded.
    wanted: bool,
    /// The last number that it has said it has sent.
    last_told: u64,
    end: End,
}

/// What is missing, by what is to blame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missing {
    /// Lost on the way.
    pub(super) transport: u64,
    /// Lost on the way because the recorder did not take messages.
    pub(super) backpressure: u64,
    /// Missing while nothing was to be recorded.
    pub(super) paused: u64,
}

/// The same of many writers: wide enough for whatever numbers peers make up.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    transport: u128,
    backpressure: u128,
    paused: u128,
}

/// What is known of a publisher's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// It is here, as far as is known.
    #[default]
    Ahead,
    /// All that it sent up to the end is accounted for.
    Known,
    /// It may have sent more than is known.
    Open,
}

/// Whether the recorder wants what comes now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Yes,
    /// Yes, and its own queue has held up the middleware.
    UnderPressure,
    No,
}

impl TransportAccount {
    /// Takes in a sample's number; false if that sample came before.
    pub(super) fn sample(&mut self, gid: Gid, sequence: Option<u64>, asked: Asked) -> bool {
        let Some(sequence) = sequence else {
            return true;
        };
        self.make_room();
        let step = self.tracker.sample(gid, sequence);
        if step == SequenceStep::Duplicate {
            return false;
        }
        self.change(gid, |writer| {
            let between = if writer.wanted || step == SequenceStep::First {
                asked
            } else {
                Asked::No
            };
            writer.wanted = asked != Asked::No;
            match step {
                SequenceStep::Gap(missing) | SequenceStep::Earlier(missing) => {
                    writer.gaps.add(between, missing);
                }
                SequenceStep::Late => writer.gaps.take_one_back(),
                SequenceStep::First | SequenceStep::Next | SequenceStep::Duplicate => {}
            }
        });
        true
    }

    /// Takes in the middleware's own count of a writer's losses.
    pub(super) fn told(&mut self, gid: Gid, change: u64, how: LossKnowledge, asked: Asked) {
        // Gaps are counted here already, sample by sample.
        if how == LossKnowledge::Status && asked != Asked::No {
            self.make_room();
            self.change(gid, |writer| {
                writer.told = writer.told.saturating_add(change);
                if asked == Asked::UnderPressure {
                    writer.told_backpressure = writer.told_backpressure.saturating_add(change);
                }
            });
        }
    }

    /// Changes a writer and keeps the sums.
    fn change(&mut self, gid: Gid, change: impl FnOnce(&mut Writer)) {
        let writer = self.writers.entry(gid).or_default();
        let before = writer.missing();
        change(writer);
        // Losses without a writer are compared with the sum over all writers.
        if gid != Gid::UNKNOWN {
            self.sums.replace(&before, &writer.missing());
        }
    }

    /// Closes the accounts of those that were silent longest, if there are too many.
    fn make_room(&mut self) {
        for (gid, account) in self.tracker.make_room() {
            let mut writer = self.writers.remove(&gid).unwrap_or_default();
            writer.forget();
            self.forgotten.merge(&unknown(Some(&account), &writer));
        }
        // Of the others, something was told and nothing came.
        if self.writers.len() > 2 * LossTracker::MOST_WRITERS {
            let (tracker, forgotten) = (&self.tracker, &mut self.forgotten);
            self.writers.retain(|gid, writer| {
                let stays = *gid == Gid::UNKNOWN || tracker.account(gid).is_some();
                if !stays {
                    writer.forget();
                    forgotten.merge(&unknown(None, writer));
                }
                stays
            });
        }
    }

    /// A writer said that `last` is its last number: what is missing up to there is lost.
    pub(super) fn last_told(&mut self, gid: &Gid, last: u64, asked: Asked) {
        self.make_room();
        let missing = self.tracker.writer_ended(gid, last);
        self.change(*gid, |writer| {
            writer.last_told = writer.last_told.max(last);
            let asked = if writer.wanted { asked } else { Asked::No };
            writer.gaps.add(asked, missing);
        });
    }

    /// A writer is here, for the first time or again.
    pub(super) fn came(&mut self, gid: &Gid) {
        if let Some(writer) = self.writers.get_mut(gid) {
            writer.end = End::Ahead;
        }
    }

    /// What is known of the end of a writer, whether something came of it or not.
    pub(super) fn settle(&mut self, gid: &Gid, end: End) {
        self.make_room();
        self.writers.entry(*gid).or_default().end = end;
    }

    /// The highest number that came of a writer.
    pub(super) fn last_seen_of(&self, gid: &Gid) -> Option<u64> {
        self.tracker.account(gid).map(|account| account.last)
    }

    /// The writers with the highest number that came of each.
    pub(super) fn last_seen(&self) -> Vec<(Gid, u64)> {
        let accounts = self.tracker.accounts();
        accounts
            .map(|(gid, account)| (*gid, account.last))
            .collect()
    }

    /// What is missing of all writers.
    pub(super) fn missing(&self) -> Missing {
        let narrow = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
        let unnamed = self.writers.get(&Gid::UNKNOWN).map_or(0, |w| w.told);
        let named = self.sums.transport + self.sums.backpressure;
        let lost = named.max(unnamed.into());
        Missing {
            transport: narrow(lost - self.sums.backpressure),
            backpressure: narrow(self.sums.backpressure),
            paused: narrow(self.sums.paused),
        }
    }

    /// What may be missing and cannot be known.
    pub(super) fn unknown(&self) -> UnknownMessages {
        let mut all = self.forgotten;
        for (gid, writer) in &self.writers {
            all.merge(&unknown(self.tracker.account(gid), writer));
        }
        all
    }
}

impl Missing {
    fn add(&mut self, asked: Asked, missing: u64) {
        let slot = match asked {
            Asked::Yes => &mut self.transport,
            Asked::UnderPressure => &mut self.backpressure,
            Asked::No => &mut self.paused,
        };
        *slot = slot.saturating_add(missing);
    }

    /// One came late. Which gap it was in is not remembered: the likeliest cause for a late message comes first.
    fn take_one_back(&mut self) {
        let slots = [
            &mut self.transport,
            &mut self.backpressure,
            &mut self.paused,
        ];
        if let Some(slot) = slots.into_iter().find(|slot| **slot > 0) {
            *slot -= 1;
        }
    }
}

impl Sums {
    fn replace(&mut self, before: &Missing, after: &Missing) {
        let change = |sum: &mut u128, before: u64, after: u64| {
            *sum = (*sum + u128::from(after)).saturating_sub(before.into());
        };
        change(&mut self.transport, before.transport, after.transport);
        change(
            &mut self.backpressure,
            before.backpressure,
            after.backpressure,
        );
        change(&mut self.paused, before.paused, after.paused);
    }
}

impl Writer {
    fn missing(&self) -> Missing {
        let gaps = self.gaps.transport.saturating_add(self.gaps.backpressure);
        let lost = gaps.max(self.told);
        let backpressure = self.gaps.backpressure.max(self.told_backpressure).min(lost);
        Missing {
            transport: lost - backpressure,
            backpressure,
            paused: self.gaps.paused,
        }
    }

    /// It is not followed any longer: unless its end is known, it may send more.
    fn forget(&mut self) {
        if self.end == End::Ahead {
            self.end = End::Open;
        }
    }
}

/// What is not known of a writer; its account is there if something came of it.
fn unknown(account: Option<&WriterAccount>, writer: &Writer) -> UnknownMessages {
    let before = match account {
        // Told losses may lie before the first sample.
        Some(account) => {
            let gaps = writer
                .gaps
                .transport
                .saturating_add(writer.gaps.backpressure);
            let explained = writer.told.saturating_sub(gaps);
            account.first.saturating_sub(1).saturating_sub(explained)
        }
        // It told of messages, and none of them came.
        None => writer.last_told.saturating_sub(writer.told),
    };
    UnknownMessages {
        before_first: before,
        open_publishers: u64::from(writer.end == End::Open),
        ..UnknownMessages::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: Gid = Gid([1; 16]);
    const TWO: Gid = Gid([2; 16]);
    const THREE: Gid = Gid([3; 16]);

    fn lost(account: &TransportAccount) -> u64 {
        account.missing().transport
    }

    fn feed(account: &mut TransportAccount, gid: Gid, numbers: &[u64]) {
        for number in numbers {
            account.sample(gid, Some(*number), Asked::Yes);
        }
    }

    #[test]
    fn gaps_and_the_middlewares_count_are_not_added() {
        let mut account = TransportAccount::default();
        feed(&mut account, ONE, &[3, 6]);
        assert_eq!(lost(&account), 2);
        account.told(ONE, 2, LossKnowledge::Status, Asked::Yes);
        assert_eq!(lost(&account), 2, "the same two");
        account.told(ONE, 1, LossKnowledge::Status, Asked::Yes);
        assert_eq!(lost(&account), 3, "one before the first or after the last");
        account.told(ONE, 9, LossKnowledge::SequenceGaps, Asked::Yes);
        assert_eq!(lost(&account), 3, "gaps are counted here");
        feed(&mut account, TWO, &[1, 3]);
        assert_eq!(lost(&account), 4);
        account.told(Gid::UNKNOWN, 4, LossKnowledge::Status, Asked::Yes);
        assert_eq!(lost(&account), 4);
        account.told(Gid::UNKNOWN, 2, LossKnowledge::Status, Asked::Yes);
        assert_eq!(lost(&account), 6);
    }

    #[test]
    fn a_sample_that_comes_again_is_refused_and_a_late_one_taken() {
        let mut account = TransportAccount::default();
        feed(&mut account, ONE, &[1, 2, 4]);
        assert!(!account.sample(ONE, Some(2), Asked::Yes));
        assert!(account.sample(ONE, Some(3), Asked::Yes));
        assert_eq!(lost(&account), 0);
        assert!(account.sample(ONE, None, Asked::Yes));
    }

    #[test]
    fn what_is_missed_while_paused_is_not_lost() {
        let mut account = TransportAccount::default();
        feed(&mut account, ONE, &[1, 2]);
        account.sample(ONE, Some(5), Asked::No);
        account.sample(ONE, Some(9), Asked::No);
        account.sample(ONE, Some(12), Asked::Yes);
        account.told(ONE, 7, LossKnowledge::Status, Asked::No);
        let missing = |transport| Missing {
            transport,
            backpressure: 0,
            // 3 and 4, 6 to 8, 10 and 11.
            paused: 7,
        };
        assert_eq!(account.missing(), missing(0));
        feed(&mut account, ONE, &[14]);
        assert_eq!(account.missing(), missing(1));
        account.sample(ONE, Some(13), Asked::No);
        assert_eq!(account.missing(), missing(0), "late");
    }

    #[test]
    fn what_is_lost_while_our_queue_is_full_is_our_loss() {
        let mut account = TransportAccount::default();
        feed(&mut account, ONE, &[1, 3]);
        account.sample(ONE, Some(9), Asked::UnderPressure);
        account.told(TWO, 4, LossKnowledge::Status, Asked::UnderPressure);
        let missing = |transport, backpressure| Missing {
            transport,
            backpressure,
            paused: 0,
        };
        assert_eq!(account.missing(), missing(1, 5 + 4));
        feed(&mut account, ONE, &[4, 5]);
        assert_eq!(account.missing(), missing(0, 4 + 4), "two came late");
        account.told(Gid::UNKNOWN, 10, LossKnowledge::Status, Asked::Yes);
        assert_eq!(account.missing(), missing(2, 4 + 4));
    }

    #[test]
    fn what_cannot_be_known_is_said() {
        let mut account = TransportAccount::default();
        assert_eq!(account.unknown(), UnknownMessages::default());
        feed(&mut account, ONE, &[5]);
        feed(&mut account, TWO, &[1]);
        let unknown = |before_first, open_publishers| UnknownMessages {
            before_first,
            open_publishers,
            ..UnknownMessages::default()
        };
        assert_eq!(account.unknown(), unknown(4, 0), "both are here");
        account.settle(&ONE, End::Open);
        account.settle(&TWO, End::Known);
        assert_eq!(account.unknown(), unknown(4, 1));
        account.told(ONE, 1, LossKnowledge::Status, Asked::Yes);
        assert_eq!(account.unknown(), unknown(3, 1));
        account.settle(&THREE, End::Open);
        assert_eq!(account.unknown(), unknown(3, 2), "nothing came of it");
        account.came(&ONE);
        assert_eq!(account.unknown(), unknown(3, 1), "it is back");
    }

    #[test]
    fn what_a_writer_tells_of_and_did_not_come_is_lost() {
        let mut account = TransportAccount::default();
        feed(&mut account, ONE, &[1, 2]);
        account.last_told(&ONE, 1, Asked::Yes);
        assert_eq!(lost(&account), 0);
        account.last_told(&ONE, 5, Asked::Yes);
        assert_eq!(lost(&account), 3);
        feed(&mut account, ONE, &[4]);
        assert_eq!(lost(&account), 2);
        feed(&mut account, ONE, &[6]);
        assert_eq!(lost(&account), 2);
        assert_eq!(account.last_seen(), [(ONE, 6)]);
        assert_eq!(account.last_seen_of(&ONE), Some(6));
        account.last_told(&ONE, 9, Asked::No);
        assert_eq!(lost(&account), 2, "not asked for");
        account.last_told(&TWO, 9, Asked::Yes);
        assert_eq!(lost(&account), 2, "nothing came of it");
        assert_eq!(account.unknown().before_first, 9, "up to all of them");
    }

    #[test]
    fn made_up_writers_take_bounded_memory_and_the_account_still_adds_up() {
        let mut account = TransportAccount::default();
        let many = 3 * LossTracker::MOST_WRITERS;
        for number in 0..many {
            let mut gid = Gid([9; 16]);
            gid.0[..8].copy_from_slice(&(number as u64).to_le_bytes());
            feed(&mut account, gid, &[2, 4]);
            account.told(gid, 3, LossKnowledge::Status, Asked::Yes);
            gid.0[15] = 10;
            account.told(gid, 1, LossKnowledge::Status, Asked::Yes);
            assert!(account.writers.len() <= 2 * LossTracker::MOST_WRITERS + 1);
        }
        // Of each, three are told, one of them is the gap; of a silent one beside it, one is told.
        assert_eq!(lost(&account), 4 * many as u64);
        let followed: Vec<Gid> = account.writers.keys().copied().collect();
        for gid in followed {
            account.settle(&gid, End::Open);
        }
        let unknown = account.unknown();
        assert_eq!(
            (unknown.before_first, unknown.open_publishers),
            (0, 2 * many as u64)
        );
        assert!(account.last_seen().len() <= LossTracker::MOST_WRITERS);
    }

    proptest! {
        /// Whatever comes, in whatever order and however often: fresh and lost make up each writer's stretch.
        #[test]
        fn fresh_and_lost_make_up_the_stretch(
            samples in prop::collection::vec((any::<bool>(), 1u64..40), 1..100),
        ) {
            let mut account = TransportAccount::default();
            let mut fresh = 0;
            for (first, number) in &samples {
                let gid = if *first { ONE } else { TWO };
                fresh += u64::from(account.sample(gid, Some(*number), Asked::Yes));
            }
            let mut stretch = 0;
            for gid in [ONE, TWO] {
                let numbers = || samples.iter().filter(|(first, _)| *first == (gid == ONE)).map(|(_, n)| *n);
                if let (Some(low), Some(high)) = (numbers().min(), numbers().max()) {
                    stretch += high - low + 1;
                }
            }
            prop_assert_eq!(fresh + lost(&account), stretch);
        }
    }
}
