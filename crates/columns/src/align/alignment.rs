//! Topics of bags, read so that they can be aligned.

use super::{AlignOptions, AlignStream, TopicTimes};
use crate::{Error, Result, TimeBase, TopicReader, TopicRequest};

/// The topics of an aligned table.
#[derive(Debug, Clone)]
pub struct Alignment {
    /// The topic whose messages are the rows, and the log times of those rows. Its fields are not used.
    pub to: TopicRequest,
    /// The topics whose values are in the table. Their own log times are not used: a row at the edge has partners
    /// beyond it.
    pub topics: Vec<TopicRequest>,
    /// The time that counts.
    pub base: TimeBase,
    /// How values are chosen.
    pub options: AlignOptions,
}

/// Replaces the times of a topic by better ones, such as those of another clock.
pub type Correction<E> = fn(&mut TopicTimes) -> Result<(), E>;

impl Alignment {
    /// Reads the times of all topics and finds the partners: the rows, and what could not be used, in words.
    ///
    /// `open` is called once for the topic of the rows and twice for each other one.
    ///
    /// # Errors
    /// Those of `open` and `correction`; when a bag cannot be read, or a type has no header stamp but one is wanted.
    pub fn start<E: From<Error>>(
        &self,
        open: &dyn Fn(&TopicRequest) -> Result<TopicReader, E>,
        correction: Option<Correction<E>>,
    ) -> Result<(AlignStream, Vec<String>), E> {
        let mut lost = Vec::new();
        let mut times = |request: &TopicRequest| self.times(request, open, correction, &mut lost);
        let is_corrected = correction.is_some();
        let frames = self.frames(times(&self.rows_request(is_corrected))?);
        let mut topics = Vec::with_capacity(self.topics.len());
        for request in &self.topics {
            let request = self.with_partners(request, is_corrected);
            topics.push((times(&request)?, open(&request)?));
        }
        let stream = AlignStream::new(frames, topics, self.options)?;
        Ok((stream, lost))
    }

    /// What is read of the topic of the rows: only its times. A clock is estimated from all of its messages.
    fn rows_request(&self, is_corrected: bool) -> TopicRequest {
        let mut request = TopicRequest {
            fields: Some(Vec::new()),
            ..self.to.clone()
        };
        if is_corrected {
            (request.start_ns, request.end_ns) = (None, None);
        }
        request
    }

    /// The times of the rows, ascending.
    fn frames(&self, times: TopicTimes) -> Vec<i64> {
        let is_row = |log_time: i64| {
            self.to.start_ns.is_none_or(|start| log_time >= start)
                && self.to.end_ns.is_none_or(|end| log_time <= end)
        };
        let all = times.times.into_iter().zip(times.log_times);
        let rows = all.filter_map(|(time, log_time)| time.filter(|_| is_row(log_time)));
        let mut frames: Vec<i64> = rows.collect();
        frames.sort_unstable();
        frames
    }

    /// The part of a topic that can have partners.
    fn with_partners(&self, request: &TopicRequest, is_corrected: bool) -> TopicRequest {
        let tolerance = self.options.tolerance_ns;
        let near = tolerance.filter(|_| self.base == TimeBase::LogTime && !is_corrected);
        let start = self.to.start_ns.zip(near);
        let end = self.to.end_ns.zip(near);
        TopicRequest {
            start_ns: start.map(|(start, near)| start.saturating_sub(near)),
            end_ns: end.map(|(end, near)| end.saturating_add(near)),
            ..request.clone()
        }
    }

    /// The times of a topic; what cannot be used of it goes to `lost`.
    fn times<E: From<Error>>(
        &self,
        request: &TopicRequest,
        open: &dyn Fn(&TopicRequest) -> Result<TopicReader, E>,
        correction: Option<Correction<E>>,
        lost: &mut Vec<String>,
    ) -> Result<TopicTimes, E> {
        let mut reader = open(request)?;
        let mut times = TopicTimes::read(&request.topic, &mut reader, self.base)?;
        if let Some(correct) = correction {
            correct(&mut times)?;
        }
        let (undecoded, _) = reader.undecoded();
        let without = times.missing().saturating_sub(undecoded);
        let without = without_time_text(&request.topic, without);
        for text in reader.lost().into_iter().chain(without) {
            // Each reader meets the same damage.
            if !lost.contains(&text) {
                lost.push(text);
            }
        }
        Ok(times)
    }
}

/// The sentence on messages without a time; `None` if there are none.
fn without_time_text(topic: &str, count: u64) -> Option<String> {
    let messages = if count == 1 { "message" } else { "messages" };
    let text = || format!("{count} {messages} of {topic} without a time left out");
    (count > 0).then(text)
}
