use std::sync::Arc;

use timeloom_time::sync::{Mutex, MutexGuard, lock};
use timeloom_time::{Duration, Event, TimeBase};

use super::bounded::{Bounded, Dropped, Overflow, PayloadSize, QueueLimits};
use crate::event::EndpointEvent;
use crate::sample::Sample;
use crate::subscription::Receiver;

/// A ready-made [`Receiver`]: a bounded queue of samples for one consumer.
///
/// The consumer is woken once for many samples: at the transport's pause, or early when the queue is half full. Samples
/// that do not fit are dropped by policy and counted; the counts are exact.
pub struct SampleQueue {
    state: Mutex<State>,
    wake: Event,
    limits: QueueLimits,
    overflow: Overflow,
}

struct State {
    queue: Bounded<Sample>,
    dropped: Dropped,
    events: Vec<EndpointEvent>,
    dropped_events: u64,
    /// The consumer was woken and has not taken the samples yet.
    woken: bool,
}

/// Number of events kept for a consumer that does not take them.
const MAX_EVENTS: usize = 1_024;

impl SampleQueue {
    /// An empty queue whose consumer waits on the given time base.
    pub fn new(base: &TimeBase, limits: QueueLimits, overflow: Overflow) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                queue: Bounded::new(limits),
                dropped: Dropped::default(),
                events: Vec::new(),
                dropped_events: 0,
                woken: false,
            }),
            wake: Event::new(base),
            limits,
            overflow,
        })
    }

    /// Moves all samples to the end of `samples`, oldest first; returns their number.
    ///
    /// Never blocks for long. Pass the same vector again, emptied: then the two only swap buffers.
    pub fn take(&self, samples: &mut Vec<Sample>) -> usize {
        let before = samples.len();
        let mut state = self.lock();
        state.woken = false;
        self.wake.clear();
        state.queue.drain_into(samples);
        samples.len() - before
    }

    /// Blocks until there may be something to take, or `timeout` of steady time has passed; true if there may be.
    pub fn wait(&self, timeout: Duration) -> bool {
        self.wake.wait_for(timeout)
    }

    /// Wakes the consumer without a sample: to make it check something else, such as the end of its work.
    pub fn nudge(&self) {
        self.wake.set();
    }

    /// The events since the last call, oldest first.
    pub fn take_events(&self) -> Vec<EndpointEvent> {
        std::mem::take(&mut self.lock().events)
    }

    /// Counts of the samples dropped so far.
    pub fn dropped(&self) -> Dropped {
        self.lock().dropped
    }

    /// Number of events dropped so far.
    pub fn dropped_events(&self) -> u64 {
        self.lock().dropped_events
    }

    /// Number of queued samples.
    pub fn len(&self) -> usize {
        self.lock().queue.len()
    }

    /// Whether no sample is queued.
    pub fn is_empty(&self) -> bool {
        self.lock().queue.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn wake(&self, mut state: MutexGuard<'_, State>) {
        if !std::mem::replace(&mut state.woken, true) {
            self.wake.set();
        }
    }
}

impl PayloadSize for Sample {
    fn bytes(&self) -> usize {
        self.payload.len()
    }
}

impl Receiver for SampleQueue {
    fn sample(&self, sample: Sample) {
        let mut state = self.lock();
        let State { queue, dropped, .. } = &mut *state;
        queue.push(sample, self.overflow, |sample| dropped.add(sample.bytes()));
        let half_full =
            queue.len() >= self.limits.messages / 2 || queue.bytes() >= self.limits.bytes / 2;
        if half_full {
            self.wake(state);
        }
    }

    fn pause(&self) {
        let state = self.lock();
        if !state.queue.is_empty() {
            self.wake(state);
        }
    }

    fn event(&self, event: EndpointEvent) {
        let mut state = self.lock();
        if state.events.len() < MAX_EVENTS {
            state.events.push(event);
        } else {
            state.dropped_events += 1;
        }
        self.wake(state);
    }
}

impl std::fmt::Debug for SampleQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SampleQueue")
            .field("len", &self.len())
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gid::Gid;
    use timeloom_time::Time;

    fn queue(messages: usize, bytes: usize) -> Arc<SampleQueue> {
        let limits = QueueLimits { messages, bytes };
        SampleQueue::new(&TimeBase::machine(), limits, Overflow::DropOldest)
    }

    fn sample(number: u64) -> Sample {
        Sample {
            payload: bytes::Bytes::from_static(&[0; 10]),
            source_time: None,
            receive_time: Time::from_nanos(1),
            writer: Gid([1; 16]),
            sequence: Some(number),
        }
    }

    #[test]
    fn the_consumer_is_woken_once_for_many_samples() {
        let queue = queue(100, 10_000);
        for number in 0..10 {
            queue.sample(sample(number));
            assert!(!queue.wake.is_set(), "not before the pause");
        }
        queue.pause();
        assert!(queue.wait(Duration::from_secs(1)));
        let mut out = Vec::new();
        assert_eq!(queue.take(&mut out), 10);
        assert!(!queue.wake.is_set());
        queue.pause();
        assert!(!queue.wake.is_set(), "nothing came");
        assert_eq!(queue.take(&mut out), 0);
    }

    #[test]
    fn a_half_full_queue_does_not_wait_for_the_pause() {
        let queue = queue(8, 10_000);
        for number in 0..4 {
            assert!(!queue.wake.is_set());
            queue.sample(sample(number));
        }
        assert!(queue.wake.is_set());
    }

    #[test]
    fn drops_are_counted_and_the_newest_stay() {
        let queue = queue(5, 10_000);
        for number in 0..12 {
            queue.sample(sample(number));
        }
        let dropped = Dropped {
            messages: 7,
            bytes: 70,
        };
        assert_eq!(queue.dropped(), dropped);
        let mut out = Vec::new();
        queue.take(&mut out);
        let numbers: Vec<_> = out.iter().filter_map(|sample| sample.sequence).collect();
        assert_eq!(numbers, [7, 8, 9, 10, 11]);
    }

    #[test]
    fn events_are_kept_within_limits() {
        let queue = queue(5, 10_000);
        for total in 0..MAX_EVENTS as u64 + 3 {
            queue.event(EndpointEvent::DeadlineMissed { total });
        }
        assert_eq!(queue.take_events().len(), MAX_EVENTS);
        assert_eq!(queue.dropped_events(), 3);
        assert!(queue.take_events().is_empty());
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use timeloom_time::sync::loom::thread;
    use timeloom_time::sync::model;

    use super::*;
    use crate::gid::Gid;
    use timeloom_time::Time;

    /// Samples, then the transport's pause, while the consumer checks and waits: it is woken for all of them.
    #[test]
    fn the_consumer_misses_no_sample() {
        model(2, || {
            let limits = QueueLimits {
                messages: 100,
                bytes: 1000,
            };
            let queue = SampleQueue::new(&TimeBase::machine(), limits, Overflow::DropOldest);
            let transport = {
                let queue = Arc::clone(&queue);
                thread::spawn(move || {
                    for number in 0..2 {
                        queue.sample(Sample {
                            payload: bytes::Bytes::from_static(&[0; 10]),
                            source_time: None,
                            receive_time: Time::from_nanos(1),
                            writer: Gid([1; 16]),
                            sequence: Some(number),
                        });
                        queue.pause();
                    }
                })
            };
            let mut samples = Vec::new();
            while samples.len() < 2 {
                // A model has no time: a lost wake-up is a deadlock.
                queue.wait(Duration::from_secs(3600));
                queue.take(&mut samples);
            }
            transport.join().unwrap();
            assert_eq!(queue.dropped(), Dropped::default());
        });
    }
}
