//! A worker: reads bags and computes for those who ask.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::error::{DataFusionError, Result as DataFusionResult};
use datafusion::execution::SessionState;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion_distributed::{DistributedExt as _, WorkerQueryContext, WorkerSessionBuilder};
use tokio::runtime::Runtime;
use tonic::Request;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use super::channels::Channels;
use super::codec::{BagCodec, WorkerBags};
use super::control::Control;
use super::members::random_name;
use super::passport::{Passport, QUERY_HEADER, VERSION};
use super::secret::Secret;
use super::worker_state::WorkerState;
use crate::{BagSource, Error, Result};

/// How a worker works.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// Where it listens. Anything but this machine needs a secret.
    pub listen: SocketAddr,
    /// What askers must know.
    pub secret: Option<Secret>,
    /// Memory of sorts, joins and groups of all queries together.
    pub memory: Option<usize>,
    /// Threads that read and compute; as many as there are processors unless given.
    pub threads: Option<usize>,
    /// The version that askers must have; that of this crate.
    pub version: String,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7420)),
            secret: None,
            memory: None,
            threads: None,
            version: VERSION.to_owned(),
        }
    }
}

/// A worker that runs until it is dropped.
#[derive(Debug)]
pub struct Worker {
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Worker {
    /// Listens, and serves from threads of its own.
    ///
    /// # Errors
    /// When it would listen on more than this machine without a secret, or cannot listen at all.
    pub fn start(source: Arc<dyn BagSource>, options: WorkerOptions) -> Result<Self> {
        let cannot = |reason: String| Error::Listen {
            address: options.listen.to_string(),
            reason,
        };
        if options.secret.is_none() && !options.listen.ip().is_loopback() {
            return Err(Error::OpenWorker {
                address: options.listen.to_string(),
            });
        }
        let listener = TcpListener::bind(options.listen);
        let listener = listener.map_err(|error| cannot(error.to_string()))?;
        let set = listener.set_nonblocking(true);
        set.map_err(|error| cannot(error.to_string()))?;
        let address = listener.local_addr();
        let address = address.map_err(|error| cannot(error.to_string()))?;
        let runtime = runtime(options.threads)?;
        let incoming = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener)
        };
        let incoming = incoming.map_err(|error| cannot(error.to_string()))?;
        let incoming = TcpIncoming::from(incoming).with_nodelay(Some(true));
        let server = server(source, options)?.serve_with_incoming(incoming);
        runtime.spawn(server);
        Ok(Self {
            address,
            runtime: Some(runtime),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Worker {
    /// Ends at once: queries that run here start again elsewhere, or fail where they were asked.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn runtime(threads: Option<usize>) -> Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if let Some(threads) = threads {
        builder.worker_threads(threads.max(1));
    }
    builder.enable_all().build().map_err(Error::Threads)
}

fn server(
    source: Arc<dyn BagSource>,
    options: WorkerOptions,
) -> Result<tonic::transport::server::Router> {
    let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = options.threads.unwrap_or_else(processors).max(1);
    let state = Arc::new(WorkerState::new(random_name(), threads));
    let passport = Passport {
        version: options.version,
        secret: options.secret,
    };
    let mut environment = RuntimeEnvBuilder::new();
    if let Some(memory) = options.memory {
        environment = environment.with_memory_pool(Arc::new(FairSpillPool::new(memory)));
    }
    let environment = environment.build_arc();
    let sessions = Sessions {
        source,
        state: Arc::clone(&state),
        channels: Channels::new(&passport),
        threads,
    };
    let engine = datafusion_distributed::Worker::from_session_builder(sessions)
        .with_runtime_env(environment.map_err(|error| Error::plan(&error))?)
        .into_worker_server();
    let check = move |request: Request<()>| passport.check(request);
    Ok(Server::builder()
        .add_service(InterceptedService::new(engine, check.clone()))
        .add_service(InterceptedService::new(Control(state), check)))
}

/// The sessions in which plans run.
struct Sessions {
    source: Arc<dyn BagSource>,
    state: Arc<WorkerState>,
    channels: Channels,
    threads: usize,
}

#[async_trait]
impl WorkerSessionBuilder for Sessions {
    async fn build_session_state(
        &self,
        mut query: WorkerQueryContext,
    ) -> DataFusionResult<SessionState> {
        let name = query.headers.get(QUERY_HEADER);
        let name = name.and_then(|name| name.to_str().ok()).unwrap_or_default();
        let findings = self.state.findings(name).ok_or_else(|| {
            DataFusionError::Execution("lost worker: the query did not begin here".to_owned())
        })?;
        let bags = WorkerBags {
            source: Arc::clone(&self.source),
            findings,
        };
        let config = query.builder.config().get_or_insert_default();
        config.set_extension(Arc::new(bags));
        config.options_mut().execution.target_partitions = self.threads;
        Ok(query
            .builder
            .with_distributed_user_codec(BagCodec)
            .with_distributed_channel_resolver(self.channels.clone())
            .build())
    }
}
