use std::collections::VecDeque;

use timeloom_time::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, lock};
use timeloom_time::{Event, TimeBase};

use super::options::ReadAheadLimits;
use super::source::{Item, Position};

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

/// Size that one message takes besides its bytes.
const OVERHEAD: u64 = 64;

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
}

impl ReadAhead {
    pub(super) fn new(base: &TimeBase, limits: ReadAheadLimits) -> Self {
        Self {
            state: Mutex::default(),
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
        let taken = match state.blocks.pop_front() {
            Some(block) => {
                state.taken = block.load;
                Taken::Block(block)
            }
            None if state.finished => Taken::End,
            None => Taken::Starved,
        };
        self.starving
            .store(matches!(taken, Taken::Starved), Ordering::SeqCst);
        drop(state);
        self.work.set();
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
        state.load.messages < self.limits.messages.max(1) && state.load.bytes < self.limits.bytes
            || state.load.messages == 0
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
