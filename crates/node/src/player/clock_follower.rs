use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use timeloom_msg::QosProfile;
use timeloom_time::{Clock, ClockSink, SourceId, Steady, Time, TimeHub};
use timeloom_wire::backend::lock;
use timeloom_wire::{Gid, Receiver, Sample, Subscription};

use super::clock_message::decode_clock;
use super::clock_publisher::clock_topic;
use super::clock_samples::{ClockSamples, SampleId};
use crate::{Result, RosNode};

/// Number of remembered publishers; only a flood has more.
const MAX_PUBLISHERS: usize = 64;
/// The end of a lap and the start of the next one are sent at the same moment: neither may replace the other.
const QOS: QosProfile = QosProfile {
    depth: 100,
    ..QosProfile::CLOCK
};

/// Passes the samples of `/clock` to a hub, on the thread that receives them.
pub(super) struct ClockFollower {
    samples: Arc<Mutex<ClockSamples>>,
    steady: Clock<Steady>,
    _subscription: Box<dyn Subscription>,
}

impl ClockFollower {
    pub(super) fn start(node: &RosNode, hub: &TimeHub) -> Result<Self> {
        let samples = Arc::<Mutex<ClockSamples>>::default();
        let steady = Clock::on(&node.participant().time_base());
        let receiver = ClockReceiver {
            hub: hub.clone(),
            sinks: Mutex::default(),
            steady: steady.clone(),
            samples: Arc::clone(&samples),
        };
        let spec = clock_topic(node, QOS)?;
        Ok(Self {
            samples,
            steady,
            _subscription: node.wire().subscribe(&spec, Arc::new(receiver))?,
        })
    }

    pub(super) fn samples(&self) -> &Arc<Mutex<ClockSamples>> {
        &self.samples
    }

    /// The arrival of the last sample.
    pub(super) fn last(&self) -> Option<Time<Steady>> {
        lock(&self.samples).last().map(Time::from_nanos)
    }

    /// Whether its time does not advance: paused, silent, or not there yet.
    pub(super) fn is_standing(&self) -> bool {
        lock(&self.samples).is_standing(self.steady.now().nanos())
    }

    /// The rate of its time; `None` before the second change.
    pub(super) fn rate(&self) -> Option<f64> {
        lock(&self.samples).rate()
    }
}

struct ClockReceiver {
    hub: TimeHub,
    sinks: Mutex<BTreeMap<Gid, ClockSink>>,
    steady: Clock<Steady>,
    samples: Arc<Mutex<ClockSamples>>,
}

impl ClockReceiver {
    fn sink(&self, writer: Gid) -> ClockSink {
        let mut sinks = lock(&self.sinks);
        if sinks.len() >= MAX_PUBLISHERS && !sinks.contains_key(&writer) {
            sinks.clear();
        }
        let new = || self.hub.sink(SourceId::new(&writer.to_string(), writer.0));
        sinks.entry(writer).or_insert_with(new).clone()
    }
}

impl Receiver for ClockReceiver {
    fn sample(&self, sample: Sample) {
        let sink = self.sink(sample.writer);
        // A malformed sample is ignored; the next one makes up for it.
        let Some(time) = decode_clock(&sample.payload) else {
            return;
        };
        let writer = sample.writer;
        let id = sample
            .sequence
            .map(|sequence| SampleId { writer, sequence });
        // Before the clock: a jump handler looks the sample up.
        lock(&self.samples).sample(self.steady.now().nanos(), time.nanos(), id);
        // Not awaited: a jump handler must not block reception.
        match sample.sequence {
            Some(sequence) => sink.post_numbered(time, sequence),
            None => sink.post(time),
        }
    }
}
