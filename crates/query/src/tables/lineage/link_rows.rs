//! Rows of the table `lineage`.

use std::sync::Arc;

use datafusion::arrow::array::{
    Float64Builder, Int64Builder, RecordBatch, StringViewBuilder, TimestampNanosecondBuilder,
};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use timeloom_time::{Ros, Time};
use timeloom_trace::{Engine, InputRecord, LinkRecord, RecordKind};

use super::analysis::Columns;
use crate::field::UTC;

/// A time as the column holds it; zero is not known.
fn known(time: Time<Ros>) -> Option<i64> {
    (!time.is_zero()).then(|| time.nanos())
}

#[derive(Default)]
pub(super) struct LinkColumns {
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
    transport_ms: Float64Builder,
    total_ms: Float64Builder,
    known_by: StringViewBuilder,
}

impl LinkColumns {
    fn push(&mut self, bag: &str, link: &LinkRecord) {
        self.count += 1;
        self.bag.append_value(bag);
        self.log_time.append_value(link.heard_ns);
        self.topic.append_value(&link.topic);
        let node = (!link.node.is_empty()).then_some(&link.node);
        self.node.append_option(node);
        self.sequence.append_option(link.sequence);
        self.stamp.append_option(link.stamp_ns);
        self.published.append_option(known(link.published.ros));
        let input = link.input.as_ref();
        self.input_topic
            .append_option(input.map(|input| &input.topic));
        self.input_stamp
            .append_option(input.and_then(|input| input.stamp_ns));
        let received = input.and_then(|input| known(input.received.ros));
        self.input_received.append_option(received);
        let ms = |of: fn(&InputRecord) -> Option<u64>| {
            let nanos = input.and_then(of);
            nanos.map(|nanos| nanos as f64 / 1e6)
        };
        self.node_ms.append_option(ms(|input| input.node_ns));
        self.transport_ms
            .append_option(ms(|input| input.transport_ns));
        self.total_ms.append_option(ms(|input| input.total_ns));
        let evidence = input.map(|input| input.evidence.name());
        self.known_by.append_option(evidence);
    }
}

impl Columns for LinkColumns {
    const KIND: RecordKind = RecordKind::Links;

    fn take(&mut self, bag: &str, engine: &mut Engine) {
        for record in engine.take_links() {
            self.push(bag, &record);
        }
    }

    fn rows(&self) -> usize {
        self.count
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
            Arc::new(self.transport_ms.finish()),
            Arc::new(self.total_ms.finish()),
            Arc::new(self.known_by.finish()),
        ];
        Ok(RecordBatch::try_new(Arc::clone(schema), arrays)?)
    }
}
