//! One topic of lineage, or one plain topic, on its way into the engine.

use std::sync::{Arc, Mutex, PoisonError};

use timeloom_time::Time;
use timeloom_trace::{Arrival, Content, Engine, Feed};
use timeloom_wire::{LossTracker, Receiver, Sample, SequenceStep};

use super::times::Times;

/// What all topics share.
pub(super) struct Heart {
    pub(super) engine: Mutex<State>,
    pub(super) times: Times,
}

pub(super) struct State {
    pub(super) engine: Engine,
    pub(super) feed: Feed,
    pub(super) lost_in_transport: u64,
}

impl Heart {
    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct TopicFeed {
    pub(super) topic: String,
    pub(super) content: Content,
    pub(super) heart: Arc<Heart>,
    pub(super) losses: Mutex<LossTracker>,
}

impl Receiver for TopicFeed {
    fn sample(&self, sample: Sample) {
        let now = self.heart.times.now().steady.nanos();
        let missing = {
            let mut losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
            match sample
                .sequence
                .map(|sequence| losses.sample(sample.writer, sequence))
            {
                Some(SequenceStep::Gap(missing) | SequenceStep::Earlier(missing)) => (missing, 0),
                Some(SequenceStep::Late) => (0, 1),
                _ => (0, 0),
            }
        };
        let mut state = self.heart.lock();
        let State {
            engine,
            feed,
            lost_in_transport,
        } = &mut *state;
        *lost_in_transport = (*lost_in_transport + missing.0).saturating_sub(missing.1);
        let sent = sample.source_time.unwrap_or(sample.receive_time);
        let arrival = Arrival {
            topic: &self.topic,
            payload: &sample.payload,
            sent: Time::from_nanos(sent.nanos()),
            now,
        };
        feed.take(&self.content, &arrival, engine);
    }
}
