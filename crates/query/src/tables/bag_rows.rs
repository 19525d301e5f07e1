//! The tables whose rows are read from the bags when a query asks for them, bag by bag.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::{
    RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter,
};
use futures::StreamExt as _;
use tokio::sync::mpsc::Sender;

use super::{lineage, robot};
use crate::bag_set::{Bag, BagSet};
use crate::plan_node::{PlanNode, Work};

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

    /// The columns.
    pub(super) fn schema(self) -> SchemaRef {
        self.parts().0
    }

    /// A leaf that reads every bag.
    pub(super) fn plan(
        self,
        set: &Arc<BagSet>,
        projection: Option<Vec<usize>>,
    ) -> Result<BagRowsExec> {
        // A partition for each bag, and one without any where there is none.
        let partitions = (0..set.bags.len().max(1)).map(|bag| {
            let bag = Some(bag).filter(|bag| *bag < set.bags.len());
            bag.into_iter().collect()
        });
        BagRowsExec::new(set, self, projection, partitions.collect())
    }
}

pub(super) fn schema(columns: &[(&str, DataType)]) -> SchemaRef {
    let fields = columns
        .iter()
        .map(|(name, data_type)| Field::new(*name, data_type.clone(), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Some bags of a set, whose rows are read.
pub(crate) struct BagRows {
    pub(crate) set: Arc<BagSet>,
    pub(crate) table: BagTable,
    pub(crate) projection: Option<Vec<usize>>,
    /// The bags of each partition, by their number in the set.
    pub(crate) partitions: Vec<Vec<usize>>,
    schema: SchemaRef,
}

/// A leaf of a plan: reads the rows of some bags.
pub(crate) type BagRowsExec = PlanNode<BagRows>;

impl BagRowsExec {
    pub(crate) fn new(
        set: &Arc<BagSet>,
        table: BagTable,
        projection: Option<Vec<usize>>,
        partitions: Vec<Vec<usize>>,
    ) -> Result<Self> {
        let schema = match &projection {
            Some(columns) => Arc::new(table.schema().project(columns)?),
            None => table.schema(),
        };
        Ok(Self::leaf(BagRows {
            set: Arc::clone(set),
            table,
            projection,
            partitions,
            schema,
        }))
    }
}

impl Work for BagRows {
    const NAME: &'static str = "BagRows";

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bags: usize = self.partitions.iter().map(Vec::len).sum();
        write!(f, "BagRows: table={}, bags={bags}", self.table.name())
    }

    fn columns(&self, _inputs: &[Arc<dyn ExecutionPlan>]) -> EquivalenceProperties {
        EquivalenceProperties::new(Arc::clone(&self.schema))
    }

    fn partitions(&self) -> usize {
        self.partitions.len()
    }

    fn execute(
        self: &Arc<Self>,
        _node: &BagRowsExec,
        partition: usize,
        _tasks: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let (schema, read) = self.table.parts();
        let mut stream = RecordBatchReceiverStreamBuilder::new(Arc::clone(&schema), BATCHES_AHEAD);
        let (rows, batches) = (Arc::clone(self), stream.tx());
        stream.spawn_blocking(move || {
            let bags = rows.partitions.get(partition).into_iter().flatten();
            for bag in bags.filter_map(|bag| rows.set.bags.get(*bag)) {
                if batches.is_closed() {
                    break;
                }
                read(&rows.set, bag, &schema, &batches)?;
            }
            Ok(())
        });
        let Some(columns) = self.projection.clone() else {
            return Ok(stream.build());
        };
        let rows = stream
            .build()
            .map(move |batch| Ok(batch?.project(&columns)?));
        let schema = Arc::clone(&self.schema);
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}
