//! From messages to batches of rows.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryBuilder, RecordBatch, RecordBatchOptions, StringViewBuilder,
    TimestampNanosecondBuilder, UInt32Builder, UInt64Builder,
};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use timeloom_bag::{Message, TopicInfo};
use timeloom_msg::Schema;

use super::column::{Column, Source};
use super::decoded_fields::DecodedFields;
use crate::field::UTC;

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
    /// The next of the decoded fields.
    Field,
}

/// Collects rows until a batch is full.
pub(super) struct Rows {
    schema: SchemaRef,
    builders: Vec<Builder>,
    fields: Option<DecodedFields>,
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
        let builders: Vec<Builder> = columns.iter().map(builder).collect();
        let nodes = columns.iter().filter_map(|column| match &column.source {
            Source::Field(node) => Some(node),
            _ => None,
        });
        let nodes: Vec<_> = nodes.collect();
        let message_schema = message_schema.filter(|_| !nodes.is_empty());
        let fields = message_schema
            .map(|schema| DecodedFields::new(schema, &nodes))
            .transpose()?;
        let raw = builders
            .iter()
            .any(|builder| matches!(builder, Builder::Data(_)));
        Ok(Self {
            schema,
            builders,
            keeps_payload: fields.is_some() || raw,
            fields,
            count: 0,
            bytes: 0,
        })
    }

    /// Whether payloads are decoded at all.
    pub(super) fn decodes(&self) -> bool {
        self.fields.is_some()
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
    ) -> timeloom_msg::Result<()> {
        self.count += 1;
        if self.keeps_payload {
            self.bytes += message.size();
        }
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
                Builder::Field => {}
            }
        }
        match &mut self.fields {
            Some(fields) => fields.push(message),
            None => Ok(()),
        }
    }

    /// The batch of all rows so far.
    pub(super) fn finish(&mut self) -> Result<RecordBatch> {
        let fields = match &mut self.fields {
            Some(fields) => fields.take()?,
            None => Vec::new(),
        };
        let mut fields = fields.into_iter();
        let arrays = self
            .builders
            .iter_mut()
            .filter_map(|builder| finish(builder).or_else(|| fields.next()))
            .collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        (self.count, self.bytes) = (0, 0);
        let schema = Arc::clone(&self.schema);
        Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
    }
}

fn builder(column: &Column) -> Builder {
    let time = || TimestampNanosecondBuilder::new().with_timezone(UTC);
    match &column.source {
        Source::Bag => Builder::Bag(StringViewBuilder::new()),
        Source::Topic => Builder::Topic(StringViewBuilder::new()),
        Source::Type => Builder::Type(StringViewBuilder::new()),
        Source::LogTime => Builder::LogTime(time()),
        Source::PublishTime => Builder::PublishTime(time()),
        Source::Sequence => Builder::Sequence(UInt32Builder::new()),
        Source::Size => Builder::Size(UInt64Builder::new()),
        Source::Data => Builder::Data(BinaryBuilder::new()),
        Source::Field(_) => Builder::Field,
    }
}

/// The values so far; `None` for a field.
fn finish(builder: &mut Builder) -> Option<ArrayRef> {
    Some(match builder {
        Builder::Bag(builder) | Builder::Topic(builder) | Builder::Type(builder) => {
            Arc::new(builder.finish())
        }
        Builder::LogTime(builder) | Builder::PublishTime(builder) => Arc::new(builder.finish()),
        Builder::Sequence(builder) => Arc::new(builder.finish()),
        Builder::Size(builder) => Arc::new(builder.finish()),
        Builder::Data(builder) => Arc::new(builder.finish()),
        Builder::Field => return None,
    })
}
