//! Partitions one behind the other, as a part of a plan.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::Schema;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties as _};

use crate::plan_node::{PlanNode, Work};
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
pub(super) struct InOrder(AtOnce);

/// The node of [`InOrder`]; it has one input.
pub(super) type InOrderExec = PlanNode<InOrder>;

impl InOrderExec {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, at_once: AtOnce) -> Self {
        Self::over(Arc::new(InOrder(at_once)), vec![input])
    }
}

impl Work for InOrder {
    const NAME: &'static str = "InOrder";

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAME)
    }

    fn columns(&self, inputs: &[Arc<dyn ExecutionPlan>]) -> EquivalenceProperties {
        let schema = inputs.first().map(|input| input.schema());
        EquivalenceProperties::new(schema.unwrap_or_else(|| Arc::new(Schema::empty())))
    }

    fn partitions(&self) -> usize {
        1
    }

    fn execute(
        self: &Arc<Self>,
        node: &InOrderExec,
        _partition: usize,
        tasks: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let input = node.inputs.first();
        let input = input.ok_or_else(|| DataFusionError::Internal("no input".to_owned()))?;
        let at_once = match self.0 {
            AtOnce::Threads => tasks.session_config().target_partitions(),
            AtOnce::All => input.output_partitioning().partition_count(),
        };
        Ok(in_order(input, &tasks, at_once))
    }
}
