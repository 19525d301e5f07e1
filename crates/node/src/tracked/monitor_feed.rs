//! The path of samples from the receive thread to the analysis.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use timeloom_time::{Ros, Time};
use timeloom_trace::{Arrival, Content, Engine, Feed};
use timeloom_wire::backend::lock;
use timeloom_wire::{LossTracker, Receiver, Sample, SequenceStep};

use super::times::Times;

/// Limit of the queued samples: some seconds of a large robot. Later ones are dropped and counted.
const MOST_WAITING: usize = 1 << 16;

/// Samples that were received and not analysed yet.
///
/// Reception only appends here, so that it never waits for a report.
pub(super) struct Inbox {
    waiting: Mutex<Waiting>,
    times: Times,
}

#[derive(Default)]
struct Waiting {
    samples: Vec<Received>,
    lost_in_transport: u64,
    dropped: u64,
}

struct Received {
    topic: Arc<TopicContent>,
    payload: Bytes,
    stamp: Option<Time<Ros>>,
    sent: Time<Ros>,
    now: i64,
}

/// A subscribed topic.
pub(super) struct TopicContent {
    pub(super) topic: String,
    pub(super) content: Content,
}

/// Samples that did not reach the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    /// Lost before they reached us.
    pub(super) in_transport: u64,
    /// Dropped because too many were waiting.
    pub(super) dropped: u64,
}

impl Inbox {
    pub(super) fn new(times: Times) -> Self {
        Self {
            waiting: Mutex::default(),
            times,
        }
    }

    pub(super) fn times(&self) -> &Times {
        &self.times
    }

    pub(super) fn losses(&self) -> Losses {
        let waiting = self.lock();
        Losses {
            in_transport: waiting.lost_in_transport,
            dropped: waiting.dropped,
        }
    }

    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.lock().samples.len()
    }

    /// Feeds all queued samples to the analysis.
    pub(super) fn drain(&self, analysis: &mut Analysis) {
        let samples = std::mem::take(&mut self.lock().samples);
        for received in samples {
            let TopicContent { topic, content } = &*received.topic;
            let Analysis { feed, engine } = analysis;
            if let Content::Messages(_) = content {
                feed.message(topic, received.stamp, received.sent, received.now, engine);
            } else {
                let arrival = Arrival {
                    topic,
                    payload: &received.payload,
                    sent: received.sent,
                    now: received.now,
                };
                feed.take(content, &arrival, engine);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }
}

/// The analysis of a monitor.
pub(super) struct Analysis {
    pub(super) feed: Feed,
    pub(super) engine: Engine,
}

/// Puts the samples of one topic into the inbox.
pub(super) struct TopicReceiver {
    topic: Arc<TopicContent>,
    inbox: Arc<Inbox>,
    losses: Mutex<LossTracker>,
}

impl TopicReceiver {
    pub(super) fn new(topic: TopicContent, inbox: &Arc<Inbox>) -> Self {
        Self {
            topic: Arc::new(topic),
            inbox: Arc::clone(inbox),
            losses: Mutex::new(LossTracker::default()),
        }
    }

    /// The change of the number of lost samples.
    fn lost(&self, sample: &Sample) -> (u64, u64) {
        let mut losses = lock(&self.losses);
        let step = sample.sequence.map(|it| losses.sample(sample.writer, it));
        match step {
            Some(SequenceStep::Gap(missing) | SequenceStep::Earlier(missing)) => (missing, 0),
            Some(SequenceStep::Late) => (0, 1),
            _ => (0, 0),
        }
    }
}

impl Receiver for TopicReceiver {
    fn sample(&self, sample: Sample) {
        let now = self.inbox.times.now().steady.nanos();
        let (lost, found) = self.lost(&sample);
        let sent = sample.source_time.unwrap_or(sample.receive_time);
        // Only the stamp of a message is kept: its payload may be large.
        let (stamp, payload) = match &self.topic.content {
            Content::Messages(_) => (self.topic.content.stamp(&sample.payload), Bytes::new()),
            _ => (None, sample.payload),
        };
        let mut waiting = self.inbox.lock();
        waiting.lost_in_transport = (waiting.lost_in_transport + lost).saturating_sub(found);
        if waiting.samples.len() >= MOST_WAITING {
            waiting.dropped += 1;
            return;
        }
        waiting.samples.push(Received {
            topic: Arc::clone(&self.topic),
            payload,
            stamp,
            sent: Time::from_nanos(sent.nanos()),
            now,
        });
    }
}
