use std::collections::{BTreeMap, VecDeque};

use super::queued_message::QueuedMessage;
use super::topic_input::TopicInputs;
use crate::trigger::WindowSpan;

/// Messages that the ring had no room for while a trigger could still ask for them.
///
/// If one does, they are lost in the recorder; when they are too old for any, they are left out. Only their times are
/// kept. Of very many, the oldest are counted in stretches of time; a stretch is lost as a whole if a window wants a
/// part of it.
#[derive(Debug)]
pub(super) struct Dropped {
    times: VecDeque<(i64, u32)>,
    most: usize,
    max_span_ns: i64,
    /// Older than all of `times`, oldest first.
    stretches: VecDeque<Stretch>,
}

#[derive(Debug)]
struct Stretch {
    begin_ns: i64,
    end_ns: i64,
    /// By topic.
    messages: BTreeMap<u32, u64>,
}

/// A twentieth of the ring's bytes at most, and this many at least.
const RING_BYTES_PER_TIME: usize = 20 * size_of::<(i64, u32)>();
const LEAST_TIMES: usize = 4096;
/// The stretches in the longest time that a trigger can ask for.
const STRETCHES: i64 = 256;

impl Dropped {
    pub(super) fn new(ring_bytes: usize, max_span_ns: i64) -> Self {
        Self {
            times: VecDeque::new(),
            most: (ring_bytes / RING_BYTES_PER_TIME).max(LEAST_TIMES),
            max_span_ns,
            stretches: VecDeque::new(),
        }
    }

    pub(super) fn push(&mut self, message: &QueuedMessage) {
        self.times.push_back((message.log_time_ns, message.topic));
        if self.times.len() > self.most
            && let Some((time, topic)) = self.times.pop_front()
        {
            self.join(time, topic);
        }
    }

    /// Adds a message to the last stretch, or begins a new one.
    fn join(&mut self, time: i64, topic: u32) {
        let length = self.max_span_ns / STRETCHES;
        let last = self.stretches.back_mut();
        let last = last.filter(|last| time.saturating_sub(last.begin_ns) <= length);
        if let Some(last) = last {
            last.begin_ns = last.begin_ns.min(time);
            last.end_ns = last.end_ns.max(time);
            *last.messages.entry(topic).or_default() += 1;
            return;
        }
        self.stretches.push_back(Stretch {
            begin_ns: time,
            end_ns: time,
            messages: BTreeMap::from([(topic, 1)]),
        });
    }

    /// Leaves out what is too old for any trigger.
    pub(super) fn expire(&mut self, now_ns: i64, inputs: &TopicInputs) {
        let oldest = now_ns.saturating_sub(self.max_span_ns);
        while let Some(stretch) = self.stretches.pop_front_if(|first| first.end_ns < oldest) {
            stretch.leave_out(inputs);
        }
        while let Some((time, topic)) = self.times.pop_front_if(|(time, _)| *time < oldest) {
            inputs.overwritten(topic, 1, time);
        }
    }

    /// Counts the messages of a window as lost; returns their number.
    pub(super) fn take_wanted(&mut self, span: &WindowSpan, inputs: &TopicInputs) -> u64 {
        let mut lost: BTreeMap<u32, u64> = BTreeMap::new();
        self.stretches.retain(|stretch| {
            let wanted = stretch.begin_ns <= span.end_ns && span.begin_ns <= stretch.end_ns;
            if wanted {
                for (topic, count) in &stretch.messages {
                    *lost.entry(*topic).or_default() += count;
                }
            }
            !wanted
        });
        self.times.retain(|(time, topic)| {
            let wanted = span.contains(*time);
            if wanted {
                *lost.entry(*topic).or_default() += 1;
            }
            !wanted
        });
        for (topic, count) in &lost {
            inputs.lost_in_ring(*topic, *count, span.begin_ns);
        }
        lost.values().sum()
    }

    pub(super) fn leave_out_all(&mut self, inputs: &TopicInputs) {
        for stretch in self.stretches.drain(..) {
            stretch.leave_out(inputs);
        }
        for (time, topic) in self.times.drain(..) {
            inputs.overwritten(topic, 1, time);
        }
    }
}

impl Stretch {
    fn leave_out(&self, inputs: &TopicInputs) {
        for (topic, count) in &self.messages {
            inputs.overwritten(*topic, *count, self.end_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    /// Very many are counted in stretches: memory is bounded, and the error is one stretch.
    #[test]
    fn of_very_many_the_oldest_are_counted_in_stretches() {
        let inputs = TopicInputs::default();
        let mut dropped = Dropped::new(0, 256_000);
        for time in 0..100_000 {
            dropped.push(&QueuedMessage::new(0, time, 0, Bytes::new()));
            dropped.expire(time, &inputs);
        }
        assert_eq!(dropped.times.len(), LEAST_TIMES);
        assert!(dropped.stretches.len() <= 100);
        let span = |begin_ns, end_ns| WindowSpan {
            number: 1,
            begin_ns,
            end_ns,
        };
        assert_eq!(dropped.take_wanted(&span(99_990, 100_100), &inputs), 10);
        let lost = dropped.take_wanted(&span(50_000, 99_989), &inputs);
        assert!((49_990..=49_990 + 1_001).contains(&lost), "{lost}");
        dropped.expire(400_000, &inputs);
        assert!(dropped.stretches.is_empty() && dropped.times.is_empty());
    }
}
