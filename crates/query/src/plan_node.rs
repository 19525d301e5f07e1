//! A node of a plan: what all of ours have in common.

use std::fmt;
use std::sync::Arc;

use datafusion::common::Statistics;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan,
    ExecutionPlanProperties as _, Partitioning, PlanProperties, ReplaceChildrenOptions,
};

/// What one of our nodes does.
pub(crate) trait Work: Send + Sync + Sized + 'static {
    /// The name of the node.
    const NAME: &'static str;

    /// The node in `EXPLAIN`.
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// The columns, with the order of their rows.
    fn columns(&self, inputs: &[Arc<dyn ExecutionPlan>]) -> EquivalenceProperties;

    /// How many partitions the node has.
    fn partitions(&self) -> usize;

    /// The rows of a partition.
    fn execute(
        self: &Arc<Self>,
        node: &PlanNode<Self>,
        partition: usize,
        tasks: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream>;

    /// How many rows there are, where it is known.
    fn row_count(&self, _partition: Option<usize>) -> Precision<usize> {
        Precision::Absent
    }

    /// The same with a projection of its columns, where the node can take it.
    fn project(&self, _projection: &ProjectionExec) -> Option<Self> {
        None
    }
}

/// A node that does some [`Work`].
pub(crate) struct PlanNode<W> {
    pub(crate) work: Arc<W>,
    pub(crate) inputs: Vec<Arc<dyn ExecutionPlan>>,
    pub(crate) metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl<W: Work> PlanNode<W> {
    /// A node without inputs.
    pub(crate) fn leaf(work: W) -> Self {
        Self::over(Arc::new(work), Vec::new())
    }

    pub(crate) fn over(work: Arc<W>, inputs: Vec<Arc<dyn ExecutionPlan>>) -> Self {
        let leaf = (EmissionType::Incremental, Boundedness::Bounded);
        let input = inputs.first();
        let (emission, boundedness) =
            input.map_or(leaf, |it| (it.pipeline_behavior(), it.boundedness()));
        let properties = PlanProperties::new(
            work.columns(&inputs),
            Partitioning::UnknownPartitioning(work.partitions()),
            emission,
            boundedness,
        );
        Self {
            work,
            inputs,
            metrics: ExecutionPlanMetricsSet::new(),
            properties: Arc::new(properties),
        }
    }
}

impl<W: Work> fmt::Debug for PlanNode<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.work.describe(f)
    }
}

impl<W: Work> DisplayAs for PlanNode<W> {
    fn fmt_as(&self, _kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.work.describe(f)
    }
}

impl<W: Work> ExecutionPlan for PlanNode<W> {
    fn name(&self) -> &'static str {
        W::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn apply_expressions(
        &self,
        _visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (given, wanted) = (children.len(), self.inputs.len());
        if given != wanted {
            let text = format!("{} has {wanted} inputs, not {given}", W::NAME);
            return Err(DataFusionError::Internal(text));
        }
        if children.is_empty() {
            return Ok(self);
        }
        Ok(Arc::new(Self::over(Arc::clone(&self.work), children)))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        self.replace_children(children, options)
    }

    fn execute(
        &self,
        partition: usize,
        tasks: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let count = self.work.partitions();
        if partition >= count {
            let text = format!("partition {partition} of {count} of {}", W::NAME);
            return Err(DataFusionError::Internal(text));
        }
        self.work.execute(self, partition, tasks)
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(
        &self,
        _inputs: &[Arc<Statistics>],
        arguments: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema());
        statistics.num_rows = self.work.row_count(arguments.partition());
        Ok(Arc::new(statistics))
    }

    fn try_swapping_with_projection(
        &self,
        projection: &ProjectionExec,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let work = self.work.project(projection);
        Ok(work.map(|work| Arc::new(Self::over(Arc::new(work), self.inputs.clone())) as _))
    }
}
