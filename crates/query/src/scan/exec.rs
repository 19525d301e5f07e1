//! The plan of a scan, as `DataFusion` runs it.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Statistics;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::functions::core::getfield::GetFieldFunc;
use datafusion::physical_expr::expressions::{Column as ColumnExpr, Literal};
use datafusion::physical_expr::{
    EquivalenceProperties, PhysicalExpr, PhysicalSortExpr, ScalarFunctionExpr,
};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
    ReplaceChildrenOptions, SendableRecordBatchStream,
};
use timeloom_bag::TopicId;
use timeloom_msg::Schema;

use super::bounds::Bounds;
use super::column::{Column, Source};
use super::piece::Piece;
use super::read::read;
use crate::bag_set::BagSet;

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
pub(crate) struct ScanExec {
    scan: Arc<Scan>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl ScanExec {
    pub(crate) fn new(scan: Scan) -> Self {
        let schema = Column::schema(&scan.columns);
        let properties = PlanProperties::new(
            equivalences(&scan, &schema),
            Partitioning::UnknownPartitioning(scan.partitions.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self {
            scan: Arc::new(scan),
            schema,
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    #[cfg(feature = "cluster")]
    pub(crate) fn scan(&self) -> &Scan {
        &self.scan
    }

    /// How many rows there are, where the indexes of the bags say it.
    fn row_count(&self, partition: Option<usize>) -> Precision<usize> {
        let scan = &self.scan;
        let one_of_many = partition.is_some() && scan.partitions.len() > 1;
        let damaged = scan.set.bags.iter().any(|bag| bag.is_damaged);
        if scan.is_part || one_of_many || damaged || !scan.bounds.is_all_time() {
            return Precision::Absent;
        }
        let bags = scan.set.bags.iter().zip(scan.topics.iter());
        let count: u64 = bags.map(|(bag, topics)| bag.count(topics)).sum();
        let Ok(count) = usize::try_from(count) else {
            return Precision::Absent;
        };
        Precision::Exact(scan.limit.map_or(count, |limit| limit.min(count)))
    }

    /// The column that an expression reads: one of ours, or a field of it.
    fn column_of(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<Column> {
        if let Some(column) = expr.downcast_ref::<ColumnExpr>() {
            return self.scan.columns.get(column.index()).cloned();
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

impl fmt::Debug for ScanExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as(DisplayFormatType::Verbose, f)
    }
}

impl DisplayAs for ScanExec {
    fn fmt_as(&self, _kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scan = &self.scan;
        let names: Vec<&str> = scan.columns.iter().map(|c| c.name.as_str()).collect();
        let values: u64 = scan.columns.iter().map(decoded_values).sum();
        let bags: std::collections::BTreeSet<usize> =
            scan.partitions.iter().flatten().map(|p| p.bag).collect();
        write!(f, "BagScan: table={}, bags={}", scan.table, bags.len())?;
        write!(f, ", columns=[{}]", names.join(", "))?;
        write!(f, ", values_per_message={values}")?;
        if let Some(start) = scan.bounds.start_ns {
            write!(f, ", from={start}")?;
        }
        if let Some(end) = scan.bounds.end_ns {
            write!(f, ", to={end}")?;
        }
        if let Some(limit) = scan.limit {
            write!(f, ", limit={limit}")?;
        }
        Ok(())
    }
}

fn decoded_values(column: &Column) -> u64 {
    match &column.source {
        Source::Field(node) => node.leaves(),
        _ => 0,
    }
}

impl ExecutionPlan for ScanExec {
    fn name(&self) -> &'static str {
        "BagScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(
        &self,
        partition: usize,
        _context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if partition >= self.scan.partitions.len() {
            let count = self.scan.partitions.len();
            let text = format!("partition {partition} of a scan of {count}");
            return Err(DataFusionError::Internal(text));
        }
        let schema = Arc::clone(&self.schema);
        let mut stream = RecordBatchReceiverStreamBuilder::new(Arc::clone(&schema), BATCHES_AHEAD);
        let (scan, batches) = (Arc::clone(&self.scan), stream.tx());
        let metrics = self.metrics.clone();
        stream.spawn_blocking(move || read(&scan, partition, schema, &metrics, &batches));
        Ok(stream.build())
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(
        &self,
        _inputs: &[Arc<Statistics>],
        arguments: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        statistics.num_rows = self.row_count(arguments.partition());
        Ok(Arc::new(statistics))
    }

    /// Takes a projection of our columns and of fields in them: what is not asked for is not decoded.
    fn try_swapping_with_projection(
        &self,
        projection: &ProjectionExec,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let mut columns = Vec::new();
        for wanted in projection.expr() {
            let Some(column) = self.column_of(&wanted.expr) else {
                return Ok(None);
            };
            columns.push(Column {
                name: wanted.alias.clone(),
                ..column
            });
        }
        let scan = Scan {
            columns,
            ..self.scan.as_ref().clone()
        };
        Ok(Some(Arc::new(Self::new(scan))))
    }
}
