//! Messages of several topics in the order of their arrival.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use timeloom_time::sync::lock;
use timeloom_time::{Event, TimeBase};
use timeloom_wire::{LossTracker, Receiver, Sample};

/// Largest size of the queued messages.
const MOST_BYTES: usize = 256 << 20;

/// Queue of messages to check.
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

    /// Set when messages arrive.
    pub(super) fn news(&self) -> &Event {
        &self.news
    }

    /// Takes all queued messages, with the index of their topic.
    pub(super) fn take(&self) -> VecDeque<(usize, Sample)> {
        let mut waiting = lock(&self.waiting);
        waiting.bytes = 0;
        std::mem::take(&mut waiting.samples)
    }

    /// Queues a message; false if there is no room.
    fn push(&self, topic: usize, sample: Sample) -> bool {
        let mut waiting = lock(&self.waiting);
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

    /// Numbers of messages received, lost in transport, and dropped by the queue.
    pub(super) fn counts(&self) -> (u64, u64, u64) {
        let account = lock(&self.account);
        (account.received, account.losses.lost(), account.dropped)
    }
}

impl Receiver for TopicIntake {
    fn sample(&self, sample: Sample) {
        let mut account = lock(&self.account);
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
