//! From messages to batches of rows.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryBuilder, RecordBatch, RecordBatchOptions, StringViewBuilder,
    TimestampNanosecondBuilder, UInt32Builder, UInt64Builder,
};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result};
use timeloom_bag::{Message, TopicInfo};
use timeloom_msg::Schema;

use super::column::{Column, Source};
use crate::field::{FieldBuilder, Payload, UTC};

/// Rows of a batch.
const BATCH_ROWS: usize = 8192;
/// Payload bytes of a batch, so that images do not fill the memory.
const BATCH_BYTES: u64 = 8 << 20;

enum Builder {
    Bag(StringViewBuilder),
    Topic(StringViewBuilder),
    Type(StringViewBuilder),
    LogTime(TimestampNanosecondBuilder),
    PublishTime(TimestampNanosecondBuilder),
    Sequence(UInt32Builder),
    Size(UInt64Builder),
    Data(BinaryBuilder),
    Field(FieldBuilder),
}

/// Collects rows until a batch is full.
pub(super) struct Rows {
    schema: SchemaRef,
    builders: Vec<Builder>,
    message_schema: Option<Arc<Schema>>,
    decodes: bool,
    keeps_payload: bool,
    count: usize,
    bytes: u64,
}

impl Rows {
    pub(super) fn new(
        schema: SchemaRef,
        columns: &[Column],
        message_schema: Option<Arc<Schema>>,
    ) -> Result<Self> {
        let builders = columns.iter().map(builder).collect::<Result<Vec<_>>>()?;
        let decodes = builders
            .iter()
            .any(|builder| matches!(builder, Builder::Field(_)));
        let raw = builders
            .iter()
            .any(|builder| matches!(builder, Builder::Data(_)));
        Ok(Self {
            schema,
            builders,
            message_schema,
            decodes,
            keeps_payload: decodes || raw,
            count: 0,
            bytes: 0,
        })
    }

    /// Whether payloads are decoded at all.
    pub(super) fn decodes(&self) -> bool {
        self.decodes
    }

    pub(super) fn is_full(&self) -> bool {
        self.count >= BATCH_ROWS || self.bytes >= BATCH_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a message; the error says why its values are null.
    pub(super) fn push(
        &mut self,
        bag: &str,
        topic: &TopicInfo,
        message: &Message<'_>,
    ) -> Result<(), timeloom_msg::Error> {
        self.count += 1;
        if self.keeps_payload {
            self.bytes += message.size();
        }
        let payload = self
            .message_schema
            .as_deref()
            .filter(|_| self.decodes)
            .map(|schema| Payload::new(schema, message.data))
            .transpose();
        let (mut payload, mut outcome) = match payload {
            Ok(payload) => (payload, Ok(())),
            Err(error) => (None, Err(error)),
        };
        for builder in &mut self.builders {
            match builder {
                Builder::Bag(builder) => builder.append_value(bag),
                Builder::Topic(builder) => builder.append_value(&topic.name),
                Builder::Type(builder) => builder.append_value(&topic.type_name),
                Builder::LogTime(builder) => builder.append_value(message.log_time_ns),
                Builder::PublishTime(builder) => builder.append_value(message.publish_time_ns),
                Builder::Sequence(builder) => {
                    builder.append_option((message.sequence != 0).then_some(message.sequence));
                }
                Builder::Size(builder) => builder.append_value(message.size()),
                Builder::Data(builder) => builder.append_value(message.data),
                Builder::Field(builder) => match &mut payload {
                    Some(payload) => outcome = outcome.and(builder.append(payload)),
                    None => builder.append_null(),
                },
            }
        }
        outcome
    }

    /// The batch of all rows so far.
    pub(super) fn finish(&mut self) -> Result<RecordBatch> {
        let arrays = self
            .builders
            .iter_mut()
            .map(finish)
            .collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        (self.count, self.bytes) = (0, 0);
        let schema = Arc::clone(&self.schema);
        Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
    }
}

fn builder(column: &Column) -> Result<Builder> {
    let time = || TimestampNanosecondBuilder::new().with_timezone(UTC);
    Ok(match &column.source {
        Source::Bag => Builder::Bag(StringViewBuilder::new()),
        Source::Topic => Builder::Topic(StringViewBuilder::new()),
        Source::Type => Builder::Type(StringViewBuilder::new()),
        Source::LogTime => Builder::LogTime(time()),
        Source::PublishTime => Builder::PublishTime(time()),
        Source::Sequence => Builder::Sequence(UInt32Builder::new()),
        Source::Size => Builder::Size(UInt64Builder::new()),
        Source::Data => Builder::Data(BinaryBuilder::new()),
        Source::Field(node) => {
            let text = || format!("{} holds nothing", column.name);
            let builder = node.builder();
            Builder::Field(builder.ok_or_else(|| DataFusionError::Internal(text()))?)
        }
    })
}

fn finish(builder: &mut Builder) -> Result<ArrayRef> {
    Ok(match builder {
        Builder::Bag(builder) | Builder::Topic(builder) | Builder::Type(builder) => {
            Arc::new(builder.finish())
        }
        Builder::LogTime(builder) | Builder::PublishTime(builder) => Arc::new(builder.finish()),
        Builder::Sequence(builder) => Arc::new(builder.finish()),
        Builder::Size(builder) => Arc::new(builder.finish()),
        Builder::Data(builder) => Arc::new(builder.finish()),
        Builder::Field(builder) => return builder.finish(),
    })
}
