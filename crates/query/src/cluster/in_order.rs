//! Partitions one behind the other, as a part of a plan.

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties as _, Partitioning,
    PlanProperties, ReplaceChildrenOptions,
};

use crate::session::in_order;

/// How many partitions are computed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtOnce {
    /// As many as the process has threads for.
    Threads,
    /// All: others compute them.
    All,
}

/// Gives the rows of the first partition, then those of the second, and so on.
#[derive(Debug)]
pub(super) struct InOrderExec {
    input: Arc<dyn ExecutionPlan>,
    at_once: AtOnce,
    properties: Arc<PlanProperties>,
}

impl InOrderExec {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, at_once: AtOnce) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(1),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Self {
            input,
            at_once,
            properties: Arc::new(properties),
        }
    }
}

impl InOrderExec {
    /// The same over another input.
    fn over(&self, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let input = children.into_iter().next();
        let input = input.ok_or_else(|| DataFusionError::Internal("no input".to_owned()))?;
        Ok(Arc::new(Self::new(input, self.at_once)))
    }
}

impl DisplayAs for InOrderExec {
    fn fmt_as(&self, _kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InOrder")
    }
}

impl ExecutionPlan for InOrderExec {
    fn name(&self) -> &'static str {
        "InOrder"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
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
        self.over(children)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.over(children)
    }

    fn execute(
        &self,
        _partition: usize,
        tasks: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let at_once = match self.at_once {
            AtOnce::Threads => tasks.session_config().target_partitions(),
            AtOnce::All => self.input.output_partitioning().partition_count(),
        };
        Ok(in_order(&self.input, &tasks, at_once))
    }
}
