//! One query on the workers, from its plan to its last row: started again without a worker that is gone, as long as
//! the answer stays the same.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionContext;
use futures::StreamExt as _;

use super::members::{Cluster, Round};
use super::named_channel::is_lost;
use super::planning::{Metrics, state_on, with_order};
use crate::session::{execute, only_reads};
use crate::{Error, Findings, Result};

/// How often a query starts again although all workers answer: a connection was cut, and the next may hold.
const CUTS: usize = 2;

/// A query that runs on a cluster.
pub(crate) struct QueryRun {
    cluster: Arc<Cluster>,
    context: SessionContext,
    findings: Arc<Findings>,
    sql: String,
    attempt: Attempt,
    /// Rows that were given out.
    given: usize,
    /// Rows of this attempt that were given out by an earlier one.
    skip: usize,
    cuts: usize,
}

/// A plan that runs on the workers of one round.
struct Attempt {
    round: Round,
    rows: SendableRecordBatchStream,
    /// Whether the same query gives its rows in the same order.
    is_ordered: bool,
}

impl QueryRun {
    /// Plans a query and starts it.
    ///
    /// # Errors
    /// When the text is no query, or no worker can be reached.
    pub(crate) async fn start(
        cluster: &Arc<Cluster>,
        context: &SessionContext,
        findings: &Arc<Findings>,
        sql: &str,
    ) -> Result<SendableRecordBatchStream> {
        let round = cluster.begin().await?;
        let run = Self {
            attempt: attempt(cluster, context, sql, round).await?,
            cluster: Arc::clone(cluster),
            context: context.clone(),
            findings: Arc::clone(findings),
            sql: sql.to_owned(),
            given: 0,
            skip: 0,
            cuts: 0,
        };
        Ok(run.into_stream())
    }

    fn schema(&self) -> SchemaRef {
        self.attempt.rows.schema()
    }

    fn into_stream(self) -> SendableRecordBatchStream {
        let schema = self.schema();
        let rows = futures::stream::unfold(Some(self), |run| async move {
            let mut run = run?;
            match run.next().await {
                Ok(Some(batch)) => Some((Ok(batch), Some(run))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, Box::pin(rows)))
    }

    async fn next(&mut self) -> Result<Option<RecordBatch>, DataFusionError> {
        loop {
            let failure = match self.attempt.rows.next().await {
                Some(Ok(batch)) => match self.unseen(&batch) {
                    Some(batch) => return Ok(Some(batch)),
                    None => continue,
                },
                Some(Err(failure)) => failure,
                None => match self.cluster.end(&self.attempt.round, &self.findings).await {
                    Ok(()) => return Ok(None),
                    Err(failure) => failure,
                },
            };
            self.start_again(failure).await?;
        }
    }

    /// The rows of a batch that no earlier attempt gave out.
    fn unseen(&mut self, batch: &RecordBatch) -> Option<RecordBatch> {
        let skipped = self.skip.min(batch.num_rows());
        self.skip -= skipped;
        let batch = batch.slice(skipped, batch.num_rows() - skipped);
        self.given += batch.num_rows();
        (batch.num_rows() > 0).then_some(batch)
    }

    /// Starts the query again on the workers that are left, if one is gone; otherwise returns the failure.
    async fn start_again(&mut self, failure: DataFusionError) -> Result<(), DataFusionError> {
        let outside = |error: Error| DataFusionError::External(Box::new(error));
        let round = self.cluster.begin().await.map_err(outside)?;
        if self.attempt.round.is_within(&round) {
            // Every worker is there: it is the query that failed, or a connection.
            self.cuts += 1;
            if !is_lost(&failure) || self.cuts > CUTS {
                return Err(failure);
            }
        }
        if self.given > 0 && !self.attempt.is_ordered {
            return Err(unrepeatable(&failure));
        }
        let next = attempt(&self.cluster, &self.context, &self.sql, round);
        let next = next.await.map_err(outside)?;
        if self.given > 0 && !next.is_ordered {
            return Err(unrepeatable(&failure));
        }
        (self.attempt, self.skip) = (next, self.given);
        Ok(())
    }
}

fn unrepeatable(failure: &DataFusionError) -> DataFusionError {
    let text = failure.message();
    DataFusionError::Execution(format!(
        "{text}; the query cannot go on without it, since a part of its rows is out and a new run could order them otherwise"
    ))
}

async fn attempt(
    cluster: &Cluster,
    context: &SessionContext,
    sql: &str,
    round: Round,
) -> Result<Attempt> {
    let plan = |error: DataFusionError| Error::plan(&error);
    let metrics = Metrics::of(sql);
    let state = state_on(context.state(), &round, &cluster.channels, metrics).map_err(plan)?;
    let context = SessionContext::new_with_state(state);
    let frame = context.sql_with_options(sql, only_reads()).await;
    let frame = frame.map_err(plan)?;
    let tasks = Arc::new(frame.task_ctx());
    let physical = frame.create_physical_plan().await.map_err(plan)?;
    let (physical, is_ordered) = with_order(physical).map_err(plan)?;
    let rows = execute(&physical, &tasks).map_err(|error| Error::run(&error))?;
    Ok(Attempt {
        round,
        rows,
        is_ordered,
    })
}
