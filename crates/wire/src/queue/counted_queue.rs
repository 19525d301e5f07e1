use std::sync::Arc;

use timeloom_time::sync::{Mutex, lock};
use timeloom_time::{Clock, Duration, Ros, Time, TimeBase};

use super::{Overflow, QueueLimits, SampleQueue};
use crate::event::EndpointEvent;
use crate::loss_tracker::LossTracker;
use crate::sample::Sample;
use crate::subscription::Receiver;

/// A [`SampleQueue`] that also counts what the transport lost.
///
/// Losses are counted on reception, so that what the queue drops is not taken for a loss of the transport.
pub struct CountedQueue {
    queue: Arc<SampleQueue>,
    /// The clock of reception times, zero while it has no time; default: the machine's.
    clock: Option<Clock<Ros>>,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    received: u64,
    losses: LossTracker,
}

/// Received and lost messages of a subscription.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceivedAccount {
    /// Number of received messages.
    pub received: u64,
    /// Number of messages missing between the first and the last one of each publisher.
    pub lost_in_transport: u64,
    /// Number of messages that the queue dropped.
    pub dropped: u64,
}

impl ReceivedAccount {
    /// Whether anything is missing.
    pub fn is_lossy(self) -> bool {
        self.lost_in_transport + self.dropped > 0
    }
}

impl CountedQueue {
    /// An empty queue; the oldest messages are dropped when it is full.
    pub fn new(base: &TimeBase, limits: QueueLimits, clock: Option<Clock<Ros>>) -> Arc<Self> {
        Arc::new(Self {
            queue: SampleQueue::new(base, limits, Overflow::DropOldest),
            clock,
            counts: Mutex::default(),
        })
    }

    /// Blocks for samples or until `timeout`; moves them to the end of `samples` and returns their number.
    pub fn wait(&self, samples: &mut Vec<Sample>, timeout: Duration) -> usize {
        self.queue.wait(timeout);
        self.queue.take(samples)
    }

    /// Ends a wait without a sample.
    pub fn nudge(&self) {
        self.queue.nudge();
    }

    /// The events since the last call, oldest first.
    pub fn take_events(&self) -> Vec<EndpointEvent> {
        self.queue.take_events()
    }

    /// The counts so far.
    pub fn account(&self) -> ReceivedAccount {
        let counts = lock(&self.counts);
        ReceivedAccount {
            received: counts.received,
            lost_in_transport: counts.losses.lost(),
            dropped: self.queue.dropped().messages,
        }
    }
}

impl Receiver for CountedQueue {
    fn sample(&self, mut sample: Sample) {
        if let Some(clock) = &self.clock {
            sample.receive_time = Time::from_nanos(clock.now().nanos());
        }
        {
            let mut counts = lock(&self.counts);
            counts.received += 1;
            if let Some(sequence) = sample.sequence {
                counts.losses.sample(sample.writer, sequence);
            }
        }
        self.queue.sample(sample);
    }

    fn pause(&self) {
        self.queue.pause();
    }

    fn event(&self, event: EndpointEvent) {
        self.queue.event(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gid;

    #[test]
    fn losses_in_transport_and_in_the_queue_are_counted_apart() {
        let limits = QueueLimits {
            messages: 100,
            bytes: 1 << 20,
        };
        let queue = CountedQueue::new(&TimeBase::machine(), limits, None);
        let missing = 3;
        let all = limits.messages as u64 + 7;
        for sequence in 1..=all {
            if sequence > 1 && sequence <= 1 + missing {
                continue;
            }
            queue.sample(Sample {
                payload: bytes::Bytes::from_static(&[0; 8]),
                source_time: None,
                receive_time: Time::from_nanos(1),
                writer: Gid([1; 16]),
                sequence: Some(sequence),
            });
        }
        let account = ReceivedAccount {
            received: all - missing,
            lost_in_transport: missing,
            dropped: 7 - missing,
        };
        assert_eq!(queue.account(), account);
    }
}
