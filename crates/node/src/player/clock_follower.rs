use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use timeloom_msg::QosProfile;
use timeloom_time::{Clock, ClockSink, SourceId, Steady, Time, TimeHub};
use timeloom_wire::{Gid, Receiver, Sample, Subscription};

use super::clock_message::decode_clock;
use super::clock_publisher::clock_topic;
use crate::{Result, RosNode};

/// How many publishers are remembered; more come only from a flood.
const MOST: usize = 64;
/// No sample has come yet.
const NEVER: i64 = i64::MIN;

/// Puts the samples of `/clock` into a hub, on the thread that receives them.
pub(super) struct ClockFollower {
    last: Arc<AtomicI64>,
    _subscription: Box<dyn Subscription>,
}

impl ClockFollower {
    pub(super) fn start(node: &RosNode, hub: &TimeHub) -> Result<Self> {
        let last = Arc::new(AtomicI64::new(NEVER));
        let receiver = ClockReceiver {
            hub: hub.clone(),
            sinks: Mutex::default(),
            steady: Clock::on(&node.participant().time_base()),
            last: Arc::clone(&last),
        };
        let spec = clock_topic(node, QosProfile::CLOCK)?;
        Ok(Self {
            last,
            _subscription: node.wire().subscribe(&spec, Arc::new(receiver))?,
        })
    }

    /// When the last sample came.
    pub(super) fn last(&self) -> Option<Time<Steady>> {
        let last = self.last.load(Ordering::Relaxed);
        (last != NEVER).then(|| Time::from_nanos(last))
    }
}

struct ClockReceiver {
    hub: TimeHub,
    sinks: Mutex<BTreeMap<Gid, ClockSink>>,
    steady: Clock<Steady>,
    last: Arc<AtomicI64>,
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
        self.last
            .store(self.steady.now().nanos(), Ordering::Relaxed);
        // What is no time is no sample; the next one is.
        match (decode_clock(&sample.payload), sample.sequence) {
            (Some(time), Some(sequence)) => sink.tick_numbered(time, sequence),
            (Some(time), None) => sink.tick(time),
            (None, _) => {}
        }
    }
}
