//! The tables `parameters` (one row per value) and `graph` (one row per endpoint): the state of the robot in the bags.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanBuilder, RecordBatch, StringViewBuilder, TimestampNanosecondBuilder,
    UInt64Builder,
};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::{DataFusionError, Result};
use timeloom_bag::{BagReader, NodeParameters, ParameterEntry, RobotParameter, StorageReader as _};
use timeloom_msg::ParameterValue;
use tokio::sync::mpsc::Sender;

use super::lineage::{schema, table};
use crate::bag_set::{Bag, BagSet};
use crate::field::{UTC, time_type};

/// The table `parameters`: one row for each value that a parameter had, and one for each node that did not answer.
pub(crate) fn parameters_table(set: &Arc<BagSet>) -> Result<StreamingTable> {
    let schema = schema(&[
        ("bag", DataType::Utf8View),
        ("node", DataType::Utf8View),
        ("name", DataType::Utf8View),
        ("time", time_type()),
        ("type", DataType::Utf8View),
        ("value", DataType::Utf8View),
        ("first", DataType::Boolean),
        ("last", DataType::Boolean),
        ("read_only", DataType::Boolean),
        ("unanswered", DataType::Utf8View),
    ]);
    table(set, &schema, read_parameters)
}

/// The table `graph`: one row for each publisher, subscription, server and client.
pub(crate) fn graph_table(set: &Arc<BagSet>) -> Result<StreamingTable> {
    let schema = schema(&[
        ("bag", DataType::Utf8View),
        ("node", DataType::Utf8View),
        ("role", DataType::Utf8View),
        ("topic", DataType::Utf8View),
        ("type", DataType::Utf8View),
        ("type_hash", DataType::Utf8View),
        ("gid", DataType::Utf8View),
        ("reliability", DataType::Utf8View),
        ("durability", DataType::Utf8View),
        ("depth", DataType::UInt64),
        ("appeared", time_type()),
        ("vanished", time_type()),
    ]);
    table(set, &schema, read_graph)
}

/// Text as a column holds it: none where it is empty.
fn known(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn failed(bag: &Bag, error: &timeloom_bag::Error) -> DataFusionError {
    DataFusionError::Execution(format!("{}: {error}", bag.name))
}

fn open(set: &BagSet, bag: &Bag) -> Result<BagReader> {
    set.reader(bag).map_err(|error| failed(bag, &error))
}

/// Sends a batch; a query that wants no more has hung up.
fn send(
    batches: &Sender<Result<RecordBatch>>,
    schema: &SchemaRef,
    columns: Vec<ArrayRef>,
) -> Result<()> {
    let batch = RecordBatch::try_new(Arc::clone(schema), columns)?;
    let _hung_up = batches.blocking_send(Ok(batch));
    Ok(())
}

/// Rows of the table `parameters`.
#[derive(Default)]
struct ParameterRows {
    bag: StringViewBuilder,
    node: StringViewBuilder,
    name: StringViewBuilder,
    time: TimestampNanosecondBuilder,
    type_name: StringViewBuilder,
    value: StringViewBuilder,
    first: BooleanBuilder,
    last: BooleanBuilder,
    read_only: BooleanBuilder,
    unanswered: StringViewBuilder,
}

impl ParameterRows {
    fn silent(&mut self, bag: &str, node: &str, asked_ns: i64, reason: &str) {
        self.bag.append_value(bag);
        self.node.append_value(node);
        self.name.append_null();
        self.time.append_value(asked_ns);
        self.type_name.append_null();
        self.value.append_null();
        self.first.append_null();
        self.last.append_null();
        self.read_only.append_null();
        self.unanswered.append_value(reason);
    }

    fn value(&mut self, bag: &str, node: &str, name: &str, parameter: &RobotParameter) {
        for (place, entry) in parameter.history.iter().enumerate() {
            let ParameterEntry { time_ns, value } = entry;
            self.bag.append_value(bag);
            self.node.append_value(node);
            self.name.append_value(name);
            self.time.append_value(*time_ns);
            self.type_name
                .append_option(value.as_ref().map(ParameterValue::type_name));
            self.value
                .append_option(value.as_ref().map(ToString::to_string));
            self.first.append_value(place == 0);
            self.last.append_value(place + 1 == parameter.history.len());
            self.read_only.append_value(parameter.read_only);
            self.unanswered.append_null();
        }
    }

    fn add(&mut self, bag: &str, name: &str, node: &NodeParameters) {
        if let Some(reason) = &node.unanswered {
            self.silent(bag, name, node.asked_ns, reason);
        }
        for (parameter, values) in &node.parameters {
            self.value(bag, name, parameter, values);
        }
    }

    fn columns(mut self) -> Vec<ArrayRef> {
        vec![
            Arc::new(self.bag.finish()),
            Arc::new(self.node.finish()),
            Arc::new(self.name.finish()),
            Arc::new(self.time.finish().with_timezone(UTC)),
            Arc::new(self.type_name.finish()),
            Arc::new(self.value.finish()),
            Arc::new(self.first.finish()),
            Arc::new(self.last.finish()),
            Arc::new(self.read_only.finish()),
            Arc::new(self.unanswered.finish()),
        ]
    }
}

/// The table `publishers`: who published the messages of a topic from a log time on, up to the next row.
pub(crate) fn publishers_table(set: &Arc<BagSet>) -> Result<StreamingTable> {
    let schema = schema(&[
        ("bag", DataType::Utf8View),
        ("topic", DataType::Utf8View),
        ("from_time", time_type()),
        ("gid", DataType::Utf8View),
        ("node", DataType::Utf8View),
    ]);
    table(set, &schema, read_publishers)
}

fn read_publishers(
    set: &BagSet,
    bag: &Bag,
    schema: &SchemaRef,
    batches: &Sender<Result<RecordBatch>>,
) -> Result<()> {
    let mut reader = open(set, bag)?;
    let publishers = reader.publishers().map_err(|error| failed(bag, &error))?;
    let graph = reader.graph().map_err(|error| failed(bag, &error))?;
    let mut texts: [StringViewBuilder; 4] = Default::default();
    let mut from_time = TimestampNanosecondBuilder::new();
    for (topic, run) in publishers.runs() {
        let node = graph.endpoint(&run.gid).map(|it| it.node.as_str());
        let row = [
            known(&bag.name),
            known(topic),
            known(&run.gid),
            node.and_then(known),
        ];
        for (column, text) in texts.iter_mut().zip(row) {
            column.append_option(text);
        }
        from_time.append_value(run.from_ns);
    }
    let [mut names, mut topics, mut gids, mut nodes] = texts;
    let columns: Vec<ArrayRef> = vec![
        Arc::new(names.finish()),
        Arc::new(topics.finish()),
        Arc::new(from_time.finish().with_timezone(UTC)),
        Arc::new(gids.finish()),
        Arc::new(nodes.finish()),
    ];
    send(batches, schema, columns)
}

fn read_parameters(
    set: &BagSet,
    bag: &Bag,
    schema: &SchemaRef,
    batches: &Sender<Result<RecordBatch>>,
) -> Result<()> {
    let parameters = open(set, bag)?.parameters();
    let parameters = parameters.map_err(|error| failed(bag, &error))?;
    let mut rows = ParameterRows::default();
    for (name, node) in &parameters.nodes {
        rows.add(&bag.name, name, node);
    }
    send(batches, schema, rows.columns())
}

fn read_graph(
    set: &BagSet,
    bag: &Bag,
    schema: &SchemaRef,
    batches: &Sender<Result<RecordBatch>>,
) -> Result<()> {
    let graph = open(set, bag)?.graph();
    let graph = graph.map_err(|error| failed(bag, &error))?;
    let mut texts: [StringViewBuilder; 9] = Default::default();
    let mut depth = UInt64Builder::new();
    let mut appeared = TimestampNanosecondBuilder::new();
    let mut vanished = TimestampNanosecondBuilder::new();
    for endpoint in graph.endpoints() {
        let row = [
            known(&bag.name),
            known(&endpoint.node),
            Some(endpoint.role.name()),
            known(&endpoint.topic),
            known(&endpoint.type_name),
            known(&endpoint.type_hash),
            known(&endpoint.id),
            Some(endpoint.qos.reliability.name()),
            Some(endpoint.qos.durability.name()),
        ];
        for (column, text) in texts.iter_mut().zip(row) {
            column.append_option(text);
        }
        depth.append_value(endpoint.qos.depth);
        appeared.append_value(endpoint.appeared_ns);
        vanished.append_option(endpoint.vanished_ns);
    }
    let texts = texts.iter_mut();
    let mut columns: Vec<ArrayRef> = texts.map(|it| Arc::new(it.finish()) as _).collect();
    columns.push(Arc::new(depth.finish()));
    columns.push(Arc::new(appeared.finish().with_timezone(UTC)));
    columns.push(Arc::new(vanished.finish().with_timezone(UTC)));
    send(batches, schema, columns)
}
