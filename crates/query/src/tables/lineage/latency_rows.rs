//! Rows of the table `latency`.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanBuilder, Float64Builder, RecordBatch, StringViewBuilder,
    TimestampNanosecondBuilder,
};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use timeloom_trace::{Engine, FlowRecord, RecordKind};

use super::analysis::Columns;
use crate::field::UTC;

#[derive(Default)]
pub(super) struct LatencyColumns {
    count: usize,
    bag: StringViewBuilder,
    source: StringViewBuilder,
    target: StringViewBuilder,
    path: StringViewBuilder,
    source_stamp: TimestampNanosecondBuilder,
    target_stamp: TimestampNanosecondBuilder,
    published: TimestampNanosecondBuilder,
    latency_ms: Float64Builder,
    counted_from: StringViewBuilder,
    first: BooleanBuilder,
}

impl LatencyColumns {
    fn push(&mut self, bag: &str, flow: &FlowRecord) {
        self.count += 1;
        self.bag.append_value(bag);
        self.source.append_option(flow.topics.first());
        self.target.append_option(flow.topics.last());
        self.path.append_value(flow.topics.join(" → "));
        self.source_stamp.append_option(flow.source_stamp_ns);
        self.target_stamp.append_option(flow.target_stamp_ns);
        let published = flow.published.ros;
        let published = (!published.is_zero()).then(|| published.nanos());
        self.published.append_option(published);
        self.latency_ms.append_value(flow.latency_ns as f64 / 1e6);
        let from = if flow.from_reception {
            "received"
        } else {
            "published"
        };
        self.counted_from.append_value(from);
        self.first.append_value(flow.is_first);
    }
}

impl Columns for LatencyColumns {
    const KIND: RecordKind = RecordKind::Flows;

    fn take(&mut self, bag: &str, engine: &mut Engine) {
        for record in engine.take_flows() {
            self.push(bag, &record);
        }
    }

    fn rows(&self) -> usize {
        self.count
    }

    fn finish(&mut self, schema: &SchemaRef) -> Result<RecordBatch> {
        self.count = 0;
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(self.bag.finish()),
            Arc::new(self.source.finish()),
            Arc::new(self.target.finish()),
            Arc::new(self.path.finish()),
            Arc::new(self.source_stamp.finish().with_timezone(UTC)),
            Arc::new(self.target_stamp.finish().with_timezone(UTC)),
            Arc::new(self.published.finish().with_timezone(UTC)),
            Arc::new(self.latency_ms.finish()),
            Arc::new(self.counted_from.finish()),
            Arc::new(self.first.finish()),
        ];
        Ok(RecordBatch::try_new(Arc::clone(schema), arrays)?)
    }
}
