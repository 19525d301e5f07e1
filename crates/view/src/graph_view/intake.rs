use std::sync::Mutex;

use timeloom_time::{Clock, Ros};
use timeloom_wire::{LossTracker, Receiver, Sample, SequenceStep};

use crate::channel::ChannelId;
use crate::peer::lock;
use crate::stage::Stage;

/// Takes the messages of a topic: counts them, and hands them to whoever looks.
pub(super) struct Intake {
    counts: Mutex<Counts>,
    /// The channel that is shown, and its stage; changes when the topic goes and comes again.
    target: Mutex<Option<ChannelId>>,
    stage: Stage,
    clock: Option<Clock<Ros>>,
}

/// What came and what did not.
#[derive(Default)]
struct Counts {
    received: u64,
    bytes: u64,
    losses: LossTracker,
}

impl Counts {
    /// Counts a sample; false if it was there before, as latched ones are that a new subscription gets again.
    fn take(&mut self, sample: &Sample) -> bool {
        let step = sample
            .sequence
            .map(|sequence| self.losses.sample(sample.writer, sequence));
        if step == Some(SequenceStep::Duplicate) {
            return false;
        }
        self.received += 1;
        self.bytes += sample.payload.len() as u64;
        true
    }
}

impl Intake {
    pub(super) fn new(stage: &Stage, clock: Option<Clock<Ros>>) -> Self {
        Self {
            counts: Mutex::default(),
            target: Mutex::default(),
            stage: stage.clone(),
            clock,
        }
    }

    /// Where messages go from now on.
    pub(super) fn show(&self, channel: Option<ChannelId>) {
        *lock(&self.target) = channel;
    }

    pub(super) fn channel(&self) -> Option<ChannelId> {
        *lock(&self.target)
    }

    /// Messages, their bytes, and what was lost.
    pub(super) fn account(&self) -> (u64, u64, u64) {
        let counts = lock(&self.counts);
        (counts.received, counts.bytes, counts.losses.lost())
    }
}

impl Receiver for Intake {
    fn sample(&self, sample: Sample) {
        if !lock(&self.counts).take(&sample) {
            return;
        }
        if let Some(channel) = self.channel() {
            let time = self.clock.as_ref().filter(|clock| clock.started());
            let time = time.map_or(sample.receive_time.nanos(), |clock| clock.now().nanos());
            self.stage.message(channel, time, sample.payload);
        }
    }
}
