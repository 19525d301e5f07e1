use std::collections::VecDeque;

use timeloom_time::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, lock};
use timeloom_time::{Event, TimeBase};

use super::options::ReadAheadLimits;
use super::source::{Item, Part, Position};

/// The bounded queue of messages between the loader and the playback thread.
///
/// Messages are handed over in blocks, which saves a lock per message. A new plan starts a new epoch: messages of the
/// old one are dropped on both sides.
pub(super) struct ReadAhead {
    state: Mutex<State>,
    limits: ReadAheadLimits,
    /// The epoch of the current plan.
    epoch: AtomicU64,
    /// The consumer has nothing: the next message must not wait for a full block.
    starving: AtomicBool,
    /// There is work for the loader.
    work: Event,
}

#[derive(Default)]
struct State {
    plan: Option<ReadPlan>,
    blocks: VecDeque<Block>,
    /// Size of the blocks here and of the one that the consumer has.
    load: Load,
    taken: Load,
    /// The times of the block that the consumer has.
    taken_times: Option<LapTimes>,
    /// The playback rate.
    rate: f64,
    finished: bool,
    /// The playback thread has a query for the loader.
    asked: bool,
    closed: bool,
}

/// The range to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReadPlan {
    /// The start.
    pub(super) from: Position,
    /// The start of each further lap.
    pub(super) start: i64,
    /// The last time, inclusive.
    pub(super) end: i64,
    /// Whether laps repeat.
    pub(super) endless: bool,
    /// The number of the first lap.
    pub(super) lap: u64,
    /// Whether the state of latched topics is read first.
    pub(super) latched: bool,
}

/// Some messages of one epoch, in order.
#[derive(Default)]
pub(super) struct Block {
    pub(super) epoch: u64,
    pub(super) items: VecDeque<Item>,
    load: Load,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) messages: usize,
    pub(super) bytes: u64,
}

/// The next block for the consumer.
pub(super) enum Taken {
    Block(Block),
    /// Nothing yet; the loader rings when there is a block.
    Starved,
    /// The whole plan was taken.
    End,
}

/// The next work of the loader.
pub(super) enum Work {
    /// A new plan, of this epoch.
    Plan(u64, ReadPlan),
    /// More of the current plan.
    More,
    /// A query to answer.
    Query,
    /// The end.
    Close,
}

/// The times of the first and the last of some messages of a lap.
#[derive(Clone, Copy)]
struct LapTimes {
    lap: u64,
    first: i64,
    last: i64,
}

/// Size that one message takes besides its bytes.
const OVERHEAD: u64 = 64;
/// Bytes that are read ahead whatever the bound of time says: few for a machine, and many seconds of most topics.
const LEAST_BYTES: u64 = 4 << 20;

impl Block {
    pub(super) fn new(epoch: u64) -> Self {
        Self {
            epoch,
            ..Self::default()
        }
    }

    pub(super) fn push(&mut self, item: Item) {
        self.load.messages += 1;
        self.load.bytes += item.data.len() as u64 + OVERHEAD;
        self.items.push_back(item);
    }

    pub(super) fn load(&self) -> Load {
        self.load
    }

    /// Its times; `None` if it has only the state of latched topics. All messages of a block are of the same lap.
    fn times(&self) -> Option<LapTimes> {
        let (first, last) = (self.items.front()?, self.items.back()?);
        match first.part {
            Part::Lap(lap) => Some(LapTimes {
                lap,
                first: first.time,
                last: last.time,
            }),
            Part::Latched(_) => None,
        }
    }
}

impl State {
    /// The length of the read-ahead in the time of the bag: in each lap from the first to the last message.
    fn span(&self) -> i64 {
        let blocks = self.blocks.iter().filter_map(Block::times);
        let mut span = 0_i64;
        let mut current: Option<LapTimes> = None;
        for times in self.taken_times.into_iter().chain(blocks) {
            match &mut current {
                Some(current) if current.lap == times.lap => current.last = times.last,
                _ => span = span.saturating_add(current.replace(times).map_or(0, LapTimes::length)),
            }
        }
        span.saturating_add(current.map_or(0, LapTimes::length))
    }
}

impl LapTimes {
    const fn length(self) -> i64 {
        self.last.saturating_sub(self.first)
    }
}

impl ReadAhead {
    /// A read-ahead for playing at this rate.
    pub(super) fn new(base: &TimeBase, limits: ReadAheadLimits, rate: f64) -> Self {
        let state = State {
            rate,
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            limits,
            epoch: AtomicU64::new(0),
            starving: AtomicBool::new(false),
            work: Event::new(base),
        }
    }

    /// The epoch of the current plan; blocks of another one are void.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// Drops the read messages and reads by another plan.
    pub(super) fn restart(&self, plan: ReadPlan) {
        let mut state = self.lock();
        self.clear(&mut state);
        state.plan = Some(plan);
        drop(state);
        self.work.set();
    }

    /// Drops the read messages; nothing is read until [`restart`](Self::restart).
    pub(super) fn invalidate(&self) {
        let mut state = self.lock();
        self.clear(&mut state);
        state.plan = None;
    }

    fn clear(&self, state: &mut State) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        state.blocks.clear();
        state.load = state.taken;
        state.finished = false;
    }

    /// Reads ahead for another playback rate.
    pub(super) fn set_rate(&self, rate: f64) {
        self.lock().rate = rate;
        self.work.set();
    }

    /// Wakes the loader for a query.
    pub(super) fn wake_loader(&self) {
        self.lock().asked = true;
        self.work.set();
    }

    /// Ends the loader.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.work.set();
    }

    /// The next block; releases the size of the one before.
    pub(super) fn take(&self) -> Taken {
        let mut state = self.lock();
        let given_back = std::mem::take(&mut state.taken);
        state.load.messages -= given_back.messages;
        state.load.bytes -= given_back.bytes;
        state.taken_times = None;
        let taken = match state.blocks.pop_front() {
            Some(block) => {
                state.taken = block.load;
                state.taken_times = block.times();
                Taken::Block(block)
            }
            None if state.finished => Taken::End,
            None => Taken::Starved,
        };
        self.starving
            .store(matches!(taken, Taken::Starved), Ordering::SeqCst);
        // Many blocks for each time that the loader wakes up: it takes a processor from this thread or its receivers.
        let is_low = state.load.messages <= self.limits.messages / 2;
        drop(state);
        if is_low {
            self.work.set();
        }
        taken
    }

    /// The size of the read-ahead.
    pub(super) fn load(&self) -> Load {
        self.lock().load
    }

    /// The time of the last message in the queue, in the order of playing.
    pub(super) fn read_to(&self) -> Option<i64> {
        let state = self.lock();
        let last = state.blocks.back()?;
        last.items.back().map(|item| item.time)
    }

    /// Blocks until there is work after the plan of `epoch`.
    pub(super) fn wait_for_work(&self, epoch: u64) -> Work {
        loop {
            self.work.clear();
            {
                let mut state = self.lock();
                if state.closed {
                    return Work::Close;
                }
                if std::mem::take(&mut state.asked) {
                    return Work::Query;
                }
                let current = self.epoch();
                match state.plan {
                    Some(plan) if current != epoch => return Work::Plan(current, plan),
                    Some(_) if !state.finished && self.has_room(&state) => return Work::More,
                    _ => {}
                }
            }
            self.work.wait();
        }
    }

    fn has_room(&self, state: &State) -> bool {
        let load = state.load;
        let fits = load.messages < self.limits.messages.max(1) && load.bytes < self.limits.bytes;
        load.messages == 0 || fits && (load.bytes < LEAST_BYTES || !self.suffices(state))
    }

    /// Whether the messages suffice for the time of the limits.
    fn suffices(&self, state: &State) -> bool {
        let limit = self
            .limits
            .time
            .map(|time| time.nanos() as f64 * state.rate);
        limit.is_some_and(|limit| state.span() as f64 >= limit)
    }

    /// The largest size of a block.
    pub(super) fn block_limits(&self) -> Load {
        Load {
            messages: (self.limits.messages / 4).clamp(1, 64),
            bytes: (self.limits.bytes / 4).clamp(1, 256 << 10),
        }
    }

    /// Whether the consumer waits for the next message.
    pub(super) fn is_starving(&self) -> bool {
        self.starving.load(Ordering::SeqCst)
    }

    /// Hands a block over; true if the consumer waited for it.
    pub(super) fn push(&self, block: Block) -> bool {
        let mut state = self.lock();
        if block.epoch != self.epoch() || block.items.is_empty() {
            return false;
        }
        state.load.messages += block.load.messages;
        state.load.bytes += block.load.bytes;
        state.blocks.push_back(block);
        self.starving.swap(false, Ordering::SeqCst)
    }

    /// Marks the plan of that epoch as completely read; true if the consumer waited for it.
    pub(super) fn finish(&self, epoch: u64) -> bool {
        let mut state = self.lock();
        if epoch != self.epoch() {
            return false;
        }
        state.finished = true;
        self.starving.swap(false, Ordering::SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use bytes::Bytes;
    use timeloom_bag::TopicId;
    use timeloom_time::Duration;

    use super::*;

    const MEGABYTE: usize = 1_000_000;

    fn block(lap: u64, time_ms: i64, size: usize) -> Block {
        let mut block = Block::new(0);
        block.push(Item {
            topic: TopicId(0),
            time: time_ms * 1_000_000,
            index: 0,
            data: Bytes::from(vec![0; size]),
            part: Part::Lap(lap),
            file: None,
        });
        block
    }

    fn read_ahead(rate: f64) -> ReadAhead {
        let limits = ReadAheadLimits {
            messages: 1000,
            bytes: 128 << 20,
            time: Some(Duration::from_millis(500)),
        };
        ReadAhead::new(&TimeBase::machine(), limits, rate)
    }

    /// Reads messages with these times until there is no more room; returns their number.
    fn fill(ahead: &ReadAhead, lap: u64, times_ms: impl Iterator<Item = i64>) -> usize {
        let mut read = 0;
        for time in times_ms {
            if !ahead.has_room(&ahead.lock()) {
                break;
            }
            ahead.push(block(lap, time, MEGABYTE));
            read += 1;
        }
        read
    }

    #[test]
    fn a_bag_is_read_ahead_as_far_as_its_rate_needs() {
        // 100 MB/s.
        let times = |from: i64| (from..).map(|number| number * 10);
        let ahead = read_ahead(1.0);
        assert_eq!(fill(&ahead, 0, times(0)), 51);
        ahead.set_rate(0.5);
        assert_eq!(fill(&ahead, 0, times(51)), 0);
        ahead.set_rate(1.5);
        assert_eq!(fill(&ahead, 0, times(51)), 25);
        ahead.set_rate(100.0);
        let all = 76 + fill(&ahead, 0, times(76));
        assert_eq!(all, (128 << 20) / (MEGABYTE + 64) + 1);
        assert_eq!(fill(&read_ahead(0.01), 0, times(0)), 5, "at least 4 MiB");
    }

    /// 1000 messages, in blocks of 100; they suffice for 500 ms.
    #[test]
    fn the_loader_is_woken_when_half_of_the_messages_are_played() {
        let ahead = read_ahead(1.0);
        for number in 0..10 {
            let mut block = block(0, number * 50, 10);
            let item = block.items.front().cloned().unwrap();
            for _ in 1..100 {
                block.push(item.clone());
            }
            ahead.push(block);
        }
        assert!(!ahead.has_room(&ahead.lock()));
        ahead.work.clear();
        // The block that is taken counts until the next one is.
        let mut woken = 0;
        while !ahead.work.is_set() {
            assert!(matches!(ahead.take(), Taken::Block(_)));
            woken += 1;
        }
        assert_eq!(woken, 6);
    }

    #[test]
    fn a_gap_does_not_count_once_the_messages_before_it_are_played() {
        let ahead = read_ahead(1.0);
        let before = [0, 10];
        let after = (0..).map(|number| 60_000 + number * 10);
        assert_eq!(fill(&ahead, 0, before.into_iter().chain(after)), 5);
        let after = |from: i64| (from..).map(|number| 60_000 + number * 10);
        assert!(matches!(ahead.take(), Taken::Block(_)));
        assert_eq!(fill(&ahead, 0, after(3)), 0, "the gap is still ahead");
        assert!(matches!(ahead.take(), Taken::Block(_)));
        assert_eq!(fill(&ahead, 0, after(3)), 1, "at least 4 MiB");
        assert!(matches!(ahead.take(), Taken::Block(_)));
        assert_eq!(fill(&ahead, 0, after(4)), 47, "up to 60.5 s");
    }

    #[test]
    fn the_laps_of_a_loop_add_up() {
        let ahead = read_ahead(1.0);
        let lap = || (0..=20).map(|number| number * 10);
        for number in 0..2 {
            assert_eq!(fill(&ahead, number, lap()), 21);
        }
        assert_eq!(fill(&ahead, 2, lap()), 11, "200 ms + 200 ms + 100 ms");
    }
}
