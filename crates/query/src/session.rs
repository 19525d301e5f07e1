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
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(Error::Threads)?;
        let context = context(options)?;
        let registered = register(&context, source, bags)?;
        Ok(Self {
            runtime,
            context,
            registered,
        })
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
        let plan = |error| Error::plan(&error);
        self.check_tables(sql)?;
        let only_reads = SQLOptions::new()
            .with_allow_ddl(false)
            .with_allow_dml(false);
        let stream = self.runtime.block_on(async {
            let frame = self.context.sql_with_options(sql, only_reads).await;
            let frame = frame.map_err(plan)?;
            let tasks = Arc::new(frame.task_ctx());
            let physical = frame.create_physical_plan().await.map_err(plan)?;
            ordered::execute(&physical, &tasks).map_err(|error| Error::run(&error))
        })?;
        Ok(Answer {
            session: self,
            stream,
        })
    }
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
