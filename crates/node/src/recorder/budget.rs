use std::collections::VecDeque;

/// The bytes that messages may use while they wait.
///
/// Most of them are shared by all topics. An eighth is reserved, in equal shares for each topic, so that large images
/// cannot displace `/tf`.
#[derive(Debug)]
pub(super) struct Budget {
    limit: usize,
    /// The reserved bytes of all topics together.
    reserve: usize,
    common_used: usize,
    reserve_used: usize,
    topics: Vec<Share>,
}

/// The reserved share of one topic.
#[derive(Debug, Default)]
struct Share {
    used: usize,
    /// The places of its messages in the queue, oldest first; only if the drop policy is to drop the oldest.
    places: VecDeque<usize>,
}

/// The bytes that a message is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pool {
    Common,
    Reserve,
}

impl Budget {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            reserve: limit / 8,
            common_used: 0,
            reserve_used: 0,
            topics: Vec::new(),
        }
    }

    fn share(&mut self, topic: usize) -> &mut Share {
        if self.topics.len() <= topic {
            self.topics.resize_with(topic + 1, Share::default);
        }
        &mut self.topics[topic]
    }

    /// Takes the bytes for a message, if there is space. A single message is admitted whatever its size.
    pub(super) fn admit(&mut self, topic: usize, cost: usize) -> Option<Pool> {
        let (limit, reserve) = (self.limit, self.reserve);
        let alone = self.used() == 0;
        let each = reserve / self.topics.len().max(topic + 1).max(1);
        if alone || self.common_used.saturating_add(cost) <= limit - reserve {
            self.common_used += cost;
            return Some(Pool::Common);
        }
        // An image that was taken alone may have used up more than there is.
        let room = self.used().saturating_add(cost) <= limit;
        let share = self.share(topic);
        if room && share.used.saturating_add(cost) <= each {
            share.used += cost;
            self.reserve_used += cost;
            return Some(Pool::Reserve);
        }
        None
    }

    /// Takes the bytes for a message whatever the limit.
    pub(super) fn force(&mut self, cost: usize) {
        self.common_used += cost;
    }

    /// Releases the bytes of a message.
    pub(super) fn release(&mut self, topic: usize, cost: usize, pool: Pool) {
        match pool {
            Pool::Common => self.common_used = self.common_used.saturating_sub(cost),
            Pool::Reserve => {
                self.reserve_used = self.reserve_used.saturating_sub(cost);
                let share = self.share(topic);
                share.used = share.used.saturating_sub(cost);
            }
        }
    }

    /// The bytes in use.
    pub(super) fn used(&self) -> usize {
        self.common_used + self.reserve_used
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Remembers where a topic's newest message waits.
    pub(super) fn remember(&mut self, topic: usize, place: usize) {
        self.share(topic).places.push_back(place);
    }

    /// Where a topic's oldest message waits; it is then forgotten.
    pub(super) fn oldest(&mut self, topic: usize) -> Option<usize> {
        self.share(topic).places.pop_front()
    }

    /// Forgets all places: the queue was emptied.
    pub(super) fn forget_places(&mut self) {
        for share in &mut self.topics {
            share.places.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_leaves_a_share_for_each_topic() {
        let mut budget = Budget::new(8_000);
        let mut image = 0;
        while budget.admit(0, 1_000).is_some() {
            image += 1;
        }
        assert_eq!(image, 8, "seven of the common bytes and one of its own");
        assert_eq!(budget.admit(0, 100), None, "its own are used up");
        let mut small = 0;
        while budget.admit(1, 50).is_some() {
            small += 1;
        }
        assert_eq!((small, budget.used()), (0, 8_000), "no more than the limit");
    }

    #[test]
    fn small_topics_are_admitted_when_the_common_bytes_are_used() {
        let mut budget = Budget::new(80_000);
        budget.share(9);
        while budget.admit(0, 7_000).is_some() {}
        assert_eq!(budget.used(), 70_000);
        for topic in 1..10 {
            let purses: Vec<_> = (0..11).map(|_| budget.admit(topic, 100)).collect();
            assert_eq!(purses[..10], [Some(Pool::Reserve); 10], "{topic}");
            assert_eq!(purses[10], None, "{topic}");
        }
        budget.release(3, 100, Pool::Reserve);
        assert_eq!(budget.admit(3, 100), Some(Pool::Reserve));
        assert!(budget.used() <= budget.limit());
    }

    #[test]
    fn a_message_above_the_limit_is_admitted_alone() {
        let mut budget = Budget::new(10);
        assert_eq!(budget.admit(0, 1_000), Some(Pool::Common));
        assert_eq!(budget.admit(1, 1), None);
        budget.release(0, 1_000, Pool::Common);
        assert_eq!(budget.admit(1, 1), Some(Pool::Common));
    }
}
