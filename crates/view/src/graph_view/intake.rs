use std::sync::{Arc, Mutex};

use timeloom_time::{Clock, Ros};
use timeloom_wire::{LossTracker, Receiver, Sample, SequenceStep};

use super::live_timeline::LiveTimeline;
use crate::channel::ChannelId;
use crate::peer::lock;
use crate::source_output::SourceOutput;

/// Receives the messages of a topic, counts them, and sends them to clients.
pub(super) struct Intake {
    counts: Mutex<Counts>,
    /// The current channel and its output; replaced when the topic disappears and returns.
    target: Mutex<Option<ChannelId>>,
    output: SourceOutput,
    timeline: Arc<LiveTimeline>,
    clock: Option<Clock<Ros>>,
}

/// Received and lost messages.
#[derive(Default)]
struct Counts {
    received: u64,
    bytes: u64,
    losses: LossTracker,
}

impl Counts {
    /// Counts a sample; returns `None` for a duplicate, such as a latched message for a new subscription.
    fn take(&mut self, sample: &Sample) -> Option<SequenceStep> {
        let step = sample
            .sequence
            .map(|sequence| self.losses.sample(sample.writer, sequence));
        if step == Some(SequenceStep::Duplicate) {
            return None;
        }
        self.received += 1;
        self.bytes += sample.payload.len() as u64;
        Some(step.unwrap_or(SequenceStep::Next))
    }
}

impl Intake {
    pub(super) fn new(
        output: &SourceOutput,
        timeline: &Arc<LiveTimeline>,
        clock: Option<Clock<Ros>>,
    ) -> Self {
        Self {
            counts: Mutex::default(),
            target: Mutex::default(),
            output: output.clone(),
            timeline: Arc::clone(timeline),
            clock,
        }
    }

    /// Sets the destination of messages.
    pub(super) fn show(&self, channel: Option<ChannelId>) {
        *lock(&self.target) = channel;
    }

    pub(super) fn channel(&self) -> Option<ChannelId> {
        *lock(&self.target)
    }

    /// Counts of messages, bytes and losses.
    pub(super) fn account(&self) -> (u64, u64, u64) {
        let counts = lock(&self.counts);
        (counts.received, counts.bytes, counts.losses.lost())
    }
}

impl Receiver for Intake {
    fn sample(&self, sample: Sample) {
        let Some(step) = lock(&self.counts).take(&sample) else {
            return;
        };
        let received_ns = sample.receive_time.nanos();
        match step {
            SequenceStep::Late => self.timeline.late_message(received_ns),
            SequenceStep::Gap(lost) | SequenceStep::Earlier(lost) => {
                self.timeline.message(received_ns, lost);
            }
            _ => self.timeline.message(received_ns, 0),
        }
        if let Some(channel) = self.channel() {
            let time = self.clock.as_ref().filter(|clock| clock.started());
            let time = time.map_or(sample.receive_time.nanos(), |clock| clock.now().nanos());
            self.output.message(channel, time, sample.payload);
        }
    }
}
