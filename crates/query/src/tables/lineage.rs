//! The tables `lineage` (one row per link) and `latency` (one row per flow), by the analysis of `trace`.

mod analysis;
mod latency_rows;
mod link_rows;

use datafusion::arrow::datatypes::{DataType, SchemaRef};

use self::latency_rows::LatencyColumns;
use self::link_rows::LinkColumns;
use super::bag_rows::{ReadRows, schema};
use crate::field::time_type;

/// The table `lineage`: one row for each input of each message.
pub(super) fn lineage() -> (SchemaRef, ReadRows) {
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
    (schema, analysis::read::<LinkColumns>)
}

/// The table `latency`: one row for each message at the end of a path, with the source message that it was made of along
/// that path.
pub(super) fn latency() -> (SchemaRef, ReadRows) {
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
    (schema, analysis::read::<LatencyColumns>)
}
