use std::collections::VecDeque;

use super::{Aligned, Side, Waiting};

/// Pairs messages whose keys are nearest to each other, up to a distance. Keys of a side ascend; a key that goes back
/// counts as the largest so far.
pub(crate) struct Nearest<T> {
    within: u64,
    left: Queue<T>,
    right: Queue<T>,
    finished: bool,
}

struct Queue<T> {
    items: VecDeque<(i64, T)>,
    bytes: usize,
    newest: i64,
}

impl<T: Waiting> Queue<T> {
    fn new() -> Self {
        Self {
            items: VecDeque::new(),
            bytes: 0,
            newest: i64::MIN,
        }
    }

    fn push(&mut self, key: i64, item: T) {
        self.newest = self.newest.max(key);
        self.bytes += item.bytes();
        self.items.push_back((self.newest, item));
    }

    fn pop(&mut self) -> Option<T> {
        let (_, item) = self.items.pop_front()?;
        self.bytes -= item.bytes();
        Some(item)
    }

    fn key(&self, index: usize) -> Option<i64> {
        self.items.get(index).map(|(key, _)| *key)
    }
}

/// The decision about the first message of each side.
enum Step {
    Pair,
    Single(Side),
    /// The next message may change it.
    Wait,
}

impl<T: Waiting> Nearest<T> {
    pub(super) fn new(within: i64) -> Self {
        Self {
            within: within.unsigned_abs(),
            left: Queue::new(),
            right: Queue::new(),
            finished: false,
        }
    }

    pub(super) fn add(&mut self, side: Side, key: i64, item: T, out: &mut VecDeque<Aligned<T>>) {
        self.queue(side).push(key, item);
        self.advance(out);
    }

    pub(super) fn give_up_oldest(&mut self, side: Side, out: &mut VecDeque<Aligned<T>>) {
        let oldest = self.queue(side).pop();
        out.extend(oldest.map(|item| Aligned::Single(side, item)));
        self.advance(out);
    }

    pub(super) fn finish(&mut self, out: &mut VecDeque<Aligned<T>>) {
        self.finished = true;
        self.advance(out);
    }

    pub(super) fn waiting_bytes(&self, side: Side) -> usize {
        match side {
            Side::Left => self.left.bytes,
            Side::Right => self.right.bytes,
        }
    }

    fn queue(&mut self, side: Side) -> &mut Queue<T> {
        match side {
            Side::Left => &mut self.left,
            Side::Right => &mut self.right,
        }
    }

    fn advance(&mut self, out: &mut VecDeque<Aligned<T>>) {
        loop {
            match self.step() {
                Step::Wait => return,
                Step::Single(side) => {
                    let Some(item) = self.queue(side).pop() else {
                        return;
                    };
                    out.push_back(Aligned::Single(side, item));
                }
                Step::Pair => {
                    let (Some(left), Some(right)) = (self.left.pop(), self.right.pop()) else {
                        return;
                    };
                    out.push_back(Aligned::Pair(left, right));
                }
            }
        }
    }

    fn step(&self) -> Step {
        let (left, right) = match (self.left.key(0), self.right.key(0)) {
            (Some(left), Some(right)) => (left, right),
            (Some(_), None) if self.finished => return Step::Single(Side::Left),
            (None, Some(_)) if self.finished => return Step::Single(Side::Right),
            _ => return Step::Wait,
        };
        let distance = left.abs_diff(right);
        let earlier = if left <= right {
            Side::Left
        } else {
            Side::Right
        };
        if distance > self.within {
            return Step::Single(earlier);
        }
        // Only the next message on the earlier side can be nearer to the later one.
        let (next, later) = match earlier {
            Side::Left => (self.left.key(1), right),
            Side::Right => (self.right.key(1), left),
        };
        match next {
            Some(next) if next.abs_diff(later) < distance => Step::Single(earlier),
            None if distance > 0 && !self.finished => Step::Wait,
            _ => Step::Pair,
        }
    }
}
