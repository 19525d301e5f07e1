//! The last messages of latched topics, to begin every further file with.

use std::collections::{BTreeMap, VecDeque};

use crate::message::size_u64;
use crate::{Message, TopicId};

/// Keeps copies of the last messages of some topics.
#[derive(Debug, Default)]
pub(super) struct Latched {
    topics: BTreeMap<TopicId, Last>,
    /// Copies that were written again, by dense id.
    repeated: Vec<u64>,
}

#[derive(Debug, Default)]
struct Last {
    depth: usize,
    messages: VecDeque<Copied>,
}

/// A message with its own payload.
#[derive(Debug)]
struct Copied {
    log_time_ns: i64,
    publish_time_ns: i64,
    sequence: u32,
    data: Vec<u8>,
}

impl Latched {
    /// Keeps the last `depth` messages of a topic from now on.
    pub(super) fn keep(&mut self, topic: TopicId, depth: usize) {
        self.topics.entry(topic).or_default().depth = depth;
    }

    pub(super) fn add_topic(&mut self) {
        self.repeated.push(0);
    }

    /// Copies that were written again so far, by dense id.
    pub(super) fn repeated(&self) -> &[u64] {
        &self.repeated
    }

    /// Counts all kept messages as written again.
    pub(super) fn count_repeated(&mut self) {
        for (topic, last) in &self.topics {
            if let Some(count) = self.repeated.get_mut(topic.index()) {
                *count += size_u64(last.messages.len());
            }
        }
    }

    /// Copies the messages of the kept topics.
    pub(super) fn see(&mut self, batch: &[Message<'_>]) {
        if self.topics.is_empty() {
            return;
        }
        for message in batch {
            let Some(last) = self.topics.get_mut(&message.topic) else {
                continue;
            };
            last.messages.push_back(Copied {
                log_time_ns: message.log_time_ns,
                publish_time_ns: message.publish_time_ns,
                sequence: message.sequence,
                data: message.data.to_vec(),
            });
            while last.messages.len() > last.depth {
                last.messages.pop_front();
            }
        }
    }

    /// The messages to begin a file with. Their log time is the start of the file, so that playing it has no gap.
    pub(super) fn messages(&self, begin_ns: Option<i64>) -> Vec<Message<'_>> {
        let all = self
            .topics
            .iter()
            .flat_map(|(topic, last)| last.messages.iter().map(move |copied| (topic, copied)));
        all.map(|(topic, copied)| Message {
            topic: *topic,
            log_time_ns: begin_ns.unwrap_or(copied.log_time_ns),
            publish_time_ns: copied.publish_time_ns,
            sequence: copied.sequence,
            data: &copied.data,
        })
        .collect()
    }
}
