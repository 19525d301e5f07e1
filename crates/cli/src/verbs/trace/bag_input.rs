//! A bag as a recording that lineage is read from.

use std::ops::ControlFlow;

use timeloom_bag::{BagReader, Decoder, Query, StorageReader as _, TopicId};
use timeloom_msg::StampProgram;
use timeloom_trace::{Pass, RecordedMessage, Recording};

use crate::context::Context;
use crate::decode::decoder;
use crate::time_range::TimeRange;

/// A part of a bag, with progress and warnings.
pub(super) struct BagRecording<'a> {
    reader: &'a mut BagReader,
    range: TimeRange,
    decoder: Decoder,
    context: &'a mut Context,
    damaged: u64,
}

impl<'a> BagRecording<'a> {
    pub(super) fn new(
        reader: &'a mut BagReader,
        range: TimeRange,
        context: &'a mut Context,
    ) -> Self {
        let info = reader.info();
        let decoder = decoder(info);
        Self {
            reader,
            range,
            decoder,
            context,
            damaged: 0,
        }
    }

    /// Stretches that could not be read.
    pub(super) fn damaged(&self) -> u64 {
        self.damaged
    }
}

impl Recording for BagRecording<'_> {
    type Error = anyhow::Error;

    fn topics(&self) -> Vec<(String, String)> {
        let topics = self.reader.info().topics.iter();
        topics
            .map(|topic| (topic.name.clone(), topic.type_name.clone()))
            .collect()
    }

    fn stamp(&self, topic: usize) -> Option<StampProgram> {
        let schema = self.decoder.schema(topic).ok()?;
        StampProgram::compile(schema)
    }

    fn read(
        &mut self,
        topics: &[usize],
        pass: Pass,
        take: &mut dyn FnMut(&RecordedMessage<'_>) -> ControlFlow<()>,
    ) -> anyhow::Result<()> {
        let topics = topics.iter().copied().filter_map(TopicId::from_index);
        let query = Query {
            topics: Some(topics.collect()),
            start_ns: self.range.start_ns,
            end_ns: self.range.end_ns,
            ..Query::default()
        };
        self.reader.start(&query)?;
        let info = self.reader.info().clone();
        let mut progress = self.context.progress("tracing");
        let mut count = 0;
        loop {
            let message = match self.reader.next_message() {
                Ok(Some(message)) => message,
                Ok(None) => return Ok(()),
                Err(error) if !error.is_damage() => return Err(error.into()),
                Err(error) => {
                    // The second pass meets it again.
                    if pass == Pass::Feed {
                        self.context.printer.warning(&error.to_string());
                        self.damaged += 1;
                    }
                    continue;
                }
            };
            count += 1;
            progress.update(self.range.fraction(&info, message.log_time_ns), count);
            let recorded = RecordedMessage {
                topic: message.topic.index(),
                log_time_ns: message.log_time_ns,
                publish_time_ns: message.publish_time_ns,
                payload: message.data,
            };
            if take(&recorded).is_break() {
                return Ok(());
            }
        }
    }
}
