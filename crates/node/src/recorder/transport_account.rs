use std::collections::BTreeMap;

use timeloom_bag::UnknownMessages;
use timeloom_wire::{Gid, LossTracker, SequenceStep, WriterAccount};

/// The account of one topic up to the recorder: which samples are missing and why, and what is unknown.
///
/// Losses are gaps in the sequence numbers of a writer, as [`LossTracker`] counts them; here each gap gets its cause.
#[derive(Debug, Default)]
pub(super) struct TransportAccount {
    tracker: LossTracker,
    writers: BTreeMap<Gid, Writer>,
    /// The missing samples of all writers, including forgotten ones.
    sums: Sums,
    /// The unknown samples of forgotten writers: more were seen than are remembered.
    forgotten: UnknownMessages,
}

#[derive(Debug, Default)]
struct Writer {
    /// Samples that are missing between those received.
    gaps: Missing,
    /// Whether its last sample was wanted.
    wanted: bool,
    /// The last sequence number that it has announced.
    last_announced: u64,
    end: End,
}

/// Missing samples by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missing {
    /// Lost in transport.
    pub(super) transport: u64,
    /// Lost in transport because the recorder did not take messages.
    pub(super) backpressure: u64,
    /// Missing while the recording was paused.
    pub(super) paused: u64,
}

/// The sum over many writers; wide enough for any numbers that peers send.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    transport: u128,
    backpressure: u128,
    paused: u128,
}

/// Whether the last sample of a publisher is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// It is still here.
    #[default]
    Ahead,
    /// All its samples are accounted for.
    Known,
    /// It may have sent more samples.
    Open,
}

/// Whether the recorder wants the samples that arrive now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Yes,
    /// Yes, but its full queue has blocked the middleware.
    UnderPressure,
    No,
}

impl TransportAccount {
    /// Counts a sample; false if it is a duplicate.
    pub(super) fn sample(&mut self, gid: Gid, sequence: Option<u64>, wanted: Wanted) -> bool {
        let Some(sequence) = sequence else {
            // Without numbers, losses cannot be seen.
            self.settle(&gid, End::Open);
            return true;
        };
        self.make_room();
        let step = self.tracker.sample(gid, sequence);
        if step == SequenceStep::Duplicate {
            return false;
        }
        self.change(gid, |writer| {
            let between = if writer.wanted || step == SequenceStep::First {
                wanted
            } else {
                Wanted::No
            };
            writer.wanted = wanted != Wanted::No;
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

    /// Changes a writer and updates the sums.
    fn change(&mut self, gid: Gid, change: impl FnOnce(&mut Writer)) {
        let writer = self.writers.entry(gid).or_default();
        let before = writer.gaps;
        change(writer);
        self.sums.replace(&before, &writer.gaps);
    }

    /// Forgets the writers that were silent longest, if there are too many.
    fn make_room(&mut self) {
        for (gid, account) in self.tracker.make_room() {
            let mut writer = self.writers.remove(&gid).unwrap_or_default();
            writer.forget();
            self.forgotten.merge(&unknown(Some(&account), &writer));
        }
        // Nothing was received from the others.
        if self.writers.len() > 2 * LossTracker::MOST_WRITERS {
            let (tracker, forgotten) = (&self.tracker, &mut self.forgotten);
            self.writers.retain(|gid, writer| {
                let stays = tracker.account(gid).is_some();
                if !stays {
                    writer.forget();
                    forgotten.merge(&unknown(None, writer));
                }
                stays
            });
        }
    }

    /// A writer announced `last` as its last number: samples up to it that were not received are missing.
    pub(super) fn last_announced(&mut self, gid: &Gid, last: u64, wanted: Wanted) {
        self.make_room();
        let missing = self.tracker.writer_ended(gid, last);
        self.change(*gid, |writer| {
            writer.last_announced = writer.last_announced.max(last);
            let wanted = if writer.wanted { wanted } else { Wanted::No };
            writer.gaps.add(wanted, missing);
        });
    }

    /// A writer appeared, for the first time or again.
    pub(super) fn came(&mut self, gid: &Gid) {
        if let Some(writer) = self.writers.get_mut(gid) {
            writer.end = End::Ahead;
        }
    }

    /// Sets whether the end of a writer is known, whether samples of it arrived or not.
    pub(super) fn settle(&mut self, gid: &Gid, end: End) {
        self.make_room();
        self.writers.entry(*gid).or_default().end = end;
    }

    /// The highest number received from a writer.
    pub(super) fn last_seen_of(&self, gid: &Gid) -> Option<u64> {
        self.tracker.account(gid).map(|account| account.last)
    }

    /// The highest number received from each writer.
    pub(super) fn last_seen(&self) -> Vec<(Gid, u64)> {
        let accounts = self.tracker.accounts();
        accounts
            .map(|(gid, account)| (*gid, account.last))
            .collect()
    }

    /// The missing samples of all writers.
    pub(super) fn missing(&self) -> Missing {
        let narrow = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
        Missing {
            transport: narrow(self.sums.transport),
            backpressure: narrow(self.sums.backpressure),
            paused: narrow(self.sums.paused),
        }
    }

    /// The samples that may be missing.
    pub(super) fn unknown(&self) -> UnknownMessages {
        let mut all = self.forgotten;
        for (gid, writer) in &self.writers {
            all.merge(&unknown(self.tracker.account(gid), writer));
        }
        all
    }
}

impl Missing {
    fn add(&mut self, wanted: Wanted, missing: u64) {
        let slot = match wanted {
            Wanted::Yes => &mut self.transport,
            Wanted::UnderPressure => &mut self.backpressure,
            Wanted::No => &mut self.paused,
        };
        *slot = slot.saturating_add(missing);
    }

    /// A sample arrived late. Its gap is not remembered: the most likely cause of a late sample comes first.
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
    /// It is no longer tracked: unless its end is known, it may send more.
    fn forget(&mut self) {
        if self.end == End::Ahead {
            self.end = End::Open;
        }
    }
}

/// The unknown samples of a writer; it has an account if a sample of it arrived.
fn unknown(account: Option<&WriterAccount>, writer: &Writer) -> UnknownMessages {
    let before = match account {
        Some(account) => account.first.saturating_sub(1),
        // It announced samples, and none of them arrived.
        None => writer.last_announced,
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
            account.sample(gid, Some(*number), Wanted::Yes);
        }
    }

    #[test]
    fn a_duplicate_is_refused_and_a_late_sample_is_taken() {
        let mut account = TransportAccount::default();
        feed(&mut account, ONE, &[1, 2, 4]);
        assert!(!account.sample(ONE, Some(2), Wanted::Yes));
        assert!(account.sample(ONE, Some(3), Wanted::Yes));
        assert_eq!(lost(&account), 0);
        assert!(account.sample(ONE, None, Wanted::Yes));
    }

    #[test]
    fn samples_missing_while_paused_are_not_lost() {
        let mut account = TransportAccount::default();
        feed(&mut account, ONE, &[1, 2]);
        account.sample(ONE, Some(5), Wanted::No);
        account.sample(ONE, Some(9), Wanted::No);
        account.sample(ONE, Some(12), Wanted::Yes);
        let missing = |transport| Missing {
            transport,
            backpressure: 0,
            // 3 and 4, 6 to 8, 10 and 11.
            paused: 7,
        };
        assert_eq!(account.missing(), missing(0));
        feed(&mut account, ONE, &[14]);
        assert_eq!(account.missing(), missing(1));
        account.sample(ONE, Some(13), Wanted::No);
        assert_eq!(account.missing(), missing(0), "late");
    }

    #[test]
    fn samples_lost_while_our_queue_is_full_are_lost_by_the_recorder() {
        let mut account = TransportAccount::default();
        feed(&mut account, ONE, &[1, 3]);
        account.sample(ONE, Some(9), Wanted::UnderPressure);
        let missing = |transport, backpressure| Missing {
            transport,
            backpressure,
            paused: 0,
        };
        assert_eq!(account.missing(), missing(1, 5));
        feed(&mut account, ONE, &[4, 5]);
        assert_eq!(account.missing(), missing(0, 4), "two came late");
    }

    #[test]
    fn publishers_without_a_known_end_are_open() {
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
        account.settle(&THREE, End::Open);
        assert_eq!(account.unknown(), unknown(4, 2), "nothing arrived from it");
        account.came(&ONE);
        assert_eq!(account.unknown(), unknown(4, 1), "it is back");
        account.sample(Gid([4; 16]), None, Wanted::Yes);
        assert_eq!(account.unknown(), unknown(4, 2), "no sequence numbers");
    }

    #[test]
    fn announced_samples_that_did_not_arrive_are_lost() {
        let mut account = TransportAccount::default();
        feed(&mut account, ONE, &[1, 2]);
        account.last_announced(&ONE, 1, Wanted::Yes);
        assert_eq!(lost(&account), 0);
        account.last_announced(&ONE, 5, Wanted::Yes);
        assert_eq!(lost(&account), 3);
        feed(&mut account, ONE, &[4]);
        assert_eq!(lost(&account), 2);
        feed(&mut account, ONE, &[6]);
        assert_eq!(lost(&account), 2);
        assert_eq!(account.last_seen(), [(ONE, 6)]);
        assert_eq!(account.last_seen_of(&ONE), Some(6));
        account.last_announced(&ONE, 9, Wanted::No);
        assert_eq!(lost(&account), 2, "not asked for");
        account.last_announced(&TWO, 9, Wanted::Yes);
        assert_eq!(lost(&account), 2, "nothing arrived from it");
        assert_eq!(account.unknown().before_first, 9, "up to all of them");
    }

    #[test]
    fn many_writers_take_bounded_memory_and_the_account_still_adds_up() {
        let mut account = TransportAccount::default();
        let many = 3 * LossTracker::MOST_WRITERS;
        for number in 0..many {
            let mut gid = Gid([9; 16]);
            gid.0[..8].copy_from_slice(&(number as u64).to_le_bytes());
            feed(&mut account, gid, &[2, 4]);
            gid.0[15] = 10;
            account.last_announced(&gid, 1, Wanted::Yes);
            assert!(account.writers.len() <= 2 * LossTracker::MOST_WRITERS + 1);
        }
        assert_eq!(lost(&account), many as u64, "one gap each");
        let followed: Vec<Gid> = account.writers.keys().copied().collect();
        for gid in followed {
            account.settle(&gid, End::Open);
        }
        let unknown = account.unknown();
        assert_eq!(
            (unknown.before_first, unknown.open_publishers),
            (2 * many as u64, 2 * many as u64)
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
                fresh += u64::from(account.sample(gid, Some(*number), Wanted::Yes));
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
