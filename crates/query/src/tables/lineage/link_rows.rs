//! Rows of the table `lineage`.

use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::array::{
    Float64Builder, Int64Builder, RecordBatch, StringViewBuilder, TimestampNanosecondBuilder,
};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use timeloom_time::{Ros, Time};
use timeloom_trace::{InputView, Moment, TagView};
use tokio::sync::mpsc::Sender;

use super::tags::read_tags;
use crate::bag_set::{Bag, BagSet};
use crate::field::UTC;

const BATCH_ROWS: usize = 8192;

pub(super) fn read(
    set: &BagSet,
    bag: &Bag,
    schema: &SchemaRef,
    batches: &Sender<Result<RecordBatch>>,
) -> Result<()> {
    let mut rows = Rows::default();
    read_tags(set, bag, |log_time, tag| {
        if tag.inputs().next().is_none() {
            rows.push(&bag.name, log_time, tag, None);
        }
        for input in tag.inputs() {
            rows.push(&bag.name, log_time, tag, Some(&input));
        }
        if rows.count < BATCH_ROWS {
            return Ok(ControlFlow::Continue(()));
        }
        let sent = batches.blocking_send(rows.finish(schema));
        Ok(sent.map_or(ControlFlow::Break(()), ControlFlow::Continue))
    })?;
    if rows.count > 0 {
        // Nobody listens any more: there is nobody to tell, either.
        let _closed = batches.blocking_send(rows.finish(schema));
    }
    Ok(())
}

/// A time as the column holds it; zero is not known.
fn known(time: Time<Ros>) -> Option<i64> {
    (!time.is_zero()).then(|| time.nanos())
}

/// Milliseconds between two moments, by the steady clock of their host where both were read.
fn elapsed_ms(from: Moment, to: Moment) -> Option<f64> {
    let nanos = if !from.steady.is_zero() && !to.steady.is_zero() {
        (to.steady - from.steady).nanos()
    } else {
        known(to.ros)?.checked_sub(known(from.ros)?)?
    };
    Some(nanos as f64 / 1e6)
}

#[derive(Default)]
struct Rows {
    count: usize,
    bag: StringViewBuilder,
    log_time: TimestampNanosecondBuilder,
    topic: StringViewBuilder,
    node: StringViewBuilder,
    sequence: Int64Builder,
    stamp: TimestampNanosecondBuilder,
    published: TimestampNanosecondBuilder,
    input_topic: StringViewBuilder,
    input_stamp: TimestampNanosecondBuilder,
    input_received: TimestampNanosecondBuilder,
    node_ms: Float64Builder,
}

impl Rows {
    fn push(&mut self, bag: &str, log_time: i64, tag: &TagView<'_>, input: Option<&InputView<'_>>) {
        self.count += 1;
        self.bag.append_value(bag);
        self.log_time.append_value(log_time);
        self.topic.append_value(tag.topic);
        self.node
            .append_option((!tag.node.is_empty()).then_some(tag.node));
        self.sequence.append_value(tag.sequence);
        self.stamp.append_option(tag.stamp.map(Time::nanos));
        self.published.append_option(known(tag.published.ros));
        self.input_topic
            .append_option(input.map(|input| input.topic));
        let stamp = input.and_then(|input| input.stamp);
        self.input_stamp.append_option(stamp.map(Time::nanos));
        let received = input.and_then(|input| known(input.received.ros));
        self.input_received.append_option(received);
        let elapsed = input.and_then(|input| elapsed_ms(input.received, tag.published));
        self.node_ms.append_option(elapsed);
    }

    fn finish(&mut self, schema: &SchemaRef) -> Result<RecordBatch> {
        self.count = 0;
        let arrays: Vec<datafusion::arrow::array::ArrayRef> = vec![
            Arc::new(self.bag.finish()),
            Arc::new(self.log_time.finish().with_timezone(UTC)),
            Arc::new(self.topic.finish()),
            Arc::new(self.node.finish()),
            Arc::new(self.sequence.finish()),
            Arc::new(self.stamp.finish().with_timezone(UTC)),
            Arc::new(self.published.finish().with_timezone(UTC)),
            Arc::new(self.input_topic.finish()),
            Arc::new(self.input_stamp.finish().with_timezone(UTC)),
            Arc::new(self.input_received.finish().with_timezone(UTC)),
            Arc::new(self.node_ms.finish()),
        ];
        Ok(RecordBatch::try_new(Arc::clone(schema), arrays)?)
    }
}
