use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use timeloom_time::{Ros, Time};

use super::input_set::Used;
use super::ring::{Received, Ring};
use crate::tag::InputBlock;

/// A topic that a node subscribes to, and the last messages received.
///
/// [`received`](Self::received) has a constant cost, independent of the number of publishers of the node.
#[derive(Debug)]
pub struct TrackedInput {
    pub(super) number: u32,
    topic: Box<str>,
    pub(super) block: InputBlock,
    ring: Ring,
    enabled: Arc<AtomicBool>,
}

impl TrackedInput {
    pub(super) fn new(number: u32, topic: &str, places: usize, enabled: Arc<AtomicBool>) -> Self {
        Self {
            number,
            topic: topic.into(),
            block: InputBlock::new(topic),
            ring: Ring::new(places),
            enabled,
        }
    }

    /// The full name of the topic.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// Records the reception of a message, and returns its entry for an [`InputSet`](super::InputSet). Nothing is
    /// recorded while the tracker is off. Any thread may call; none waits.
    #[inline]
    pub fn received(&self, received: Received) -> Used {
        if self.enabled.load(Ordering::Relaxed) {
            self.ring.push(&received);
        }
        Used {
            input: self.number,
            received,
        }
    }

    /// The newest message.
    #[inline]
    pub fn latest(&self) -> Option<Received> {
        self.ring.latest()
    }

    /// The newest message with this stamp, while it is kept.
    pub fn find(&self, stamp: Time<Ros>) -> Option<Received> {
        self.ring.find(stamp)
    }

    /// Number of messages received while the tracker was on.
    pub fn count(&self) -> u64 {
        self.ring.count()
    }

    /// Number of messages that were not recorded because threads overran each other by a whole ring.
    pub fn dropped(&self) -> u64 {
        self.ring.dropped()
    }
}
