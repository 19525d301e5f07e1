use std::collections::VecDeque;

use timeloom_time::sync::{Mutex, MutexGuard, lock};
use timeloom_time::{Duration, Event, TimeBase};

use super::budget::{Budget, Pool};
use super::drop_policy::DropPolicy;
use super::queued_message::QueuedMessage;

/// The queue between the middleware's receive threads and the writer, bounded in bytes.
///
/// An idle writer is woken by the first message, a busy one only when many wait. Bytes are released when messages are
/// written, not when they are taken.
pub(super) struct Queue {
    state: Mutex<State>,
    wake: Event,
    space: Event,
    /// The span of log times that may wait; 0 without limit.
    max_span_ns: i64,
}

const WORTH_A_WAKE: usize = 1 << 20;

struct State {
    /// In order of arrival; `None` where the oldest of a topic was dropped. The first one is never `None`.
    slots: VecDeque<Option<QueuedMessage>>,
    /// The place of the first slot: places count all messages since the queue was last emptied.
    first_place: usize,
    /// Number of slots that are not empty.
    occupied: usize,
    /// Bytes of the messages in the slots.
    waiting: usize,
    budget: Budget,
    /// The writer is idle and must be woken by the first message.
    resting: bool,
    blocked: bool,
    closed: bool,
}

/// Empty slots that are kept before the others are moved together.
const MOST_EMPTY: usize = 64;

impl Queue {
    pub(super) fn new(base: &TimeBase, max_bytes: usize, max_span: Duration) -> Self {
        Self {
            state: Mutex::new(State {
                slots: VecDeque::new(),
                first_place: 0,
                occupied: 0,
                waiting: 0,
                budget: Budget::new(max_bytes),
                resting: true,
                blocked: false,
                closed: false,
            }),
            wake: Event::new(base),
            space: Event::new(base),
            max_span_ns: max_span.nanos(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Adds a message; returns how many messages of its topic were dropped, possibly this one.
    ///
    /// Blocks only with [`DropPolicy::Block`], until there is room or the queue is closed.
    pub(super) fn push(&self, mut message: QueuedMessage, policy: DropPolicy) -> u64 {
        loop {
            let mut state = self.lock();
            let (lost, refused) = state.push(message, policy, self.max_span_ns);
            match refused {
                None => {
                    if state.is_worth_a_wake() {
                        state.resting = false;
                        self.wake.set();
                    }
                    return lost;
                }
                Some(_) if policy != DropPolicy::Block || state.closed => return lost + 1,
                Some(back) => {
                    message = back;
                    state.blocked = true;
                    self.space.clear();
                }
            }
            drop(state);
            self.space.wait();
        }
    }

    /// Appends messages, ignoring the limit: they were counted elsewhere before.
    pub(super) fn push_all(&self, messages: impl IntoIterator<Item = QueuedMessage>) {
        let mut state = self.lock();
        for message in messages {
            state.force(message);
        }
        state.resting = false;
        self.wake.set();
    }

    /// Moves all messages to the end of `out`, oldest first. Their bytes count until they are
    /// [released](Self::release).
    pub(super) fn take(&self, out: &mut Vec<QueuedMessage>) {
        let mut state = self.lock();
        self.wake.clear();
        state.waiting = 0;
        state.occupied = 0;
        state.first_place = 0;
        state.budget.forget_places();
        out.extend(state.slots.drain(..).flatten());
    }

    /// Releases the bytes of messages that are written.
    pub(super) fn release(&self, written: &[QueuedMessage]) {
        let mut state = self.lock();
        for message in written {
            let (topic, cost) = (message.index(), message.cost());
            state.budget.release(topic, cost, message.pool);
        }
        if std::mem::take(&mut state.blocked) {
            self.space.set();
        }
    }

    /// Blocks until there is enough to take or `timeout` is over; with `rest`, until the first message.
    pub(super) fn wait(&self, timeout: Duration, rest: bool) {
        {
            let mut state = self.lock();
            state.resting = rest;
            if rest && !state.slots.is_empty() {
                return;
            }
        }
        self.wake.wait_for(timeout);
    }

    /// Wakes the writer without a message.
    pub(super) fn nudge(&self) {
        self.wake.set();
    }

    /// Ends all waits for space; what no longer fits is dropped.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.space.set();
        self.wake.set();
    }

    /// The bytes of messages that are not written yet.
    pub(super) fn used(&self) -> usize {
        self.lock().budget.used()
    }

    /// Whether more than a quarter of the memory is in use: the writer should not wait for the disk.
    pub(super) fn is_behind(&self) -> bool {
        let budget = &self.lock().budget;
        budget.used() > budget.limit() / 4
    }
}

impl State {
    /// Adds a message or returns it, with the number of others that were dropped.
    fn push(
        &mut self,
        mut message: QueuedMessage,
        policy: DropPolicy,
        max_span_ns: i64,
    ) -> (u64, Option<QueuedMessage>) {
        let (topic, cost) = (message.index(), message.cost());
        let mut lost = 0;
        loop {
            let late = max_span_ns > 0 && self.span_with(&message) > max_span_ns;
            let pool = if late {
                None
            } else {
                self.budget.admit(topic, cost)
            };
            if let Some(pool) = pool {
                message.pool = pool;
                message.replaceable = policy == DropPolicy::Oldest;
                self.append(message);
                return (lost, None);
            }
            let oldest = (policy == DropPolicy::Oldest)
                .then(|| self.budget.oldest(topic))
                .flatten();
            let Some(gone) = oldest.and_then(|place| self.remove(place)) else {
                return (lost, Some(message));
            };
            self.budget.release(gone.index(), gone.cost(), gone.pool);
            lost += 1;
        }
    }

    fn force(&mut self, mut message: QueuedMessage) {
        self.budget.force(message.cost());
        message.pool = Pool::Common;
        message.replaceable = false;
        self.append(message);
    }

    fn append(&mut self, message: QueuedMessage) {
        self.waiting += message.cost();
        self.occupied += 1;
        if message.replaceable {
            let place = self.first_place + self.slots.len();
            self.budget.remember(message.index(), place);
        }
        self.slots.push_back(Some(message));
    }

    /// Takes the message out that waits at a place.
    fn remove(&mut self, place: usize) -> Option<QueuedMessage> {
        let index = place.checked_sub(self.first_place)?;
        let gone = self.slots.get_mut(index)?.take()?;
        self.waiting = self.waiting.saturating_sub(gone.cost());
        self.occupied -= 1;
        while self.slots.front().is_some_and(Option::is_none) {
            self.slots.pop_front();
            self.first_place += 1;
        }
        // Each move is paid for by as many messages that went before: constant time on average.
        if self.slots.len() > 2 * self.occupied + MOST_EMPTY {
            self.close_gaps();
        }
        Some(gone)
    }

    /// Moves the slots that are not empty together.
    fn close_gaps(&mut self) {
        self.slots.retain(Option::is_some);
        self.slots.shrink_to(2 * self.slots.len() + MOST_EMPTY);
        self.first_place = 0;
        self.budget.forget_places();
        for (place, message) in self.slots.iter().flatten().enumerate() {
            if message.replaceable {
                self.budget.remember(message.index(), place);
            }
        }
    }

    fn span_with(&self, message: &QueuedMessage) -> i64 {
        let oldest = self.slots.front().and_then(Option::as_ref);
        oldest.map_or(0, |oldest| {
            message.log_time_ns.saturating_sub(oldest.log_time_ns)
        })
    }

    /// The first message after a rest, or a megabyte: it is still in the processor's cache then, and its memory is soon
    /// there for the next one.
    fn is_worth_a_wake(&self) -> bool {
        self.resting || self.waiting >= WORTH_A_WAKE.min(self.budget.limit() / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use proptest::prelude::*;

    fn message(topic: u32, number: u32, size: usize) -> QueuedMessage {
        let payload = Bytes::from(vec![0; size]);
        QueuedMessage {
            sequence: number,
            ..QueuedMessage::new(topic, i64::from(number), 0, payload)
        }
    }

    fn queue(bytes: usize) -> Queue {
        Queue::new(&TimeBase::machine(), bytes, Duration::ZERO)
    }

    fn numbers(queue: &Queue) -> Vec<u32> {
        let mut out = Vec::new();
        queue.take(&mut out);
        queue.release(&out);
        out.iter().map(|message| message.sequence).collect()
    }

    #[test]
    fn a_full_queue_drops_the_newest_or_the_oldest_of_the_topic() {
        let cost = message(0, 0, 100).cost();
        for (policy, kept) in [
            (DropPolicy::Newest, [0, 1, 2]),
            (DropPolicy::Oldest, [0, 6, 7]),
        ] {
            // Seven eighths for all: three messages. One eighth in reserve: for none.
            let queue = queue(cost * 4);
            assert_eq!(queue.push(message(1, 0, 100), policy), 0);
            let lost: u64 = (1..8).map(|n| queue.push(message(0, n, 100), policy)).sum();
            assert_eq!(lost, 5, "{policy}");
            assert_eq!(numbers(&queue), kept, "{policy}: another topic's stays");
        }
    }

    /// A disk that stalls: nothing is taken while messages come.
    #[test]
    fn memory_is_bounded_while_the_writer_stalls() {
        let cost = message(0, 0, 100).cost();
        let queue = queue(cost * 40);
        // It stays at the front, so that empty slots gather behind it.
        assert_eq!(queue.push(message(1, 0, 100), DropPolicy::Newest), 0);
        let mut lost = 0;
        for number in 1..=50_000 {
            lost += queue.push(message(0, number, 100), DropPolicy::Oldest);
            let slots = queue.lock().slots.len();
            assert!(slots <= 2 * 41 + MOST_EMPTY, "{slots} slots at {number}");
        }
        let kept = numbers(&queue);
        let oldest = 50_001 - u32::try_from(kept.len() - 1).unwrap();
        let expected: Vec<u32> = [0].into_iter().chain(oldest..=50_000).collect();
        assert_eq!(kept, expected);
        assert_eq!(lost + kept.len() as u64, 50_001);
    }

    #[test]
    fn bytes_are_released_when_messages_are_written() {
        let cost = message(0, 0, 100).cost();
        let queue = queue(cost * 2);
        queue.push(message(0, 0, 100), DropPolicy::Newest);
        let mut out = Vec::new();
        queue.take(&mut out);
        assert_eq!(queue.used(), cost, "the writer has it in its hands");
        assert_eq!(queue.push(message(0, 1, 100), DropPolicy::Newest), 1);
        queue.release(&out);
        assert_eq!(queue.used(), 0);
        assert_eq!(queue.push(message(0, 2, 100), DropPolicy::Newest), 0);
    }

    #[test]
    fn a_writer_is_behind_when_a_quarter_waits() {
        let cost = message(0, 0, 100).cost();
        let queue = queue(cost * 16);
        for number in 0..5 {
            assert!(!queue.is_behind(), "{number}");
            queue.push(message(0, number, 100), DropPolicy::Newest);
        }
        assert!(queue.is_behind());
        assert_eq!(numbers(&queue).len(), 5);
        assert!(!queue.is_behind());
    }

    #[test]
    fn a_blocked_push_ends_when_the_queue_is_closed() {
        let queue = queue(10);
        queue.push(message(0, 0, 100), DropPolicy::Block);
        std::thread::scope(|scope| {
            let blocked = scope.spawn(|| queue.push(message(0, 1, 100), DropPolicy::Block));
            queue.close();
            assert_eq!(blocked.join().unwrap(), 1, "lost, and counted");
        });
    }

    #[test]
    fn a_blocked_push_continues_when_there_is_space() {
        let queue = queue(10);
        queue.push(message(0, 0, 100), DropPolicy::Block);
        std::thread::scope(|scope| {
            let blocked = scope.spawn(|| queue.push(message(0, 1, 100), DropPolicy::Block));
            let mut seen = Vec::new();
            while seen.len() < 2 {
                seen.extend(numbers(&queue));
            }
            assert_eq!(seen, [0, 1]);
            assert_eq!(blocked.join().unwrap(), 0);
        });
    }

    #[test]
    fn queued_messages_span_at_most_the_time_limit() {
        let queue = Queue::new(&TimeBase::machine(), 1 << 20, Duration::from_nanos(5));
        let lost: Vec<_> = [0, 4, 5, 6, 9]
            .into_iter()
            .map(|n| queue.push(message(0, n, 10), DropPolicy::Newest))
            .collect();
        assert_eq!(lost, [0, 0, 0, 1, 1]);
        assert_eq!(numbers(&queue), [0, 4, 5]);
        let lost: u64 = [0, 4, 5, 6, 9]
            .into_iter()
            .map(|n| queue.push(message(0, n, 10), DropPolicy::Oldest))
            .sum();
        assert_eq!((lost, numbers(&queue)), (1, vec![4, 5, 6, 9]));
    }

    proptest! {
        #[test]
        fn kept_and_dropped_messages_add_up_within_the_limit(
            pushes in prop::collection::vec((0u32..4, 0usize..3_000, 0usize..2, any::<bool>()), 1..80),
        ) {
            let limit = 4_000;
            let queue = queue(limit);
            let policies = [DropPolicy::Newest, DropPolicy::Oldest];
            let (mut lost, mut kept) = (0, 0);
            for (number, (topic, size, policy, take)) in (0u32..).zip(&pushes) {
                let message = message(*topic, number, *size);
                let alone = queue.used() == 0;
                lost += queue.push(message, policies[*policy]);
                prop_assert!(alone || queue.used() <= limit.max(3_096), "{}", queue.used());
                if *take {
                    kept += numbers(&queue).len();
                }
            }
            kept += numbers(&queue).len();
            prop_assert_eq!(lost + kept as u64, pushes.len() as u64);
            prop_assert_eq!(queue.used(), 0);
        }
    }
}
