//! The messages that may still matter, bounded in number and age.

use std::collections::{HashMap, VecDeque};

use super::message::{Message, NOBODY};
use super::names::index;

/// Messages by number; numbers count up and are never used twice.
#[derive(Debug, Default)]
pub(super) struct Store {
    /// The number of the first message in `young`.
    base: u64,
    young: VecDeque<Message>,
    /// Old messages that are still in use: the map that was sent once.
    old: HashMap<u64, Message>,
    by_stamp: HashMap<(u32, i64), u64>,
    by_topic: Vec<VecDeque<u64>>,
}

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

    pub(super) fn push(&mut self, mut message: Message) -> u64 {
        let number = self.base + self.young.len() as u64;
        let topic = index(message.topic);
        if self.by_topic.len() <= topic {
            self.by_topic.resize_with(topic + 1, VecDeque::new);
        }
        if let Some(numbers) = self.by_topic.get_mut(topic) {
            numbers.push_back(number);
        }
        if let Some(stamp) = message.stamp {
            let before = self.by_stamp.insert((message.topic, stamp), number);
            message.namesake = before.unwrap_or(NOBODY);
        }
        self.young.push_back(message);
        number
    }

    /// The messages of a topic and stamp, the newest first.
    pub(super) fn with_stamp(&self, topic: u32, stamp: i64) -> impl Iterator<Item = u64> + '_ {
        let first = self.by_stamp.get(&(topic, stamp)).copied();
        std::iter::successors(first, |number| {
            let next = self.get(*number)?.namesake;
            self.get(next).map(|_| next)
        })
    }

    /// The messages of a topic, in the order in which we heard of them.
    pub(super) fn of_topic(&self, topic: u32) -> impl DoubleEndedIterator<Item = u64> + '_ {
        self.by_topic
            .get(index(topic))
            .into_iter()
            .flatten()
            .copied()
    }

    /// The message of the topic that came next after this one.
    pub(super) fn next_of_topic(&self, topic: u32, number: u64) -> Option<u64> {
        let numbers = self.by_topic.get(index(topic))?;
        let place = numbers.partition_point(|other| *other <= number);
        numbers.get(place).copied()
    }

    /// The newest message of a topic.
    pub(super) fn newest(&self, topic: u32) -> Option<u64> {
        self.by_topic.get(index(topic))?.back().copied()
    }

    /// The oldest young message, to look at before it is taken out.
    pub(super) fn oldest(&self) -> Option<(u64, &Message)> {
        Some((self.base, self.young.front()?))
    }

    /// Takes the oldest young message out of the queue; `stays` keeps it at hand as an old one.
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

    /// Old messages, to see whether they are still in use.
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
        if let Some(numbers) = self.by_topic.get_mut(index(message.topic)) {
            // Nearly always the first.
            if let Some(place) = numbers.iter().position(|other| *other == number) {
                numbers.remove(place);
            }
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
