use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use timeloom_msg::QosProfile;
use timeloom_time::{Clock, ClockSink, SourceId, Steady, Time, TimeHub};
use timeloom_wire::{Gid, Receiver, Sample, Subscription};

use super::clock_beat::ClockBeat;
use super::clock_message::decode_clock;
use super::clock_publisher::clock_topic;
use crate::{Result, RosNode};

/// How many publishers are remembered; more come only from a flood.
const MOST: usize = 64;
/// The end of a lap and the start of the next one come at the same moment: neither may replace the other.
const QOS: QosProfile = QosProfile {
    depth: 100,
    ..QosProfile::CLOCK
};

/// Puts the samples of `/clock` into a hub, on the thread that receives them.
pub(super) struct ClockFollower {
    beat: Arc<Mutex<ClockBeat>>,
    steady: Clock<Steady>,
    _subscription: Box<dyn Subscription>,
}

impl ClockFollower {
    pub(super) fn start(node: &RosNode, hub: &TimeHub) -> Result<Self> {
        let beat = Arc::<Mutex<ClockBeat>>::default();
        let steady = Clock::on(&node.participant().time_base());
        let receiver = ClockReceiver {
            hub: hub.clone(),
            sinks: Mutex::default(),
            steady: steady.clone(),
            beat: Arc::clone(&beat),
        };
        let spec = clock_topic(node, QOS)?;
        Ok(Self {
            beat,
            steady,
            _subscription: node.wire().subscribe(&spec, Arc::new(receiver))?,
        })
    }

    /// What its samples say.
    pub(super) fn beat(&self) -> &Arc<Mutex<ClockBeat>> {
        &self.beat
    }

    /// When the last sample came.
    pub(super) fn last(&self) -> Option<Time<Steady>> {
        lock(&self.beat).last().map(Time::from_nanos)
    }

    /// Whether its time stands: paused, silent, or not there yet.
    pub(super) fn is_standing(&self) -> bool {
        lock(&self.beat).is_standing(self.steady.now().nanos())
    }

    /// How fast its time goes, as far as its samples tell.
    pub(super) fn rate(&self) -> Option<f64> {
        lock(&self.beat).rate()
    }
}

struct ClockReceiver {
    hub: TimeHub,
    sinks: Mutex<BTreeMap<Gid, ClockSink>>,
    steady: Clock<Steady>,
    beat: Arc<Mutex<ClockBeat>>,
}

fn lock(beat: &Mutex<ClockBeat>) -> MutexGuard<'_, ClockBeat> {
    beat.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClockReceiver {
    fn sink(&self, writer: Gid) -> ClockSink {
        let mut sinks = self.sinks.lock().unwrap_or_else(PoisonError::into_inner);
        if sinks.len() >= MOST && !sinks.contains_key(&writer) {
            sinks.clear();
        }
        let new = || self.hub.sink(SourceId::new(&writer.to_string(), writer.0));
        sinks.entry(writer).or_insert_with(new).clone()
    }
}

impl Receiver for ClockReceiver {
    fn sample(&self, sample: Sample) {
        let sink = self.sink(sample.writer);
        // What is no time is no sample; the next one is.
        let Some(time) = decode_clock(&sample.payload) else {
            return;
        };
        // Before the clock: who hears of its step knows how much time has passed.
        lock(&self.beat).sample(self.steady.now().nanos(), time.nanos());
        match sample.sequence {
            Some(sequence) => sink.tick_numbered(time, sequence),
            None => sink.tick(time),
        }
    }
}
