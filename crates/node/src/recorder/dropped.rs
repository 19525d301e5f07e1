use std::collections::{BTreeMap, VecDeque};

use super::queued_message::QueuedMessage;
use super::topic_input::TopicInputs;
use crate::trigger::WindowSpan;

/// Messages that the ring had no room for while a trigger could still ask for them.
///
/// If one does, they are lost in the recorder; when they are too old for any, they are left out. Only their times are
/// kept. Of very many, the oldest are counted together, and are lost if a window wants one of them.
#[derive(Debug)]
pub(super) struct Dropped {
    times: VecDeque<(i64, u32)>,
    most: usize,
    max_span_ns: i64,
    /// By topic, with the newest time.
    older: BTreeMap<u32, u64>,
    newest_older_ns: i64,
}

/// A twentieth of the ring's bytes at most.
const RING_BYTES_PER_TIME: usize = 20 * size_of::<(i64, u32)>();

impl Dropped {
    pub(super) fn new(ring_bytes: usize, max_span_ns: i64) -> Self {
        Self {
            times: VecDeque::new(),
            most: (ring_bytes / RING_BYTES_PER_TIME).max(1),
            max_span_ns,
            older: BTreeMap::new(),
            newest_older_ns: i64::MIN,
        }
    }

    pub(super) fn push(&mut self, message: &QueuedMessage, inputs: &TopicInputs) {
        self.times.push_back((message.log_time_ns, message.topic));
        if self.times.len() > self.most
            && let Some((time, topic)) = self.times.pop_front()
        {
            if time.saturating_sub(self.newest_older_ns) > self.max_span_ns {
                self.leave_out_older(inputs);
            }
            *self.older.entry(topic).or_default() += 1;
            self.newest_older_ns = self.newest_older_ns.max(time);
        }
    }

    /// Leaves out what is too old for any trigger.
    pub(super) fn expire(&mut self, now_ns: i64, inputs: &TopicInputs) {
        let is_old = |time: i64| now_ns.saturating_sub(time) > self.max_span_ns;
        if !self.older.is_empty() && is_old(self.newest_older_ns) {
            self.leave_out_older(inputs);
        }
        while let Some((time, topic)) = self.times.front().copied()
            && now_ns.saturating_sub(time) > self.max_span_ns
        {
            self.times.pop_front();
            inputs.overwritten(topic, 1, time);
        }
    }

    /// Counts the messages of a window as lost; returns their number.
    pub(super) fn take_wanted(&mut self, span: &WindowSpan, inputs: &TopicInputs) -> u64 {
        let mut lost: BTreeMap<u32, u64> = BTreeMap::new();
        if span.begin_ns <= self.newest_older_ns {
            lost.append(&mut self.older);
            self.newest_older_ns = i64::MIN;
        }
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
        self.leave_out_older(inputs);
        for (time, topic) in self.times.drain(..) {
            inputs.overwritten(topic, 1, time);
        }
    }

    fn leave_out_older(&mut self, inputs: &TopicInputs) {
        let newest = std::mem::replace(&mut self.newest_older_ns, i64::MIN);
        for (topic, count) in std::mem::take(&mut self.older) {
            inputs.overwritten(topic, count, newest);
        }
    }
}
