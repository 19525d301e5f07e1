//! Messages of several topics in the order of their arrival.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use timeloom_time::{Event, TimeBase};
use timeloom_wire::{LossTracker, Receiver, Sample};

/// The bytes that may wait to be checked.
const MOST_BYTES: usize = 256 << 20;

/// Messages that wait to be checked.
pub(super) struct Inbox {
    waiting: Mutex<Waiting>,
    news: Event,
}

#[derive(Default)]
struct Waiting {
    samples: VecDeque<(usize, Sample)>,
    bytes: usize,
}

impl Inbox {
    pub(super) fn new(base: &TimeBase) -> Self {
        Self {
            waiting: Mutex::default(),
            news: Event::new(base),
        }
    }

    /// Set when messages came.
    pub(super) fn news(&self) -> &Event {
        &self.news
    }

    /// All messages that came, with the index of their topic.
    pub(super) fn take(&self) -> VecDeque<(usize, Sample)> {
        let mut waiting = self.lock();
        waiting.bytes = 0;
        std::mem::take(&mut waiting.samples)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a message; false if there is no room.
    fn push(&self, topic: usize, sample: Sample) -> bool {
        let mut waiting = self.lock();
        if waiting.bytes + sample.payload.len() > MOST_BYTES {
            return false;
        }
        waiting.bytes += sample.payload.len();
        waiting.samples.push_back((topic, sample));
        true
    }
}

/// Receives the messages of one topic, and counts what is missing.
pub(super) struct TopicIntake {
    topic: usize,
    inbox: Arc<Inbox>,
    account: Mutex<Account>,
}

#[derive(Default)]
struct Account {
    received: u64,
    dropped: u64,
    losses: LossTracker,
}

impl TopicIntake {
    pub(super) fn new(topic: usize, inbox: &Arc<Inbox>) -> Self {
        Self {
            topic,
            inbox: Arc::clone(inbox),
            account: Mutex::default(),
        }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Messages that came, were lost in transport, and were dropped here.
    pub(super) fn counts(&self) -> (u64, u64, u64) {
        let account = self.account();
        (account.received, account.losses.lost(), account.dropped)
    }
}

impl Receiver for TopicIntake {
    fn sample(&self, sample: Sample) {
        let mut account = self.account();
        account.received += 1;
        if let Some(sequence) = sample.sequence {
            account.losses.sample(sample.writer, sequence);
        }
        if !self.inbox.push(self.topic, sample) {
            account.dropped += 1;
        }
    }

    fn pause(&self) {
        self.inbox.news.set();
    }
}
