//! The outcomes of every message of every source, and the counts of recorders.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::names::index;
use super::options::{AccountOf, AccountScope, RecorderAccount};
use super::outcome::{Outcome, Outcomes};

/// Messages that are kept although only their outputs are known, in case they arrive late.
const MOST_STAND_INS: usize = 1 << 14;

#[derive(Debug, Default)]
pub(super) struct Ledger {
    verdicts: Verdicts,
    /// Known messages of each topic.
    heard: Vec<u64>,
    /// Links to messages that were no longer in memory, by topic.
    named_too_late: HashMap<u32, u64>,
    /// Topic and stamp of messages whose outcome was decided by their outputs.
    stand_ins: HashSet<(u32, i64)>,
    stand_ins_by_age: VecDeque<(u32, i64)>,
    /// Messages that a subscriber reported as lost.
    lost: HashSet<u64>,
    /// The accounts of recorders.
    accounts: HashMap<(u32, AccountOf), (RecorderAccount, AccountScope)>,
}

/// The outcomes so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdicts {
    outcomes: HashMap<(u32, usize), Outcomes>,
    ended_at: BTreeMap<EndedAt, u64>,
}

/// The ends of messages of a source, as seen from a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct EndedAt {
    source: u32,
    place: usize,
    hop: u32,
    superseded: bool,
}

impl Ledger {
    /// Records the outcome of a message of a source for a target, and the topic at which it ended.
    pub(super) fn add(&mut self, source: u32, place: usize, outcome: Outcome, hop: Option<u32>) {
        let outcomes = self.verdicts.outcomes.entry((source, place)).or_default();
        outcomes.add(outcome, 1);
        if let Some(hop) = hop {
            let at = EndedAt {
                source,
                place,
                hop,
                superseded: outcome == Outcome::Superseded,
            };
            *self.verdicts.ended_at.entry(at).or_default() += 1;
        }
    }

    /// The outcomes so far, to be restored after a report.
    pub(super) fn verdicts(&self) -> Verdicts {
        self.verdicts.clone()
    }

    pub(super) fn restore(&mut self, verdicts: Verdicts) {
        self.verdicts = verdicts;
    }

    /// Counts a message of a topic.
    pub(super) fn hear(&mut self, topic: u32) {
        let place = index(topic);
        if self.heard.len() <= place {
            self.heard.resize(place + 1, 0);
        }
        if let Some(heard) = self.heard.get_mut(place) {
            *heard += 1;
        }
    }

    /// Counts a link to a message that is no longer in memory.
    pub(super) fn name_too_late(&mut self, topic: u32) {
        *self.named_too_late.entry(topic).or_default() += 1;
    }

    /// Links to messages that were no longer in memory.
    pub(super) fn named_too_late(&self) -> u64 {
        self.named_too_late.values().sum()
    }

    /// Keeps a message whose outcome was decided before it arrived.
    pub(super) fn remember_stand_in(&mut self, topic: u32, stamp: i64) {
        if self.stand_ins.insert((topic, stamp)) {
            self.stand_ins_by_age.push_back((topic, stamp));
        }
        if self.stand_ins.len() > MOST_STAND_INS
            && let Some(oldest) = self.stand_ins_by_age.pop_front()
        {
            self.stand_ins.remove(&oldest);
        }
    }

    /// Whether the outcome of a message was decided before it arrived.
    pub(super) fn is_judged(&self, topic: u32, stamp: i64) -> bool {
        !self.stand_ins.is_empty() && self.stand_ins.contains(&(topic, stamp))
    }

    /// Records that a subscriber did not get a message.
    pub(super) fn lose(&mut self, number: u64) {
        self.lost.insert(number);
    }

    pub(super) fn is_lost(&self, number: u64) -> bool {
        self.lost.contains(&number)
    }

    /// Removes a message that was judged.
    pub(super) fn forget(&mut self, number: u64) {
        self.lost.remove(&number);
    }

    pub(super) fn set_account(
        &mut self,
        topic: u32,
        of: AccountOf,
        account: RecorderAccount,
        scope: AccountScope,
    ) {
        self.accounts.insert((topic, of), (account, scope));
    }

    /// Number of tags of a topic that the recorder lost.
    pub(super) fn tags_lost_in_recorder(&self, topic: u32) -> u64 {
        let account = self.accounts.get(&(topic, AccountOf::Tags));
        account.map_or(0, |(account, _)| account.in_recorder)
    }

    /// The outcomes of a source as seen from a target: the judged messages, and those that are missing by the
    /// recorder's account and by the numbers of the tags (`numbered`). `name` returns the name of a topic.
    pub(super) fn outcomes(
        &self,
        source: u32,
        place: usize,
        numbered: u64,
        name: impl Fn(u32) -> String,
    ) -> Outcomes {
        let outcomes = self.verdicts.outcomes.get(&(source, place));
        let mut outcomes = outcomes.cloned().unwrap_or_default();
        let ends = self.verdicts.ended_at.iter();
        for (at, count) in ends.filter(|(at, _)| at.source == source && at.place == place) {
            let hops = if at.superseded {
                &mut outcomes.superseded_at
            } else {
                &mut outcomes.missing_hops
            };
            hops.insert(name(at.hop), *count);
        }
        self.add_unjudged(source, &mut outcomes);
        self.add_lost(source, numbered, &mut outcomes);
        outcomes
    }

    /// Messages that were dropped before any path led from them to the target: no output was made of them, unless one
    /// named them too late.
    fn add_unjudged(&self, source: u32, outcomes: &mut Outcomes) {
        let heard = self.heard.get(index(source)).copied().unwrap_or(0);
        let unjudged = heard.saturating_sub(outcomes.total());
        let too_late = self.named_too_late.get(&source).copied().unwrap_or(0);
        let expired = unjudged.min(too_late);
        outcomes.add(Outcome::Expired, expired);
        outcomes.add(Outcome::Superseded, unjudged - expired);
    }

    fn add_lost(&self, source: u32, numbered: u64, outcomes: &mut Outcomes) {
        let known = outcomes.total();
        let account = |of| self.accounts.get(&(source, of)).copied();
        let accounts = [account(AccountOf::Messages), account(AccountOf::Tags)];
        let accounts = accounts.into_iter().flatten();
        let whole = accounts
            .clone()
            .filter(|(_, scope)| *scope == AccountScope::Whole);
        let counted = whole.map(|(account, _)| account.published()).max();
        let published = known.max(counted.unwrap_or(0)).max(numbered);
        let lost = published - known;
        let in_recorder = accounts.map(|(account, _)| account.in_recorder).max();
        let in_recorder = in_recorder.unwrap_or(0).min(lost);
        outcomes.add(Outcome::LostInRecorder, in_recorder);
        outcomes.add(Outcome::LostInTransport, lost - in_recorder);
    }
}
