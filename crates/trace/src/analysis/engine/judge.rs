//! Decides the outcome of every message of a source.

use super::Engine;
use crate::analysis::message::{Message, NO_MESSAGE};
use crate::analysis::outcome::{JudgeReason, Outcome};
use crate::analysis::path::Path;

/// Messages of the next hop that are searched: it may use an old input for a while.
const LOOK_AHEAD: usize = 64;
/// The longest path that is followed.
const LONGEST: usize = 1024;

impl Engine {
    /// Decides the outcome of a message for each target that its topic leads to.
    pub(super) fn judge(&mut self, number: u64, occasion: JudgeReason) {
        let Some(message) = self.store.get(number) else {
            return;
        };
        let topic = message.topic;
        if !self.is_source(topic) && !self.scope.starts_segment(topic) {
            return;
        }
        let message = message.clone();
        self.refresh_ends();
        for end in 0..self.targets.ends().len() {
            let Some(place) = self.targets.ends().get(end).copied() else {
                break;
            };
            let target = self.targets.get(place);
            if target.is_some_and(|target| target.judges(topic)) {
                let (outcome, missing) = self.outcome(number, &message, place, occasion);
                self.ledger.add(topic, place, outcome, missing);
            }
        }
    }

    fn outcome(
        &self,
        number: u64,
        message: &Message,
        place: usize,
        occasion: JudgeReason,
    ) -> (Outcome, Option<u32>) {
        if message.has_reached(place) {
            return (Outcome::Completed, None);
        }
        if self.ledger.is_lost(number) {
            return (Outcome::LostInTransport, None);
        }
        if occasion == JudgeReason::NoRoom {
            return (Outcome::Expired, None);
        }
        if occasion == JudgeReason::End && self.may_still_come(message, place) {
            return (Outcome::InFlight, None);
        }
        let (last, missing) = self.where_it_ended(number, place);
        if let Some(hop) = missing
            && self.next_is_untagged(hop, last)
        {
            return (Outcome::NoTag, missing);
        }
        let stuck = last != number && !missing.is_some_and(|hop| self.was_passed(last, hop));
        if stuck {
            return (Outcome::Partial, missing);
        }
        (Outcome::Superseded, missing)
    }

    /// Whether the next hop continued with a newer message of the same topic.
    fn was_passed(&self, number: u64, hop: u32) -> bool {
        let Some((topic, key)) = self
            .store
            .get(number)
            .map(|message| (message.topic, (message.order, number)))
        else {
            return false;
        };
        let mut after = key;
        for _ in 0..LOOK_AHEAD {
            let Some(next) = self.store.next_of_topic(hop, after) else {
                return false;
            };
            let links = self.store.get(next.1).map(|next| &next.links);
            let mut links = links.into_iter().flatten();
            let newer = |message: u64| {
                let used = self.store.key(message).filter(|_| message != NO_MESSAGE);
                used.is_some_and(|used| used > key)
            };
            if links.any(|link| link.topic == topic && newer(link.message)) {
                return true;
            }
            after = next;
        }
        false
    }

    /// Whether a message is younger than the longest duration of its path so far.
    fn may_still_come(&self, message: &Message, place: usize) -> bool {
        let Some(target) = self.targets.get(place) else {
            return false;
        };
        let of_topic = target.paths().iter();
        let of_topic = of_topic.filter(|path| path.source() == Some(message.topic));
        let slowest = of_topic.map(Path::slowest_seen).max().unwrap_or(0);
        let limit = if slowest == 0 {
            self.keep
        } else {
            i64::try_from(slowest).unwrap_or(i64::MAX)
        };
        self.now.saturating_sub(message.arrived) <= limit
    }

    /// The last message that was made of this one, and the topic that should have followed on the path to a target.
    pub(super) fn where_it_ended(&self, number: u64, place: usize) -> (u64, Option<u32>) {
        let (mut last, mut topic) = (number, self.store.get(number).map(|from| from.topic));
        // Messages are made of older ones, so that this ends; a loop in corrupt data is cut by the length.
        for _ in 0..LONGEST {
            let child = self.store.get(last).map(Message::child);
            let Some((child, next)) = child.and_then(|child| Some((child, self.store.get(child)?)))
            else {
                break;
            };
            last = child;
            topic = Some(next.topic);
        }
        let target = self.targets.get(place);
        let missing = target.zip(topic);
        let missing = missing.and_then(|(target, topic)| target.next_hop(topic));
        (last, missing)
    }

    /// Whether the first record of the topic since another message arrived is one without a tag: the message itself, or
    /// that an output was made of it.
    fn next_is_untagged(&self, topic: u32, number: u64) -> bool {
        let Some(since) = self.store.get(number).map(|message| message.arrived) else {
            return false;
        };
        let until = since.saturating_add(self.keep);
        let key = self.store.key(number);
        let next = key.and_then(|key| self.store.next_of_topic(topic, key));
        let next = next.and_then(|(_, next)| self.store.get(next));
        let next = next.filter(|next| next.arrived <= until);
        let named = self.named_since(topic, since).filter(|at| *at <= until);
        match (next, named) {
            (Some(next), Some(named)) if named < next.arrived => true,
            (Some(next), _) => self.marks.is_tagged(topic) && !next.is_tagged(),
            (None, named) => named.is_some(),
        }
    }

    /// The time at which a message of the topic that never arrived was first named as an input.
    fn named_since(&self, topic: u32, since: i64) -> Option<i64> {
        let targets = self.waiting.of_topic(topic);
        let arrived = targets.filter_map(|target| Some(self.store.get(target)?.arrived));
        arrived.filter(|arrived| *arrived >= since).min()
    }
}
