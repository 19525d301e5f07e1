//! The tables whose rows are read from the bags when a query asks for them, bag by bag.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::{
    RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter,
};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::StreamExt as _;
use tokio::sync::mpsc::Sender;

use super::{lineage, robot};
use crate::bag_set::{Bag, BagSet};

/// Batches that wait between the reader and the query.
const BATCHES_AHEAD: usize = 2;

/// Reads the rows of one bag. Blocks.
pub(super) type ReadRows =
    fn(&BagSet, &Bag, &SchemaRef, &Sender<Result<RecordBatch>>) -> Result<()>;

/// A table whose rows are read bag by bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BagTable {
    Lineage,
    Latency,
    Parameters,
    Graph,
    Publishers,
}

impl BagTable {
    pub(crate) const ALL: [Self; 5] = [
        Self::Parameters,
        Self::Graph,
        Self::Publishers,
        Self::Lineage,
        Self::Latency,
    ];

    /// Its name in SQL.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lineage => "lineage",
            Self::Latency => "latency",
            Self::Parameters => "parameters",
            Self::Graph => "graph",
            Self::Publishers => "publishers",
        }
    }

    fn parts(self) -> (SchemaRef, ReadRows) {
        match self {
            Self::Lineage => lineage::lineage(),
            Self::Latency => lineage::latency(),
            Self::Parameters => robot::parameters(),
            Self::Graph => robot::graph(),
            Self::Publishers => robot::publishers(),
        }
    }

    /// The table over these bags.
    pub(crate) fn over(self, set: &Arc<BagSet>) -> BagRowsTable {
        BagRowsTable {
            set: Arc::clone(set),
            table: self,
            schema: self.parts().0,
        }
    }
}

pub(super) fn schema(columns: &[(&str, DataType)]) -> SchemaRef {
    let fields = columns
        .iter()
        .map(|(name, data_type)| Field::new(*name, data_type.clone(), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// One of these tables.
#[derive(Debug)]
pub(crate) struct BagRowsTable {
    set: Arc<BagSet>,
    table: BagTable,
    schema: SchemaRef,
}

#[async_trait]
impl TableProvider for BagRowsTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // A partition for each bag, and one without any where there is none.
        let partitions = (0..self.set.bags.len().max(1)).map(|bag| {
            let bag = Some(bag).filter(|bag| *bag < self.set.bags.len());
            bag.into_iter().collect()
        });
        let exec = BagRowsExec::new(
            &self.set,
            self.table,
            projection.cloned(),
            partitions.collect(),
        )?;
        Ok(Arc::new(exec))
    }
}

/// A leaf of a plan: reads the rows of some bags.
pub(crate) struct BagRowsExec {
    pub(crate) set: Arc<BagSet>,
    pub(crate) table: BagTable,
    pub(crate) projection: Option<Vec<usize>>,
    /// The bags of each partition, by their number in the set.
    pub(crate) partitions: Vec<Vec<usize>>,
    properties: Arc<PlanProperties>,
}

impl BagRowsExec {
    pub(crate) fn new(
        set: &Arc<BagSet>,
        table: BagTable,
        projection: Option<Vec<usize>>,
        partitions: Vec<Vec<usize>>,
    ) -> Result<Self> {
        let (schema, _) = table.parts();
        let schema = match &projection {
            Some(columns) => Arc::new(schema.project(columns)?),
            None => schema,
        };
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(partitions.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(Self {
            set: Arc::clone(set),
            table,
            projection,
            partitions,
            properties: Arc::new(properties),
        })
    }
}

impl fmt::Debug for BagRowsExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as(DisplayFormatType::Verbose, f)
    }
}

impl DisplayAs for BagRowsExec {
    fn fmt_as(&self, _kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bags: usize = self.partitions.iter().map(Vec::len).sum();
        write!(f, "BagRows: table={}, bags={bags}", self.table.name())
    }
}

impl ExecutionPlan for BagRowsExec {
    fn name(&self) -> &'static str {
        "BagRows"
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
        let (schema, read) = self.table.parts();
        let mut stream = RecordBatchReceiverStreamBuilder::new(Arc::clone(&schema), BATCHES_AHEAD);
        let bags = self.partitions.get(partition).cloned().unwrap_or_default();
        let (set, batches) = (Arc::clone(&self.set), stream.tx());
        stream.spawn_blocking(move || {
            let bags = bags.into_iter().filter_map(|bag| set.bags.get(bag));
            for bag in bags {
                if batches.is_closed() {
                    break;
                }
                read(&set, bag, &schema, &batches)?;
            }
            Ok(())
        });
        let Some(columns) = self.projection.clone() else {
            return Ok(stream.build());
        };
        let rows = stream
            .build()
            .map(move |batch| Ok(batch?.project(&columns)?));
        let schema = self.schema();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}
