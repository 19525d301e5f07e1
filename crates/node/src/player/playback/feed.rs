use std::collections::BTreeMap;
use std::sync::Arc;

use timeloom_bag::TopicId;

use super::super::loader::{LoaderQueries, Query};
use super::super::read_ahead::{Block, ReadAhead, ReadPlan, Taken};
use super::super::source::{Item, Part};

/// The messages to publish, from the read-ahead.
pub(in super::super) struct MessageFeed {
    read_ahead: Arc<ReadAhead>,
    queries: Arc<LoaderQueries>,
    /// Messages at hand.
    block: Block,
    is_starving: bool,
}

/// The next message.
pub(super) enum NextMessage {
    /// A message: its time in the bag.
    Message(i64, Part),
    /// Nothing is read yet.
    Starved,
    /// There are no more messages.
    End,
}

impl MessageFeed {
    pub(in super::super) fn new(read_ahead: &Arc<ReadAhead>, queries: &Arc<LoaderQueries>) -> Self {
        Self {
            read_ahead: Arc::clone(read_ahead),
            queries: Arc::clone(queries),
            block: Block::default(),
            is_starving: false,
        }
    }

    /// The next message. `last` gives the time of the last published message of a topic: latched messages that every
    /// subscription has already are dropped.
    pub(super) fn front(&mut self, last: impl Fn(TopicId) -> Option<i64>) -> NextMessage {
        loop {
            if self.block.epoch == self.read_ahead.epoch()
                && let Some(item) = self.block.items.front()
            {
                self.is_starving = false;
                return NextMessage::Message(item.time, item.part);
            }
            match self.read_ahead.take() {
                Taken::Block(block) => {
                    self.block = block;
                    self.drop_known_latched(&last);
                }
                Taken::Starved => return NextMessage::Starved,
                Taken::End => return NextMessage::End,
            }
        }
    }

    /// The time of the next message if it was read already and belongs to a lap.
    pub(super) fn at_hand(&self, lap: u64) -> Option<i64> {
        let is_valid = self.block.epoch == self.read_ahead.epoch();
        let item = self.block.items.front().filter(|_| is_valid)?;
        (item.part == Part::Lap(lap)).then_some(item.time)
    }

    /// Reads ahead for another playback rate.
    pub(super) fn set_rate(&self, rate: f64) {
        self.read_ahead.set_rate(rate);
    }

    /// Removes the message that [`front`](Self::front) showed.
    pub(super) fn pop(&mut self) -> Option<Item> {
        self.block.items.pop_front()
    }

    /// Records that no message was available; true the first time.
    pub(super) fn starve(&mut self) -> bool {
        !std::mem::replace(&mut self.is_starving, true)
    }

    /// Reads by another plan.
    pub(super) fn restart(&self, plan: ReadPlan) {
        self.read_ahead.restart(plan);
    }

    /// Drops the messages that were read; none are read until [`restart`](Self::restart).
    pub(super) fn invalidate(&self) {
        self.read_ahead.invalidate();
    }

    /// Changes with every new plan.
    pub(super) fn epoch(&self) -> u64 {
        self.read_ahead.epoch()
    }

    /// Looks for a message elsewhere in the bag; blocks. The messages that were read are void afterwards.
    pub(super) fn find(&self, query: Query) -> Option<Item> {
        self.invalidate();
        self.queries.ask(&self.read_ahead, query)
    }

    fn drop_known_latched(&mut self, last: impl Fn(TopicId) -> Option<i64>) {
        let mut newest: BTreeMap<TopicId, i64> = BTreeMap::new();
        for item in &self.block.items {
            if let Part::Latched(_) = item.part {
                newest.insert(item.topic, item.time);
            }
        }
        newest.retain(|topic, time| last(*topic) == Some(*time));
        self.block.items.retain(|item| {
            !matches!(item.part, Part::Latched(_)) || !newest.contains_key(&item.topic)
        });
    }
}
