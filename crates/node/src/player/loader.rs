use std::sync::{Arc, Mutex};

use bytes::{Bytes, BytesMut};
use timeloom_bag::TopicId;
use timeloom_time::{Event, Ros, Time, TimeBase};
use timeloom_wire::backend::lock;

use super::mailbox::Mailbox;
use super::notice::{Notice, Reporter};
use super::read_ahead::{Block, ReadAhead, ReadPlan, Work};
use super::source::{BagSource, Item, Part, Position};

/// Messages up to this size share one allocation per block.
const SMALL: usize = 4 << 10;
/// A reader that fails this often in a row has no further messages.
const FAILURES: u32 = 1000;

/// Reads ahead, on a thread of its own.
pub(super) struct Loader {
    source: BagSource,
    read_ahead: Arc<ReadAhead>,
    mailbox: Arc<Mailbox>,
    queries: Arc<LoaderQueries>,
    reporter: Reporter,
    /// The latched topics and the number of messages that each keeps.
    latched: Vec<(TopicId, usize)>,
    /// The first log time.
    bag_start: i64,
    state: LoaderState,
}

/// The position of the loader within its plan.
#[derive(Default)]
struct LoaderState {
    epoch: u64,
    plan: Option<ReadPlan>,
    lap: u64,
    /// Messages of this lap so far.
    read: u64,
}

/// A query of the playback thread, answered before further messages are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Query {
    /// The last message before a position and not before `start`.
    Previous { before: Position, start: i64 },
    /// The first message between two times, both inclusive.
    First { start: i64, end: i64 },
}

/// A query to the loader and its answer.
pub(super) struct LoaderQueries {
    slot: Mutex<Option<Query>>,
    answer: Mutex<Option<Item>>,
    answered: Event,
}

impl LoaderQueries {
    pub(super) fn new(base: &TimeBase) -> Self {
        Self {
            slot: Mutex::default(),
            answer: Mutex::default(),
            answered: Event::new(base),
        }
    }

    /// Asks for a message and blocks for the answer; the plan must be [void](ReadAhead::invalidate).
    pub(super) fn ask(&self, read_ahead: &ReadAhead, query: Query) -> Option<Item> {
        self.answered.clear();
        *lock(&self.slot) = Some(query);
        read_ahead.wake_loader();
        self.answered.wait();
        lock(&self.answer).take()
    }

    fn take(&self) -> Option<Query> {
        lock(&self.slot).take()
    }

    fn give(&self, item: Option<Item>) {
        *lock(&self.answer) = item;
        self.answered.set();
    }
}

impl Loader {
    /// A loader with the state that it shares with the playback thread, the latched topics and the number of messages
    /// that each keeps, and the first time of the bag.
    pub(super) fn new(
        source: BagSource,
        (read_ahead, mailbox, queries): (&Arc<ReadAhead>, &Arc<Mailbox>, &Arc<LoaderQueries>),
        reporter: &Reporter,
        latched: Vec<(TopicId, usize)>,
        bag_start: Time<Ros>,
    ) -> Self {
        Self {
            source,
            read_ahead: Arc::clone(read_ahead),
            mailbox: Arc::clone(mailbox),
            queries: Arc::clone(queries),
            reporter: reporter.clone(),
            latched,
            bag_start: bag_start.nanos(),
            state: LoaderState::default(),
        }
    }

    /// Reads until the read-ahead is closed.
    pub(super) fn run(mut self) {
        loop {
            match self.read_ahead.wait_for_work(self.state.epoch) {
                Work::Close => break,
                Work::Query => self.answer(),
                Work::Plan(epoch, plan) => self.begin(epoch, plan),
                Work::More => self.read_block(),
            }
        }
        // Ends a query that waits.
        self.queries.give(None);
    }

    fn answer(&mut self) {
        let Some(query) = self.queries.take() else {
            return;
        };
        let found = match query {
            Query::Previous { before, start } => self.source.previous(before, start),
            Query::First { start, end } => self.source.first(start, end),
        };
        let item = found.unwrap_or_else(|error| {
            self.damage(&error);
            None
        });
        self.queries.give(item);
    }

    fn begin(&mut self, epoch: u64, plan: ReadPlan) {
        self.state = LoaderState {
            epoch,
            plan: Some(plan),
            lap: plan.lap,
            ..LoaderState::default()
        };
        if plan.latched && plan.from.time > self.bag_start {
            self.push_latched(plan.from.time);
        }
        self.start(plan.from, plan.end);
    }

    fn push_latched(&mut self, before: i64) {
        match self.source.latched(before, &self.latched, self.state.lap) {
            Ok(items) => {
                let mut block = Block::new(self.state.epoch);
                for item in items {
                    block.push(item);
                }
                self.push(block);
            }
            Err(error) => self.damage(&error),
        }
    }

    fn start(&mut self, from: Position, end: i64) {
        if let Err(error) = self.source.start(from, end) {
            self.damage(&error);
            self.finish();
        }
    }

    /// Reads until a block is full, the consumer is starved, or there is no more.
    fn read_block(&mut self) {
        let limits = self.read_ahead.block_limits();
        let mut block = Block::new(self.state.epoch);
        let mut pool = Pool::default();
        let mut failures = 0;
        while block.load().messages < limits.messages && block.load().bytes < limits.bytes {
            match self.source.next() {
                Ok(Some((message, time, index))) => {
                    failures = 0;
                    self.state.read += 1;
                    let topic = message.topic;
                    let small = pool.keep(message.data);
                    block.push(Item {
                        topic,
                        time,
                        index,
                        data: small.unwrap_or_else(|| self.source.payload()),
                        part: Part::Lap(self.state.lap),
                        file: self.source.file(),
                    });
                }
                Ok(None) => {
                    self.push(block);
                    self.lap_ended();
                    return;
                }
                Err(error) => {
                    failures += 1;
                    self.damage(&error);
                    if failures >= FAILURES || !error.is_damage() {
                        self.push(block);
                        self.finish();
                        return;
                    }
                }
            }
            if self.read_ahead.is_starving() && !block.items.is_empty() {
                break;
            }
        }
        self.push(block);
    }

    /// Begins the next lap, or ends. A lap without messages is the last: it would repeat without end.
    fn lap_ended(&mut self) {
        let Some(plan) = self.state.plan else { return };
        let from_start = plan.lap != self.state.lap || plan.from.time <= plan.start;
        if plan.endless && (self.state.read > 0 || !from_start) {
            self.state.lap += 1;
            self.state.read = 0;
            if plan.start > self.bag_start {
                self.push_latched(plan.start);
            }
            self.start(Position::at(plan.start), plan.end);
        } else {
            self.finish();
        }
    }

    fn finish(&self) {
        let late = self.source.late();
        if late > 0 {
            self.reporter.report(Notice::SentTooLate { messages: late });
        }
        if self.read_ahead.finish(self.state.epoch) {
            self.mailbox.ring();
        }
    }

    fn push(&self, block: Block) {
        if self.read_ahead.push(block) {
            self.mailbox.ring();
        }
    }

    /// Reports an error of the reader.
    fn damage(&self, error: &timeloom_bag::Error) {
        let text = error.to_string();
        self.reporter.report(if error.is_damage() {
            Notice::Damage(text)
        } else {
            Notice::Unreadable(text)
        });
    }
}

/// Puts the small messages of a block into one allocation.
#[derive(Default)]
struct Pool(BytesMut);

impl Pool {
    /// A copy of a small message; `None` for a large one.
    fn keep(&mut self, data: &[u8]) -> Option<Bytes> {
        if data.len() > SMALL {
            return None;
        }
        if self.0.capacity() - self.0.len() < data.len() {
            self.0 = BytesMut::with_capacity(SMALL * 8);
        }
        self.0.extend_from_slice(data);
        Some(self.0.split().freeze())
    }
}
