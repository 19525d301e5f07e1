//! Rows of the table `latency`.

use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Float64Builder, RecordBatch, StringViewBuilder, TimestampNanosecondBuilder,
};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use tokio::sync::mpsc::Sender;

use super::flows::{Flow, Flows, MOST_MESSAGES};
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
    let mut flows = Flows::default();
    read_tags(set, bag, |_, tag| {
        flows.add(tag);
        Ok(ControlFlow::Continue(()))
    })?;
    let mut rows = Rows::default();
    for target in flows.targets() {
        let into = flows.flows_into(target);
        for flow in &into.flows {
            rows.push(&bag.name, &flows, flow);
        }
        if into.cut {
            set.findings.add_unread(format!(
                "{}: latency: more than {MOST_MESSAGES} messages lead to one message, and the oldest are left out",
                bag.name
            ));
        }
        if rows.count >= BATCH_ROWS && batches.blocking_send(rows.finish(schema)).is_err() {
            return Ok(());
        }
    }
    if rows.count > 0 {
        // Nobody listens any more: there is nobody to tell, either.
        let _closed = batches.blocking_send(rows.finish(schema));
    }
    Ok(())
}

#[derive(Default)]
struct Rows {
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
}

impl Rows {
    fn push(&mut self, bag: &str, flows: &Flows, flow: &Flow) {
        let names: Vec<&str> = flow.topics.iter().map(|topic| flows.name(*topic)).collect();
        self.count += 1;
        self.bag.append_value(bag);
        self.source.append_option(names.first());
        self.target.append_option(names.last());
        self.path.append_value(names.join(" → "));
        self.source_stamp.append_option(flow.source_stamp);
        self.target_stamp.append_option(flow.target_stamp);
        self.published.append_value(flow.end);
        let known = flow.start != 0 && flow.end != 0;
        let latency = known.then(|| flow.end.saturating_sub(flow.start) as f64 / 1e6);
        self.latency_ms.append_option(latency);
        let from = if flow.from_reception {
            "received"
        } else {
            "published"
        };
        self.counted_from.append_value(from);
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
        ];
        Ok(RecordBatch::try_new(Arc::clone(schema), arrays)?)
    }
}
