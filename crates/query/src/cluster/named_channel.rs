//! A connection whose errors say which worker they are of.

use std::error::Error as _;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_distributed::{
    CoordinatorToWorkerMsg, ExecuteTaskRequest, GetWorkerInfoRequest, GetWorkerInfoResponse,
    SetPlanRequest, WorkerChannel, WorkerToCoordinatorMsg,
};
use futures::StreamExt as _;
use futures::stream::BoxStream;
use tonic::Status;
use tonic::codegen::http::HeaderMap;
use url::Url;

use super::members::WorkerAddress;

/// How the text of an error begins that is of the connection, not of the query. The text passes through other
/// workers, which keep nothing else of an error.
const LOST: &str = "lost worker ";

/// The words of the engine for a worker that was asked for rows, and whose plan did not arrive in time.
const LATE: &str = "waiting for the plan to be set";

/// Whether an error says that a connection to a worker failed.
pub(super) fn is_lost(error: &DataFusionError) -> bool {
    let text = error.to_string();
    text.contains(LOST) || text.contains(LATE)
}

/// The text of a status with its causes, each once.
pub(super) fn status_text(status: &Status) -> String {
    let mut texts = vec![status.message().to_owned()];
    let mut cause = status.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !texts.iter().any(|known| known.contains(&text)) {
            texts.push(text);
        }
        cause = error.source();
    }
    texts.retain(|text| !text.is_empty());
    texts.join(": ")
}

/// A connection to a worker.
pub(super) struct NamedChannel {
    address: WorkerAddress,
    inner: Box<dyn WorkerChannel>,
}

impl NamedChannel {
    pub(super) fn new(url: &Url, inner: Box<dyn WorkerChannel>) -> Self {
        Self {
            address: WorkerAddress::from_url(url),
            inner,
        }
    }
}

/// Adds the worker to an error.
fn named(address: &WorkerAddress, error: DataFusionError) -> DataFusionError {
    if error.to_string().contains(LOST) {
        return error;
    }
    match error {
        DataFusionError::External(inner) => {
            let text = match inner.downcast_ref::<Status>() {
                Some(status) => status_text(status),
                None => inner.to_string(),
            };
            DataFusionError::Execution(format!("{LOST}{address}: {text}"))
        }
        DataFusionError::Execution(text) if !text.contains("(worker ") => {
            DataFusionError::Execution(format!("{text} (worker {address})"))
        }
        other => other,
    }
}

#[async_trait]
impl WorkerChannel for NamedChannel {
    async fn coordinator_channel(
        &mut self,
        headers: HeaderMap,
        set_plan_request: SetPlanRequest,
        messages: BoxStream<'static, CoordinatorToWorkerMsg>,
        metrics: ExecutionPlanMetricsSet,
        tasks: &Arc<TaskContext>,
    ) -> Result<BoxStream<'static, Result<WorkerToCoordinatorMsg>>> {
        let address = self.address.clone();
        let answers = self
            .inner
            .coordinator_channel(headers, set_plan_request, messages, metrics, tasks)
            .await
            .map_err(|error| named(&address, error))?;
        let answers = answers.map(move |answer| answer.map_err(|error| named(&address, error)));
        Ok(answers.boxed())
    }

    async fn execute_task(
        &mut self,
        headers: HeaderMap,
        request: ExecuteTaskRequest,
        metrics: ExecutionPlanMetricsSet,
        tasks: &Arc<TaskContext>,
    ) -> Result<Vec<BoxStream<'static, Result<RecordBatch>>>> {
        let address = &self.address;
        let streams = self
            .inner
            .execute_task(headers, request, metrics, tasks)
            .await
            .map_err(|error| named(address, error))?;
        let streams = streams.into_iter().map(|batches| {
            let address = address.clone();
            let batches = batches.map(move |batch| batch.map_err(|error| named(&address, error)));
            batches.boxed()
        });
        Ok(streams.collect())
    }

    async fn get_worker_info(
        &mut self,
        request: GetWorkerInfoRequest,
    ) -> Result<GetWorkerInfoResponse> {
        let address = &self.address;
        let answer = self.inner.get_worker_info(request).await;
        answer.map_err(|error| named(address, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_their_worker_once() {
        let address: WorkerAddress = "10.0.0.1:7420".parse().unwrap();
        let status = DataFusionError::External(Box::new(Status::unavailable("gone")));
        let lost = named(&address, status);
        assert!(is_lost(&lost));
        assert_eq!(lost.message(), "lost worker 10.0.0.1:7420: gone");
        let other: WorkerAddress = "10.0.0.2:7420".parse().unwrap();
        assert_eq!(
            named(&other, lost).message(),
            "lost worker 10.0.0.1:7420: gone"
        );
        let failed = named(&address, DataFusionError::Execution("no bag".into()));
        assert!(!is_lost(&failed));
        let failed = named(&other, failed);
        assert_eq!(failed.message(), "no bag (worker 10.0.0.1:7420)");
    }
}
