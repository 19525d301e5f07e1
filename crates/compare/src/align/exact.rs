use std::collections::{BTreeMap, VecDeque};

use super::{Aligned, Side, Waiting};

/// Number of messages of the other bag after which a waiting message has no partner.
///
/// A partner that is further away is not found. Stamps of one topic are nearly in order.
const WINDOW: u64 = 1_000;

/// Pairs messages of equal keys.
pub(crate) struct Exact<T> {
    sides: [Pending<T>; 2],
}

struct Pending<T> {
    /// By key and number of arrival.
    waiting: BTreeMap<(i64, u64), T>,
    /// In the order of arrival; entries whose message is gone are skipped.
    arrivals: VecDeque<Arrival>,
    bytes: usize,
    /// Messages that came on this side.
    count: u64,
}

struct Arrival {
    key: i64,
    number: u64,
    /// Messages of the other side at that time.
    other: u64,
}

impl<T> Pending<T> {
    fn new() -> Self {
        Self {
            waiting: BTreeMap::new(),
            arrivals: VecDeque::new(),
            bytes: 0,
            count: 0,
        }
    }
}

impl<T: Waiting> Pending<T> {
    /// Takes the first message with this key.
    fn take(&mut self, key: i64) -> Option<T> {
        let place = *self.waiting.range((key, 0)..=(key, u64::MAX)).next()?.0;
        self.remove(place)
    }

    fn remove(&mut self, place: (i64, u64)) -> Option<T> {
        let item = self.waiting.remove(&place)?;
        self.bytes -= item.bytes();
        Some(item)
    }

    fn insert(&mut self, key: i64, number: u64, other: u64, item: T) {
        self.bytes += item.bytes();
        self.waiting.insert((key, number), item);
        self.arrivals.push_back(Arrival { key, number, other });
    }

    /// Takes the message that waits longest.
    fn take_oldest(&mut self) -> Option<T> {
        while let Some(arrival) = self.arrivals.pop_front() {
            if let Some(item) = self.remove((arrival.key, arrival.number)) {
                return Some(item);
            }
        }
        None
    }

    /// Takes the message that waits longest if `other` messages came too late for it.
    fn take_overdue(&mut self, other: u64) -> Option<T> {
        while let Some(arrival) = self.arrivals.front() {
            let place = (arrival.key, arrival.number);
            let gone = !self.waiting.contains_key(&place);
            if !gone && other.saturating_sub(arrival.other) <= WINDOW {
                return None;
            }
            self.arrivals.pop_front();
            if !gone {
                return self.remove(place);
            }
        }
        None
    }
}

impl<T: Waiting> Exact<T> {
    pub(super) fn new() -> Self {
        Self {
            sides: [Pending::new(), Pending::new()],
        }
    }

    pub(super) fn add(&mut self, side: Side, key: i64, item: T, out: &mut VecDeque<Aligned<T>>) {
        let [left, right] = &mut self.sides;
        let (own, other) = match side {
            Side::Left => (left, right),
            Side::Right => (right, left),
        };
        own.count += 1;
        match other.take(key) {
            Some(partner) => out.push_back(match side {
                Side::Left => Aligned::Pair(item, partner),
                Side::Right => Aligned::Pair(partner, item),
            }),
            None => own.insert(key, own.count, other.count, item),
        }
        while let Some(overdue) = other.take_overdue(own.count) {
            out.push_back(Aligned::Single(side.other(), overdue));
        }
    }

    pub(super) fn give_up_oldest(&mut self, side: Side, out: &mut VecDeque<Aligned<T>>) {
        let oldest = self.pending(side).take_oldest();
        out.extend(oldest.map(|item| Aligned::Single(side, item)));
    }

    pub(super) fn finish(&mut self, out: &mut VecDeque<Aligned<T>>) {
        for side in [Side::Left, Side::Right] {
            while let Some(item) = self.pending(side).take_oldest() {
                out.push_back(Aligned::Single(side, item));
            }
        }
    }

    pub(super) fn waiting_bytes(&self, side: Side) -> usize {
        let [left, right] = &self.sides;
        match side {
            Side::Left => left.bytes,
            Side::Right => right.bytes,
        }
    }

    fn pending(&mut self, side: Side) -> &mut Pending<T> {
        let [left, right] = &mut self.sides;
        match side {
            Side::Left => left,
            Side::Right => right,
        }
    }
}
