//! Partitions one behind the other, while later ones are read ahead.
//!
//! The rows of a plain query come in the order of the bags and of their times, and all processors work.

use std::collections::VecDeque;
use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::stream::{
    RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter,
};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties as _, execute_stream};
use futures::StreamExt as _;

/// Batches that a later partition may have ready.
const BATCHES_AHEAD: usize = 4;

/// Runs a plan.
pub(crate) fn execute(
    plan: &Arc<dyn ExecutionPlan>,
    tasks: &Arc<TaskContext>,
) -> Result<SendableRecordBatchStream> {
    let partitions = plan.output_partitioning().partition_count();
    // Partitions that exchange rows must be read at the same time, and have no order to keep.
    if partitions < 2 || exchanges(plan) {
        return execute_stream(Arc::clone(plan), Arc::clone(tasks));
    }
    let at_once = tasks.session_config().target_partitions();
    Ok(in_order(plan, tasks, at_once))
}

/// The rows of all partitions, one partition behind the other; some are computed at once.
pub(crate) fn in_order(
    plan: &Arc<dyn ExecutionPlan>,
    tasks: &Arc<TaskContext>,
    at_once: usize,
) -> SendableRecordBatchStream {
    let partitions = plan.output_partitioning().partition_count();
    let at_once = at_once.max(1);
    let (plan, tasks) = (Arc::clone(plan), Arc::clone(tasks));
    let schema = plan.schema();
    let mut waiting = 0..partitions;
    let running = VecDeque::new();
    let start = move |running: &mut VecDeque<_>| -> Result<()> {
        while running.len() < at_once {
            let Some(partition) = waiting.next() else {
                break;
            };
            running.push_back(ahead(&plan, partition, &tasks)?);
        }
        Ok(())
    };
    let state = (start, running);
    let rows = futures::stream::unfold(state, |(mut start, mut running)| async move {
        loop {
            if let Err(error) = start(&mut running) {
                running.clear();
                return Some((Err(error), (start, running)));
            }
            let first: &mut SendableRecordBatchStream = running.front_mut()?;
            match first.next().await {
                Some(batch) => return Some((batch, (start, running))),
                None => {
                    running.pop_front();
                }
            }
        }
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, Box::pin(rows)))
}

/// Whether partitions exchange rows.
pub(crate) fn exchanges(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.is::<RepartitionExec>() || plan.children().into_iter().any(exchanges)
}

/// A partition that is computed on a task of its own, a few batches ahead of who reads it.
fn ahead(
    plan: &Arc<dyn ExecutionPlan>,
    partition: usize,
    tasks: &Arc<TaskContext>,
) -> Result<SendableRecordBatchStream> {
    let mut stream = plan.execute(partition, Arc::clone(tasks))?;
    let mut builder = RecordBatchReceiverStreamBuilder::new(plan.schema(), BATCHES_AHEAD);
    let batches = builder.tx();
    builder.spawn(async move {
        while let Some(batch) = stream.next().await {
            if batches.send(batch).await.is_err() {
                break;
            }
        }
        Ok(())
    });
    Ok(builder.build())
}
