//! The tables `lineage` (one row per link) and `latency` (one row per flow), by the analysis of `trace`.

mod analysis;
mod latency_rows;
mod link_rows;

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::streaming::PartitionStream;
use tokio::sync::mpsc::Sender;

use self::latency_rows::LatencyColumns;
use self::link_rows::LinkColumns;
use crate::bag_set::{Bag, BagSet};
use crate::field::time_type;

/// The table `lineage`: one row for each input of each message.
pub(crate) fn lineage_table(set: &Arc<BagSet>) -> Result<StreamingTable> {
    let schema = schema(&[
        ("bag", DataType::Utf8View),
        ("log_time", time_type()),
        ("topic", DataType::Utf8View),
        ("node", DataType::Utf8View),
        ("sequence", DataType::Int64),
        ("stamp", time_type()),
        ("published", time_type()),
        ("input_topic", DataType::Utf8View),
        ("input_stamp", time_type()),
        ("input_received", time_type()),
        ("node_ms", DataType::Float64),
        ("transport_ms", DataType::Float64),
        ("total_ms", DataType::Float64),
        ("known_by", DataType::Utf8View),
    ]);
    table(set, &schema, analysis::read::<LinkColumns>)
}

/// The table `latency`: one row for each message at the end of a path, with the source message that it was made of along
/// that path.
pub(crate) fn latency_table(set: &Arc<BagSet>) -> Result<StreamingTable> {
    let schema = schema(&[
        ("bag", DataType::Utf8View),
        ("source", DataType::Utf8View),
        ("target", DataType::Utf8View),
        ("path", DataType::Utf8View),
        ("source_stamp", time_type()),
        ("target_stamp", time_type()),
        ("published", time_type()),
        ("latency_ms", DataType::Float64),
        ("counted_from", DataType::Utf8View),
        ("first", DataType::Boolean),
    ]);
    table(set, &schema, analysis::read::<LatencyColumns>)
}

pub(super) fn schema(columns: &[(&str, DataType)]) -> SchemaRef {
    let fields = columns
        .iter()
        .map(|(name, data_type)| Field::new(*name, data_type.clone(), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Reads the rows of one bag.
type Read = fn(&BagSet, &Bag, &SchemaRef, &Sender<Result<RecordBatch>>) -> Result<()>;

pub(super) fn table(set: &Arc<BagSet>, schema: &SchemaRef, read: Read) -> Result<StreamingTable> {
    let partition = |bag| {
        Arc::new(TagPartition {
            set: Arc::clone(set),
            bag,
            schema: Arc::clone(schema),
            read,
        }) as Arc<dyn PartitionStream>
    };
    let partitions = (0..set.bags.len()).map(partition).collect();
    StreamingTable::try_new(Arc::clone(schema), partitions)
}

/// The tags of one bag as rows.
struct TagPartition {
    set: Arc<BagSet>,
    bag: usize,
    schema: SchemaRef,
    read: Read,
}

impl fmt::Debug for TagPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TagPartition({})", self.bag)
    }
}

impl PartitionStream for TagPartition {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let schema = Arc::clone(&self.schema);
        let mut stream = RecordBatchReceiverStreamBuilder::new(Arc::clone(&schema), 2);
        let (set, place, read) = (Arc::clone(&self.set), self.bag, self.read);
        let batches = stream.tx();
        stream.spawn_blocking(move || match set.bags.get(place) {
            Some(bag) => read(&set, bag, &schema, &batches),
            None => Ok(()),
        });
        stream.build()
    }
}
