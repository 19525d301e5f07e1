use std::collections::VecDeque;

use timeloom_time::{Duration, Ros, Time};

use super::input_set::{InputSet, Used};

/// The condition for messages to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchRule {
    /// Their stamps are equal.
    Exact,
    /// Their stamps are within this time of each other; the nearest are matched.
    Within(Duration),
}

/// Joins messages of several inputs by their stamps, and keeps track of them.
///
/// It holds a limited number of messages of each input; messages that are dropped without a match are counted, per
/// input.
#[derive(Debug)]
pub struct Synchronizer<T> {
    rule: MatchRule,
    depth: usize,
    queues: Vec<VecDeque<(Time<Ros>, Used, T)>>,
    unmatched: Vec<u64>,
}

/// Matched messages.
#[derive(Debug)]
pub struct Matched<T> {
    /// The inputs for the tag of their result.
    pub inputs: InputSet,
    /// One message of each input, in order.
    pub messages: Vec<T>,
}

impl<T> Synchronizer<T> {
    /// Joins `inputs` inputs and holds up to `depth` messages of each.
    pub fn new(inputs: usize, depth: usize, rule: MatchRule) -> Self {
        Self {
            rule,
            depth: depth.max(1),
            queues: (0..inputs).map(|_| VecDeque::new()).collect(),
            unmatched: vec![0; inputs],
        }
    }

    /// Adds a message of one input; returns the set that it completes.
    ///
    /// A message without stamp, or of an input that does not exist, cannot be joined and counts as unmatched.
    pub fn add(&mut self, input: usize, used: Used, message: T) -> Option<Matched<T>> {
        let Some((queue, stamp)) = self.queues.get_mut(input).zip(used.received().stamp) else {
            self.count(input, 1);
            return None;
        };
        let place = queue.partition_point(|(queued, ..)| *queued <= stamp);
        queue.insert(place, (stamp, used, message));
        let chosen = self.choose(stamp);
        if let Some(chosen) = chosen {
            return Some(self.take(&chosen));
        }
        if self
            .queues
            .get(input)
            .is_some_and(|queue| queue.len() > self.depth)
        {
            self.queues.get_mut(input).map(VecDeque::pop_front);
            self.count(input, 1);
        }
        None
    }

    /// Number of messages of each input without a match.
    pub fn unmatched(&self) -> &[u64] {
        &self.unmatched
    }

    fn count(&mut self, input: usize, messages: u64) {
        if let Some(unmatched) = self.unmatched.get_mut(input) {
            *unmatched += messages;
        }
    }

    /// The index of the nearest message in each queue, if all are near enough to each other.
    fn choose(&self, stamp: Time<Ros>) -> Option<Vec<usize>> {
        let mut places = Vec::with_capacity(self.queues.len());
        let (mut first, mut last) = (stamp, stamp);
        for queue in &self.queues {
            let nearest = queue
                .iter()
                .enumerate()
                .min_by_key(|(_, (queued, ..))| (*queued - stamp).nanos().unsigned_abs());
            let (place, (queued, ..)) = nearest?;
            first = first.min(*queued);
            last = last.max(*queued);
            places.push(place);
        }
        let near = match self.rule {
            MatchRule::Exact => first == last,
            MatchRule::Within(limit) => last - first <= limit,
        };
        near.then_some(places)
    }

    /// Removes the chosen ones; older messages can no longer be matched.
    fn take(&mut self, places: &[usize]) -> Matched<T> {
        let mut inputs = InputSet::with_capacity(places.len());
        let mut messages = Vec::with_capacity(places.len());
        for (input, place) in places.iter().enumerate() {
            let Some(queue) = self.queues.get_mut(input) else {
                continue;
            };
            queue.drain(..*place);
            if let Some((_, used, message)) = queue.pop_front() {
                inputs.add(used);
                messages.push(message);
            }
            self.count(input, *place as u64);
        }
        Matched { inputs, messages }
    }
}
