//! The analysis of `trace` over a bag, for its single links and flows.

use std::ops::ControlFlow;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result};
use timeloom_bag::{BagReader, Query, StorageReader as _, TopicId};
use timeloom_msg::StampProgram;
use timeloom_time::{Ros, Time};
use timeloom_trace::{
    Engine, EngineOptions, LinkSearch, Moment, Pass, Publication, PublishedTime, RecordKind,
    RecordedMessage, Recording, RecordingFeed, Sink, TAG_TYPE,
};
use tokio::sync::mpsc::Sender;

use crate::bag_set::{Bag, BagSet};
use crate::findings::Undecoded;

/// So many rows are sent at once.
const BATCH_ROWS: usize = 8192;

/// The columns of a table, filled with what an engine recorded.
pub(super) trait Columns: Default {
    /// What an engine is to record.
    const KIND: RecordKind;

    /// Takes the records of an engine.
    fn take(&mut self, bag: &str, engine: &mut Engine);

    /// How many rows there are.
    fn rows(&self) -> usize;

    /// The rows, which are then gone.
    fn finish(&mut self, schema: &SchemaRef) -> Result<RecordBatch>;
}

/// Sends the rows of a bag: its tags and the messages that they name are analysed as `timeloom trace report` does.
pub(super) fn read<C: Columns>(
    set: &BagSet,
    bag: &Bag,
    schema: &SchemaRef,
    batches: &Sender<Result<RecordBatch>>,
) -> Result<()> {
    let has_tags = bag.info.topics.iter().any(|it| it.type_name == TAG_TYPE);
    if !has_tags {
        return Ok(());
    }
    let failed =
        |error: timeloom_bag::Error| DataFusionError::Execution(format!("{}: {error}", bag.name));
    let reader = set.source.open(&bag.uri).map_err(failed)?;
    let mut recording = QueriedBag { set, bag, reader };
    let mut sink = RowSink {
        engine: Engine::new(EngineOptions {
            records: C::KIND,
            ..EngineOptions::default()
        }),
        bag: &bag.name,
        schema,
        batches,
        columns: C::default(),
        is_done: false,
    };
    let feed = RecordingFeed {
        links: LinkSearch::Tags,
        ..RecordingFeed::default()
    };
    let intake = feed.run(&mut recording, &mut sink).map_err(failed)?;
    if intake.broken > 0 {
        let key = Undecoded {
            bag: bag.name.clone(),
            topic: "the tags".to_owned(),
            from_ns: None,
        };
        let reason = "not a MessageTrackingTag";
        set.findings.add_undecoded(key, intake.broken, reason);
    }
    sink.engine.finish();
    sink.columns.take(&bag.name, &mut sink.engine);
    if sink.columns.rows() > 0 {
        sink.send();
    }
    Ok(())
}

/// A bag of a query as a recording.
struct QueriedBag<'a> {
    set: &'a BagSet,
    bag: &'a Bag,
    reader: BagReader,
}

impl Recording for QueriedBag<'_> {
    type Error = timeloom_bag::Error;

    fn topics(&self) -> Vec<(String, String)> {
        let topics = self.bag.info.topics.iter();
        topics
            .map(|topic| (topic.name.clone(), topic.type_name.clone()))
            .collect()
    }

    fn stamp(&self, topic: usize) -> Option<StampProgram> {
        let topic = self.bag.info.topics.get(topic)?;
        let schema = self.set.source.schema(topic, &self.bag.info.ros_distro);
        StampProgram::compile(&schema.ok()?)
    }

    fn read(
        &mut self,
        topics: &[usize],
        pass: Pass,
        take: &mut dyn FnMut(&RecordedMessage<'_>) -> ControlFlow<()>,
    ) -> Result<(), timeloom_bag::Error> {
        let topics = topics.iter().copied().filter_map(TopicId::from_index);
        self.reader.start(&Query {
            topics: Some(topics.collect()),
            ..Query::default()
        })?;
        loop {
            match self.reader.next_message() {
                Ok(Some(message)) => {
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
                Ok(None) => return Ok(()),
                // The second pass meets it again.
                Err(_) if pass == Pass::Survey => {}
                Err(error) => {
                    let text = format!("{}: {error}", self.bag.name);
                    self.set.findings.add_unread(text);
                }
            }
        }
    }
}

/// An engine whose records become rows at once.
struct RowSink<'a, C> {
    engine: Engine,
    bag: &'a str,
    schema: &'a SchemaRef,
    batches: &'a Sender<Result<RecordBatch>>,
    columns: C,
    is_done: bool,
}

impl<C: Columns> RowSink<'_, C> {
    fn drain(&mut self) {
        self.columns.take(self.bag, &mut self.engine);
        if self.columns.rows() >= BATCH_ROWS {
            self.send();
        }
    }

    /// A query that has ended takes no more rows.
    fn send(&mut self) {
        let batch = self.columns.finish(self.schema);
        self.is_done |= self.batches.blocking_send(batch).is_err();
    }
}

impl<C: Columns> Sink for RowSink<'_, C> {
    fn is_done(&self) -> bool {
        self.is_done
    }

    fn expect(&mut self, topic: &str) {
        self.engine.expect_topic(topic);
    }

    fn tag(&mut self, publication: &Publication<'_>, now: i64) {
        self.engine.tagged_publication(publication, now);
        self.drain();
    }

    fn linked(&mut self, publication: &Publication<'_>, now: i64) {
        self.engine.publication(publication, now);
        self.drain();
    }

    fn message(&mut self, topic: &str, stamp: Option<Time<Ros>>, published: Moment, now: i64) {
        self.engine.message(topic, stamp, published, now);
        self.drain();
    }

    fn published_time(&mut self, topic: &str, note: PublishedTime, now: i64) {
        self.engine.published_time(topic, note, now);
    }
}
