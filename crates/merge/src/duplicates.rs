//! Copies of messages that several recorders have.

use std::collections::{HashMap, VecDeque};

use timeloom_bag::Message;

use crate::message_pairs::key;

/// Copies come within this time of each other, beside the offset of the clocks, in nanoseconds.
const WINDOW: i64 = 10_000_000_000;

/// Finds copies in a stream of messages in the order of their log times.
#[derive(Debug)]
pub(crate) struct CopyFilter {
    window_ns: i64,
    /// Number of occurrences of a message in each bag, by its key.
    seen: HashMap<u64, Vec<u32>>,
    order: VecDeque<(i64, u64)>,
    removed: u64,
}

impl CopyFilter {
    /// `apart_ns`: how far the log times of two copies are apart by the clocks alone.
    pub(crate) fn new(apart_ns: i64) -> Self {
        Self {
            window_ns: WINDOW.saturating_add(apart_ns),
            seen: HashMap::new(),
            order: VecDeque::new(),
            removed: 0,
        }
    }

    /// Whether the message is the first of its copies. A bag that has the same payload twice has two messages.
    pub(crate) fn is_first(&mut self, bag: usize, topic: &str, message: &Message<'_>) -> bool {
        let now = message.log_time_ns;
        while let Some((time, key)) = self.order.front().copied() {
            if now.saturating_sub(time) <= self.window_ns {
                break;
            }
            self.order.pop_front();
            self.seen.remove(&key);
        }
        let key = key(topic, message, usize::MAX);
        let counts = self.seen.entry(key).or_insert_with(|| {
            self.order.push_back((now, key));
            Vec::new()
        });
        if counts.len() <= bag {
            counts.resize(bag + 1, 0);
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let Some(count) = counts.get_mut(bag) else {
            return true;
        };
        *count += 1;
        let is_first = *count > most;
        self.removed += u64::from(!is_first);
        is_first
    }

    /// Copies that were left out.
    pub(crate) const fn removed(&self) -> u64 {
        self.removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_bag::TopicInfo;

    fn message(log_time_ns: i64, publish_time_ns: i64, data: &[u8]) -> Message<'_> {
        Message {
            topic: timeloom_bag::TopicId::from_index(0).unwrap(),
            log_time_ns,
            publish_time_ns,
            sequence: 0,
            data,
        }
    }

    #[test]
    fn copies_of_other_bags_go_and_repeated_payloads_stay() {
        let topic = TopicInfo::new("/a", "std_msgs/msg/Bool").name;
        let mut filter = CopyFilter::new(0);
        let mut takes =
            |bag, log, publish| filter.is_first(bag, &topic, &message(log, publish, &[1]));
        assert!(takes(0, 10, 5));
        assert!(!takes(1, 11, 5));
        // Without publish times, the n-th of one bag is the n-th of the other.
        assert!(takes(0, 20, 20));
        assert!(takes(0, 21, 21));
        assert!(!takes(1, 22, 22));
        assert!(!takes(1, 23, 23));
        assert!(takes(1, 24, 24));
        // Long after, it is another message.
        assert!(takes(1, 60_000_000_000, 5));
        assert_eq!(filter.removed(), 3);
    }
}
