//! A session for one process: bags in, SQL in, rows out, without async.

mod ordered;
mod table_names;

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::StreamExt as _;
use tokio::runtime::Runtime;

pub(crate) use self::ordered::execute;
#[cfg(feature = "cluster")]
pub(crate) use self::ordered::{exchanges, in_order};
#[cfg(feature = "cluster")]
use crate::cluster::{Cluster, QueryRun};
use crate::register::{Registered, register};
use crate::{BagSource, Error, Findings, Result};

/// How a session works.
#[derive(Debug, Clone, Copy, Default)]
pub struct SessionOptions {
    /// Memory of sorts, joins and groups; what does not fit goes to temporary files where that is possible.
    pub memory: Option<usize>,
    /// Threads that read and compute; as many as there are processors unless given.
    pub threads: Option<usize>,
}

/// Bags that are being asked.
pub struct Session {
    runtime: Runtime,
    context: SessionContext,
    registered: Registered,
    #[cfg(feature = "cluster")]
    cluster: Option<Arc<Cluster>>,
}

impl Session {
    /// Opens bags.
    ///
    /// # Errors
    /// When a bag cannot be opened, or threads cannot be started.
    pub fn open(
        source: Arc<dyn BagSource>,
        bags: &[String],
        options: SessionOptions,
    ) -> Result<Self> {
        Self::on(threads()?, source, bags, options)
    }

    fn on(
        runtime: Runtime,
        source: Arc<dyn BagSource>,
        bags: &[String],
        options: SessionOptions,
    ) -> Result<Self> {
        let context = context(options)?;
        let registered = register(&context, source, bags)?;
        Ok(Self {
            runtime,
            context,
            registered,
            #[cfg(feature = "cluster")]
            cluster: None,
        })
    }

    /// Opens bags whose messages the workers of a cluster read. Their addresses must mean the same everywhere.
    ///
    /// # Errors
    /// As [`Session::open`]; when a worker refuses the secret or the version; when none can be reached.
    #[cfg(feature = "cluster")]
    pub fn open_on(
        cluster: Cluster,
        source: Arc<dyn BagSource>,
        bags: &[String],
        options: SessionOptions,
    ) -> Result<Self> {
        let runtime = threads()?;
        // Before all bags are opened, which may take long.
        runtime.block_on(cluster.check())?;
        Ok(Self {
            cluster: Some(Arc::new(cluster)),
            ..Self::on(runtime, source, bags, options)?
        })
    }

    /// Workers that were left out so far, with the reason.
    #[cfg(feature = "cluster")]
    pub fn notices(&self) -> Vec<String> {
        let cluster = self.cluster.as_ref();
        cluster.map(|it| it.notices()).unwrap_or_default()
    }

    /// The names of all tables.
    pub fn tables(&self) -> &[String] {
        &self.registered.tables
    }

    /// What of the bags could not be read so far.
    pub fn findings(&self) -> &Findings {
        &self.registered.findings
    }

    /// Plans a query and starts it.
    ///
    /// # Errors
    /// When the text is no query over these tables.
    pub fn query(&self, sql: &str) -> Result<Answer<'_>> {
        self.check_tables(sql)?;
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            let findings = &self.registered.findings;
            let run = QueryRun::start(cluster, &self.context, findings, sql);
            return Ok(Answer {
                session: self,
                stream: self.runtime.block_on(run)?,
            });
        }
        Ok(Answer {
            session: self,
            stream: self.runtime.block_on(start(&self.context, sql))?,
        })
    }
}

async fn start(context: &SessionContext, sql: &str) -> Result<SendableRecordBatchStream> {
    let plan = |error| Error::plan(&error);
    let frame = context.sql_with_options(sql, only_reads()).await;
    let frame = frame.map_err(plan)?;
    let tasks = Arc::new(frame.task_ctx());
    let physical = frame.create_physical_plan().await.map_err(plan)?;
    execute(&physical, &tasks).map_err(|error| Error::run(&error))
}

/// A query changes nothing.
pub(crate) fn only_reads() -> SQLOptions {
    SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
}

fn threads() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Error::Threads)
}

fn context(options: SessionOptions) -> Result<SessionContext> {
    let mut config = SessionConfig::new()
        .with_information_schema(true)
        // Rows of one reader stay in the order of their times; readers are many already.
        .with_round_robin_repartition(false);
    if let Some(threads) = options.threads {
        config = config.with_target_partitions(threads);
    }
    let mut runtime = RuntimeEnvBuilder::new();
    if let Some(memory) = options.memory {
        runtime = runtime.with_memory_pool(Arc::new(FairSpillPool::new(memory)));
    }
    let runtime = runtime.build_arc().map_err(|error| Error::plan(&error))?;
    Ok(SessionContext::new_with_config_rt(config, runtime))
}

/// The rows of a query, batch by batch.
pub struct Answer<'a> {
    session: &'a Session,
    stream: SendableRecordBatchStream,
}

impl Answer<'_> {
    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        self.stream.schema()
    }
}

impl Iterator for Answer<'_> {
    type Item = Result<RecordBatch>;

    /// Blocks until rows are there.
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.session.runtime.block_on(self.stream.next())?;
        Some(next.map_err(|error| Error::run(&error)))
    }
}
