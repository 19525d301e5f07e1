//! The plan of a scan, as `DataFusion` runs it.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::functions::core::getfield::GetFieldFunc;
use datafusion::physical_expr::expressions::{Column as ColumnExpr, Literal};
use datafusion::physical_expr::{
    EquivalenceProperties, PhysicalExpr, PhysicalSortExpr, ScalarFunctionExpr,
};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use timeloom_bag::TopicId;
use timeloom_msg::Schema;

use super::bounds::Bounds;
use super::column::{Column, Source};
use super::piece::Piece;
use super::read::read;
use crate::bag_set::BagSet;
use crate::plan_node::{PlanNode, Work};

/// Batches that wait between the reader and the query.
const BATCHES_AHEAD: usize = 2;

/// What to read.
#[derive(Clone)]
pub(crate) struct Scan {
    pub(crate) set: Arc<BagSet>,
    /// The name of the table, for `EXPLAIN`.
    pub(crate) table: Arc<str>,
    pub(crate) columns: Vec<Column>,
    /// The type of all messages; `None` when no field is read.
    pub(crate) message_schema: Option<Arc<Schema>>,
    /// The topics of each bag.
    pub(crate) topics: Arc<Vec<Vec<TopicId>>>,
    pub(crate) bounds: Bounds,
    pub(crate) partitions: Arc<Vec<Vec<Piece>>>,
    /// Rows after which a partition ends.
    pub(crate) limit: Option<usize>,
    /// Whether other tasks read the other pieces: the indexes do not tell how many rows there are.
    pub(crate) is_part: bool,
    pub(crate) rows: RowKind,
}

/// The table that a scan is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// `messages`: any topic, nothing decoded.
    AnyMessage,
    /// A topic's own.
    OfTopic,
}

/// A leaf of a plan: reads messages and gives rows.
pub(crate) type ScanExec = PlanNode<Scan>;

impl Scan {
    /// The column that an expression reads: one of ours, or a field of it.
    fn column_of(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<Column> {
        if let Some(column) = expr.downcast_ref::<ColumnExpr>() {
            return self.columns.get(column.index()).cloned();
        }
        let call = ScalarFunctionExpr::try_downcast_func::<GetFieldFunc>(expr.as_ref())?;
        let (base, keys) = call.args().split_first()?;
        let mut column = self.column_of(base)?;
        for key in keys {
            let literal = key.downcast_ref::<Literal>()?;
            let name = literal.value().try_as_str().flatten()?;
            let Source::Field(node) = &column.source else {
                return None;
            };
            column.source = Source::Field(node.child(name)?.clone());
            column.path.push(name.to_owned());
        }
        matches!(column.source, Source::Field(_)).then_some(column)
    }
}

/// Each partition is in the order of its log times, as long as it is of one bag.
fn equivalences(scan: &Scan, schema: &SchemaRef) -> EquivalenceProperties {
    let time = scan
        .columns
        .iter()
        .position(|column| matches!(column.source, Source::LogTime));
    let in_order = scan.partitions.iter().all(|pieces| pieces.len() <= 1);
    match time.zip(scan.columns.get(time.unwrap_or(0))) {
        Some((index, column)) if in_order => {
            let column = Arc::new(ColumnExpr::new(&column.name, index));
            let order = PhysicalSortExpr::new_default(column);
            EquivalenceProperties::new_with_orderings(Arc::clone(schema), [[order]])
        }
        _ => EquivalenceProperties::new(Arc::clone(schema)),
    }
}

impl Work for Scan {
    const NAME: &'static str = "BagScan";

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
        let values: u64 = self.columns.iter().map(decoded_values).sum();
        let bags: std::collections::BTreeSet<usize> =
            self.partitions.iter().flatten().map(|p| p.bag).collect();
        write!(f, "BagScan: table={}, bags={}", self.table, bags.len())?;
        write!(f, ", columns=[{}]", names.join(", "))?;
        write!(f, ", values_per_message={values}")?;
        if let Some(start) = self.bounds.start_ns {
            write!(f, ", from={start}")?;
        }
        if let Some(end) = self.bounds.end_ns {
            write!(f, ", to={end}")?;
        }
        if let Some(limit) = self.limit {
            write!(f, ", limit={limit}")?;
        }
        Ok(())
    }

    fn columns(&self, _inputs: &[Arc<dyn ExecutionPlan>]) -> EquivalenceProperties {
        equivalences(self, &Column::schema(&self.columns))
    }

    fn partitions(&self) -> usize {
        self.partitions.len()
    }

    fn execute(
        self: &Arc<Self>,
        node: &ScanExec,
        partition: usize,
        _tasks: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let schema = node.schema();
        let mut stream = RecordBatchReceiverStreamBuilder::new(Arc::clone(&schema), BATCHES_AHEAD);
        let (scan, metrics, batches) = (Arc::clone(self), node.metrics.clone(), stream.tx());
        stream.spawn_blocking(move || read(&scan, partition, schema, &metrics, &batches));
        Ok(stream.build())
    }

    /// Where the indexes of the bags say it.
    fn row_count(&self, partition: Option<usize>) -> Precision<usize> {
        let one_of_many = partition.is_some() && self.partitions.len() > 1;
        let damaged = self.set.bags.iter().any(|bag| bag.is_damaged);
        if self.is_part || one_of_many || damaged || !self.bounds.is_all_time() {
            return Precision::Absent;
        }
        let bags = self.set.bags.iter().zip(self.topics.iter());
        let count: u64 = bags.map(|(bag, topics)| bag.count(topics)).sum();
        let Ok(count) = usize::try_from(count) else {
            return Precision::Absent;
        };
        Precision::Exact(self.limit.map_or(count, |limit| limit.min(count)))
    }

    /// Takes a projection of our columns and of fields in them: what is not asked for is not decoded.
    fn project(&self, projection: &ProjectionExec) -> Option<Self> {
        let columns = projection.expr().iter().map(|wanted| {
            Some(Column {
                name: wanted.alias.clone(),
                ..self.column_of(&wanted.expr)?
            })
        });
        Some(Self {
            columns: columns.collect::<Option<_>>()?,
            ..self.clone()
        })
    }
}

fn decoded_values(column: &Column) -> u64 {
    match &column.source {
        Source::Field(node) => node.leaves(),
        _ => 0,
    }
}
