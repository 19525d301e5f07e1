//! From SQL to a plan over workers.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::{QueryPlanner, SessionState};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, ExecutionPlan, ExecutionPlanProperties as _, ReplaceChildrenOptions,
};
use datafusion_distributed::{
    DesiredTaskCountEvent, DesiredTaskCountEventResponse, DesiredTaskCountHandler, DistributedExec,
    DistributedExt as _, DistributedLeafExec, NetworkCoalesceExec, ScaleUpLeafNodeEvent,
    ScaleUpLeafNodeEventResponse, SessionStateBuilderExt as _, WorkerResolver,
};
use tonic::codegen::http::{HeaderMap, HeaderValue};
use url::Url;

use super::channels::Channels;
use super::codec::BagCodec;
use super::in_order::{AtOnce, InOrderExec};
use super::members::{Member, Round};
use super::passport::QUERY_HEADER;
use crate::bag_set::BagSet;
use crate::scan::{Readers, Scan, ScanExec};
use crate::session::exchanges;
use crate::tables::{BagRowsExec, BagTable};

/// Bytes of rows that the asker keeps for each worker until they are wanted.
const ROWS_AHEAD: usize = 8 << 20;

/// Whether workers send how much they read and computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metrics {
    Collected,
    Ignored,
}

impl Metrics {
    /// What a query needs: only `EXPLAIN ANALYZE` shows them.
    pub(super) fn of(sql: &str) -> Self {
        let first = sql.split_whitespace().next().unwrap_or_default();
        if first.eq_ignore_ascii_case("explain") {
            Self::Collected
        } else {
            Self::Ignored
        }
    }
}

/// The state of a session, whose queries run on the workers of a round.
pub(super) fn state_on(
    state: SessionState,
    round: &Round,
    channels: &Channels,
    metrics: Metrics,
) -> Result<SessionState> {
    let threads = round.members.iter().map(Member::threads).sum();
    let mut headers = HeaderMap::new();
    let query = HeaderValue::from_str(&round.query);
    let query = query.map_err(|error| DataFusionError::External(Box::new(error)))?;
    headers.insert(QUERY_HEADER, query);
    let urls = round.members.iter().map(|member| member.url.clone());
    let mut urls: Vec<Url> = urls.collect();
    if let [only] = urls.as_slice() {
        // The engine runs what one task can do where the query was asked: two tasks are for the worker.
        urls.push(only.clone());
    }
    let planner = InOrderPlanner(Arc::clone(state.query_planner()));
    let mut builder = SessionStateBuilder::new_from_existing(state);
    let config = builder.config().get_or_insert_default();
    config.set_extension(Arc::new(Readers(threads)));
    Ok(builder
        .with_query_planner(Arc::new(planner))
        .with_distributed_planner()
        .with_distributed_worker_resolver(Urls(urls))
        .with_distributed_channel_resolver(channels.clone())
        .with_distributed_user_codec(BagCodec)
        .with_distributed_desired_task_count_handler(TaskCounts)
        .with_distributed_scale_up_leaf_node_handler(split_leaf)
        .with_distributed_metrics_collection(metrics == Metrics::Collected)?
        .with_distributed_worker_connection_buffer_budget_bytes(ROWS_AHEAD)?
        .with_distributed_passthrough_headers(headers)?
        .build())
}

struct Urls(Vec<Url>);

impl WorkerResolver for Urls {
    fn get_urls(&self) -> Result<Vec<Url>> {
        Ok(self.0.clone())
    }
}

/// Asks for the rows of a plain query in the order of its partitions: that of the bags and of their times.
#[derive(Debug)]
struct InOrderPlanner(Arc<dyn QueryPlanner + Send + Sync>);

#[async_trait]
impl QueryPlanner for InOrderPlanner {
    async fn create_physical_plan(
        &self,
        logical: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = self.0.create_physical_plan(logical, session).await?;
        if plan.output_partitioning().partition_count() < 2 || !is_chain(&plan) || exchanges(&plan)
        {
            return Ok(plan);
        }
        // Within each task, and then among tasks: above a `CoalescePartitionsExec`, the planner of the cluster
        // divides the plan into tasks, and `with_order` puts the order of tasks in its place.
        let within = InOrderExec::new(plan, AtOnce::Threads);
        Ok(Arc::new(CoalescePartitionsExec::new(Arc::new(within))))
    }
}

/// Whether a plan has one leaf. Joins and unions read several partitions at once: to wait for one of them could stop
/// the others, since the rows of a worker share a connection.
fn is_chain(plan: &Arc<dyn ExecutionPlan>) -> bool {
    match plan.children().as_slice() {
        [] => true,
        [child] => is_chain(child),
        _ => false,
    }
}

/// Whether the rows of a plan come in an order that is the same each time, and the plan for it.
pub(super) fn with_order(plan: Arc<dyn ExecutionPlan>) -> Result<(Arc<dyn ExecutionPlan>, bool)> {
    let coalesced = |plan: &Arc<dyn ExecutionPlan>| {
        let coalesce = plan.downcast_ref::<CoalescePartitionsExec>()?;
        coalesce
            .fetch()
            .is_none()
            .then(|| Arc::clone(coalesce.input()))
    };
    if coalesced(&plan).is_some_and(|input| input.is::<InOrderExec>()) {
        return Ok((plan, true));
    }
    if !plan.is::<DistributedExec>() {
        return Ok((plan, false));
    }
    let head = plan.children().first().and_then(|head| coalesced(head));
    let Some(network) = head.filter(is_in_order_in_tasks) else {
        return Ok((plan, false));
    };
    let head: Arc<dyn ExecutionPlan> = Arc::new(InOrderExec::new(network, AtOnce::All));
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    Ok((plan.replace_children(vec![head], options)?, true))
}

fn is_in_order_in_tasks(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.is::<NetworkCoalesceExec>()
        && plan
            .children()
            .iter()
            .any(|child| child.is::<InOrderExec>())
}

/// How many tasks a leaf is worth.
struct TaskCounts;

#[async_trait]
impl DesiredTaskCountHandler for TaskCounts {
    async fn handle(
        &self,
        event: DesiredTaskCountEvent<'_>,
    ) -> Option<Result<DesiredTaskCountEventResponse>> {
        if let Some(exec) = event.plan.downcast_ref::<ScanExec>() {
            let partitions = exec.work.partitions.iter();
            let full = partitions.filter(|pieces| !pieces.is_empty()).count();
            return Some(Ok(DesiredTaskCountEventResponse::desired(full.max(1))));
        }
        let rows = &event.plan.downcast_ref::<BagRowsExec>()?.work;
        // Types that a bag does not define are those of the asker: it reads such bags itself.
        let needs_types = matches!(rows.table, BagTable::Lineage | BagTable::Latency);
        Some(Ok(if needs_types && !defines_all_types(&rows.set) {
            DesiredTaskCountEventResponse::maximum(1)
        } else {
            DesiredTaskCountEventResponse::desired(rows.partitions.len().max(1))
        }))
    }
}

fn defines_all_types(set: &BagSet) -> bool {
    let mut topics = set.bags.iter().flat_map(|bag| bag.info.topics.iter());
    topics.all(|topic| !topic.definition.text.is_empty())
}

/// Divides the partitions of a leaf among tasks: each partition is read by one task.
fn split_leaf(event: ScaleUpLeafNodeEvent<'_>) -> Option<Result<ScaleUpLeafNodeEventResponse>> {
    let tasks = event.task_count;
    let variants: Result<Vec<Arc<dyn ExecutionPlan>>> =
        if let Some(exec) = event.plan.downcast_ref::<ScanExec>() {
            let parts = divide(&exec.work.partitions, tasks).into_iter();
            parts
                .map(|partitions| {
                    let scan = Scan {
                        partitions: Arc::new(partitions),
                        is_part: true,
                        ..exec.work.as_ref().clone()
                    };
                    Ok(Arc::new(ScanExec::leaf(scan)) as _)
                })
                .collect()
        } else {
            let rows = &event.plan.downcast_ref::<BagRowsExec>()?.work;
            let parts = divide(&rows.partitions, tasks).into_iter();
            parts
                .map(|partitions| {
                    let projection = rows.projection.clone();
                    let part = BagRowsExec::new(&rows.set, rows.table, projection, partitions)?;
                    Ok(Arc::new(part) as _)
                })
                .collect()
        };
    let leaf = variants
        .and_then(|variants| DistributedLeafExec::try_new(Arc::clone(event.plan), variants))
        .map(|leaf| ScaleUpLeafNodeEventResponse::new(Arc::new(leaf)));
    Some(leaf)
}

/// Partitions in as many lists as there are tasks, in their order; all lists are equally long, with empty partitions
/// at their ends.
fn divide<T: Clone>(partitions: &[Vec<T>], tasks: usize) -> Vec<Vec<Vec<T>>> {
    let (count, tasks) = (partitions.len(), tasks.max(1));
    let longest = count.div_ceil(tasks).max(1);
    let part = |task: usize| {
        let part = partitions.get(task * count / tasks..(task + 1) * count / tasks);
        let mut part = part.unwrap_or_default().to_vec();
        part.resize_with(longest, Vec::new);
        part
    };
    (0..tasks).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_partition_is_in_one_task_and_in_order() {
        for count in [0_usize, 1, 3, 4, 7, 16] {
            let all: Vec<Vec<usize>> = (0..count).map(|number| vec![number]).collect();
            for tasks in [1, 2, 4, 5] {
                let parts = divide(&all, tasks);
                assert_eq!(parts.len(), tasks);
                let lengths: Vec<usize> = parts.iter().map(Vec::len).collect();
                assert!(lengths.iter().all(|it| *it == lengths[0]), "{lengths:?}");
                let read: Vec<usize> = parts.into_iter().flatten().flatten().collect();
                assert_eq!(read, (0..count).collect::<Vec<_>>(), "{tasks} tasks");
            }
        }
    }
}
