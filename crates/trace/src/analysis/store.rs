//! The messages in memory, bounded in number and age.

use std::collections::{HashMap, VecDeque};

use super::message::{Key, Message, NO_MESSAGE};
use super::names::index;

/// Messages by number; numbers ascend and are never reused.
#[derive(Debug, Default)]
pub(super) struct Store {
    /// The number of the first message in `young`.
    base: u64,
    young: VecDeque<Message>,
    /// Old messages that are still in use, such as a map that was sent once.
    old: HashMap<u64, Message>,
    by_stamp: HashMap<(u32, i64), u64>,
    /// The messages of each topic in the order of publication.
    by_topic: Vec<VecDeque<Key>>,
    /// The number of the current walk.
    walk: u64,
}

/// Messages of one topic and stamp that are searched: stamps may all be zero.
const NAMESAKES: usize = 64;

impl Store {
    pub(super) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    pub(super) fn get(&self, number: u64) -> Option<&Message> {
        match number.checked_sub(self.base) {
            Some(place) => self.young.get(usize::try_from(place).ok()?),
            None => self.old.get(&number),
        }
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Message> {
        match number.checked_sub(self.base) {
            Some(place) => self.young.get_mut(usize::try_from(place).ok()?),
            None => self.old.get_mut(&number),
        }
    }

    /// Starts a walk that visits each message once.
    pub(super) fn start_walk(&mut self) {
        self.walk += 1;
    }

    /// The message, unless the current walk has visited it.
    pub(super) fn visit(&mut self, number: u64) -> Option<&Message> {
        let walk = self.walk;
        let message = self
            .get_mut(number)
            .filter(|message| message.walk != walk)?;
        message.walk = walk;
        Some(message)
    }

    pub(super) fn push(&mut self, mut message: Message) -> u64 {
        let number = self.base + self.young.len() as u64;
        let topic = index(message.topic);
        if self.by_topic.len() <= topic {
            self.by_topic.resize_with(topic + 1, VecDeque::new);
        }
        if let Some(keys) = self.by_topic.get_mut(topic) {
            insert(keys, (message.order, number));
        }
        if let Some(stamp) = message.stamp {
            let before = self.by_stamp.insert((message.topic, stamp), number);
            message.namesake = before.unwrap_or(NO_MESSAGE);
        }
        self.young.push_back(message);
        number
    }

    /// The messages of a topic and stamp, the last one first; not more than a few.
    pub(super) fn with_stamp(&self, topic: u32, stamp: i64) -> impl Iterator<Item = u64> + '_ {
        let first = self.by_stamp.get(&(topic, stamp)).copied();
        let all = std::iter::successors(first, |number| {
            let next = self.get(*number)?.namesake;
            self.get(next).map(|_| next)
        });
        all.take(NAMESAKES)
    }

    /// The messages of a topic, in the order of publication.
    pub(super) fn of_topic(&self, topic: u32) -> impl DoubleEndedIterator<Item = u64> + '_ {
        let keys = self.by_topic.get(index(topic)).into_iter().flatten();
        keys.map(|(_, number)| *number)
    }

    /// The messages of a topic that were published at this time of the engine's time line.
    pub(super) fn at(&self, topic: u32, order: i64) -> impl Iterator<Item = u64> + '_ {
        let keys = self.by_topic.get(index(topic));
        let start = keys.map_or(0, |keys| keys.partition_point(|key| key.0 < order));
        let keys = keys.into_iter().flat_map(move |keys| keys.range(start..));
        keys.take_while(move |key| key.0 == order)
            .map(|(_, number)| *number)
    }

    /// The position of a message among those of its topic.
    pub(super) fn key(&self, number: u64) -> Option<Key> {
        self.get(number).map(|message| (message.order, number))
    }

    /// Moves a message to another time of publication.
    pub(super) fn reorder(&mut self, number: u64, order: i64) {
        let Some(message) = self.get_mut(number) else {
            return;
        };
        let before = (message.order, number);
        if before.0 == order {
            return;
        }
        message.order = order;
        let topic = index(message.topic);
        if let Some(keys) = self.by_topic.get_mut(topic) {
            remove(keys, before);
            insert(keys, (order, number));
        }
    }

    /// The message of the topic that was published next after this one.
    pub(super) fn next_of_topic(&self, topic: u32, after: Key) -> Option<Key> {
        let keys = self.by_topic.get(index(topic))?;
        let place = keys.partition_point(|other| *other <= after);
        keys.get(place).copied()
    }

    /// The message of a topic that was published last.
    pub(super) fn newest(&self, topic: u32) -> Option<u64> {
        let (_, number) = self.by_topic.get(index(topic))?.back()?;
        Some(*number)
    }

    /// The oldest young message.
    pub(super) fn oldest(&self) -> Option<(u64, &Message)> {
        Some((self.base, self.young.front()?))
    }

    /// Removes the oldest young message from the queue; `stays` keeps it as an old one.
    pub(super) fn retire_oldest(&mut self, stays: bool) {
        let Some(message) = self.young.pop_front() else {
            return;
        };
        let number = self.base;
        self.base += 1;
        if stays {
            self.old.insert(number, message);
        } else {
            self.forget(number, &message);
        }
    }

    /// Old messages, to check whether they are still in use.
    pub(super) fn old(&self) -> impl Iterator<Item = (u64, &Message)> {
        self.old.iter().map(|(number, message)| (*number, message))
    }

    pub(super) fn drop_old(&mut self, number: u64) {
        if let Some(message) = self.old.remove(&number) {
            self.forget(number, &message);
        }
    }

    fn forget(&mut self, number: u64, message: &Message) {
        if let Some(stamp) = message.stamp {
            let key = (message.topic, stamp);
            if self.by_stamp.get(&key) == Some(&number) {
                self.by_stamp.remove(&key);
            }
        }
        if let Some(keys) = self.by_topic.get_mut(index(message.topic)) {
            remove(keys, (message.order, number));
        }
    }

    pub(super) fn old_len(&self) -> usize {
        self.old.len()
    }

    /// The messages that were not retired, oldest first.
    pub(super) fn young(&self) -> std::ops::Range<u64> {
        self.base..self.base + self.young.len() as u64
    }
}

/// Nearly always the last.
fn insert(keys: &mut VecDeque<Key>, key: Key) {
    if keys.back().is_none_or(|last| *last < key) {
        keys.push_back(key);
    } else {
        let place = keys.partition_point(|other| *other < key);
        keys.insert(place, key);
    }
}

/// Nearly always the first.
fn remove(keys: &mut VecDeque<Key>, key: Key) {
    if keys.front() == Some(&key) {
        keys.pop_front();
    } else if let Ok(place) = keys.binary_search(&key) {
        keys.remove(place);
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::{Records, SeenAs};
    use super::*;
    use crate::analysis::clocks::Placed;
    use crate::moment::Moment;

    fn message(order: i64, stamp: i64) -> Message {
        let placed = Placed {
            domain: 0,
            epoch: 0,
            order,
            late: 0,
        };
        let records = Records::of(SeenAs::Tag);
        let mut message = Message::new(1, placed, Moment::UNKNOWN, order, records);
        message.stamp = Some(stamp);
        message
    }

    #[test]
    fn a_topic_is_ordered_by_publication() {
        let mut store = Store::default();
        for order in [10, 30, 20, 40] {
            store.push(message(order, order));
        }
        assert_eq!(store.of_topic(1).collect::<Vec<_>>(), [0, 2, 1, 3]);
        assert_eq!(store.next_of_topic(1, (10, 0)), Some((20, 2)));
        store.reorder(3, 15);
        assert_eq!(store.of_topic(1).collect::<Vec<_>>(), [0, 3, 2, 1]);
        assert_eq!(store.at(1, 15).collect::<Vec<_>>(), [3]);
        store.retire_oldest(false);
        assert_eq!(store.of_topic(1).collect::<Vec<_>>(), [3, 2, 1]);
    }

    #[test]
    fn only_a_few_of_very_many_equal_stamps_are_searched() {
        let mut store = Store::default();
        for order in 0..1000 {
            store.push(message(order, 0));
        }
        assert_eq!(store.with_stamp(1, 0).count(), NAMESAKES);
        assert_eq!(store.with_stamp(1, 0).next(), Some(999));
    }
}
