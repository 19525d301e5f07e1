//! The requests beside those of the engine: a query begins on a worker, and ends there with what could not be read.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use datafusion_distributed::grpc::BoxCloneSyncChannel;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codegen::http;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::{BoxFuture, Service};
use tonic::server::{NamedService, UnaryService};
use tonic::{Request, Response, Status};

use super::bytes_codec::BytesCodec;
use super::worker_state::WorkerState;
use crate::findings::FindingsRecord;

const SERVICE: &str = "timeloom.Worker";
const BEGIN: &str = "/timeloom.Worker/Begin";
const END: &str = "/timeloom.Worker/End";

/// A query is about to send plans.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) query: String,
}

/// The worker that a query begins on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Welcome {
    /// Another one after each start.
    pub(super) instance: String,
    /// How many partitions it computes at once.
    pub(super) threads: usize,
}

/// A query got all its rows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) query: String,
    pub(super) instance: String,
}

/// Asks a worker.
///
/// # Errors
/// The worker's refusal, or that of the connection.
pub(super) async fn begin(
    channel: BoxCloneSyncChannel,
    question: &Begin,
) -> Result<Welcome, Status> {
    ask(channel, BEGIN, question).await
}

/// Ends a query on a worker; returns what could not be read there.
///
/// # Errors
/// The worker's refusal, or that of the connection.
pub(super) async fn end(
    channel: BoxCloneSyncChannel,
    question: &End,
) -> Result<FindingsRecord, Status> {
    ask(channel, END, question).await
}

async fn ask<A: DeserializeOwned>(
    channel: BoxCloneSyncChannel,
    method: &'static str,
    question: &(impl Serialize + Sync),
) -> Result<A, Status> {
    let mut grpc = Grpc::new(channel).max_decoding_message_size(usize::MAX);
    let ready = grpc.ready().await;
    ready.map_err(|error| Status::from_error(error.into()))?;
    let request = Request::new(to_json(question)?);
    let path = PathAndQuery::from_static(method);
    let reply = grpc.unary(request, path, BytesCodec).await?;
    from_json(reply.get_ref())
}

fn to_json(value: &impl Serialize) -> Result<Vec<u8>, Status> {
    serde_json::to_vec(value).map_err(|error| Status::internal(error.to_string()))
}

fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Status> {
    serde_json::from_slice(bytes).map_err(|error| Status::invalid_argument(error.to_string()))
}

/// Answers these requests.
#[derive(Debug, Clone)]
pub(super) struct Control(pub(super) Arc<WorkerState>);

impl NamedService for Control {
    const NAME: &'static str = SERVICE;
}

impl Service<http::Request<Body>> for Control {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let state = Arc::clone(&self.0);
        let method = match request.uri().path() {
            BEGIN => Method::Begin,
            END => Method::End,
            _ => Method::Unknown,
        };
        Box::pin(async move {
            let mut grpc = tonic::server::Grpc::new(BytesCodec);
            Ok(grpc.unary(Call { state, method }, request).await)
        })
    }
}

#[derive(Debug, Clone, Copy)]
enum Method {
    Begin,
    End,
    Unknown,
}

struct Call {
    state: Arc<WorkerState>,
    method: Method,
}

impl UnaryService<Vec<u8>> for Call {
    type Response = Vec<u8>;
    type Future = std::future::Ready<Result<Response<Vec<u8>>, Status>>;

    fn call(&mut self, request: Request<Vec<u8>>) -> Self::Future {
        std::future::ready(self.answer(request.get_ref()).map(Response::new))
    }
}

impl Call {
    fn answer(&self, question: &[u8]) -> Result<Vec<u8>, Status> {
        match self.method {
            Method::Begin => {
                let question: Begin = from_json(question)?;
                to_json(&self.state.begin(&question.query))
            }
            Method::End => {
                let question: End = from_json(question)?;
                let found = self.state.end(&question.query, &question.instance);
                to_json(&found.ok_or_else(|| Status::not_found("the worker was started again"))?)
            }
            Method::Unknown => Err(Status::unimplemented("no such request")),
        }
    }
}
