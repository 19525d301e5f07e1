use std::sync::{Arc, Mutex};

use crate::locking::lock;
use timeloom_wire::{EndpointEvent, EventObserver, Receiver, Sample};

/// Records the events of an endpoint, in order.
#[derive(Debug, Default)]
pub struct EventLog(Mutex<Vec<EndpointEvent>>);

impl EventLog {
    /// An empty log.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The callback for a publisher, which writes into the log.
    pub fn observer(self: &Arc<Self>) -> EventObserver {
        let log = Arc::clone(self);
        Arc::new(move |event| log.push(event))
    }

    /// Adds an event.
    pub fn push(&self, event: EndpointEvent) {
        lock(&self.0).push(event);
    }

    /// All events so far.
    pub fn all(&self) -> Vec<EndpointEvent> {
        lock(&self.0).clone()
    }

    /// Whether an event matches the condition.
    pub fn any(&self, condition: impl Fn(&EndpointEvent) -> bool) -> bool {
        lock(&self.0).iter().any(condition)
    }

    /// The number of peers in the last event of that kind; 0 if there was none.
    pub fn last_matched(&self) -> usize {
        let log = lock(&self.0);
        let current = log.iter().rev().find_map(|event| match event {
            EndpointEvent::Matched { current, .. } => Some(*current),
            _ => None,
        });
        current.unwrap_or(0)
    }
}

/// A receiver that keeps everything.
#[derive(Debug, Default)]
pub struct Collector {
    samples: Mutex<Vec<Sample>>,
    /// Number of samples at the last pause.
    paused_at: Mutex<usize>,
    /// Other events.
    pub events: EventLog,
}

impl Collector {
    /// An empty collector.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Number of received samples.
    pub fn count(&self) -> usize {
        lock(&self.samples).len()
    }

    /// All samples so far.
    pub fn samples(&self) -> Vec<Sample> {
        lock(&self.samples).clone()
    }

    /// Number of samples received before a pause.
    pub fn paused_at(&self) -> usize {
        *lock(&self.paused_at)
    }
}

impl Receiver for Collector {
    fn sample(&self, sample: Sample) {
        lock(&self.samples).push(sample);
    }

    fn pause(&self) {
        let count = self.count();
        *lock(&self.paused_at) = count;
    }

    fn event(&self, event: EndpointEvent) {
        self.events.push(event);
    }
}
