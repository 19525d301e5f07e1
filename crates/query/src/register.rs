//! Registers bags as tables of a session.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::error::Result as DataFusionResult;
use datafusion::prelude::SessionContext;

use crate::bag_set::BagSet;
use crate::tables::{
    LazyTable, MessageTable, bags_table, graph_table, host_clock_table, latency_table,
    lineage_table, loss_times_table, losses_table, parameters_table, publishers_table,
    topic_tables, topics_table,
};
use crate::{BagSource, Error, Findings, Result};

/// The result of [`register`].
#[derive(Debug)]
pub struct Registered {
    /// The names of the tables.
    pub tables: Vec<String>,
    /// Topics with several tables, because their types differ between bags.
    pub several: BTreeMap<String, Vec<String>>,
    /// Parts of the bags that could not be read; filled while queries run.
    pub findings: Arc<Findings>,
}

/// Registers bags as tables of any `DataFusion` session, for servers and clusters.
///
/// The tables are ordinary table providers. Opens every bag that the source has no summary of, and blocks while it reads
/// their indexes.
///
/// # Errors
/// When a bag cannot be opened, or a table of the same name exists.
pub fn register(
    context: &SessionContext,
    source: Arc<dyn BagSource>,
    bags: &[String],
) -> Result<Registered> {
    let set = Arc::new(BagSet::open(source, bags)?);
    let mut registered = Registered {
        tables: Vec::new(),
        several: BTreeMap::new(),
        findings: Arc::clone(&set.findings),
    };
    let tables: [(&str, DataFusionResult<Arc<dyn TableProvider>>); 11] = [
        ("bags", provider(LazyTable::new(&set, bags_table))),
        ("topics", provider(LazyTable::new(&set, topics_table))),
        ("messages", Ok(Arc::new(MessageTable::all(&set)))),
        ("losses", provider(LazyTable::new(&set, losses_table))),
        (
            "loss_times",
            provider(LazyTable::new(&set, loss_times_table)),
        ),
        (
            "host_clock",
            provider(LazyTable::new(&set, host_clock_table)),
        ),
        ("parameters", provider(parameters_table(&set))),
        ("graph", provider(graph_table(&set))),
        ("publishers", provider(publishers_table(&set))),
        ("lineage", provider(lineage_table(&set))),
        ("latency", provider(latency_table(&set))),
    ];
    for (name, table) in tables {
        let table = table.map_err(|error| Error::plan(&error))?;
        registered.add(context, name, table)?;
    }
    for topic in topic_tables(&set) {
        if topic.name != topic.topic {
            let tables = registered.several.entry(topic.topic.clone()).or_default();
            tables.push(topic.name.clone());
        }
        registered.add(context, &topic.name, Arc::new(topic.table))?;
    }
    Ok(registered)
}

fn provider<T: TableProvider + 'static>(
    table: DataFusionResult<T>,
) -> DataFusionResult<Arc<dyn TableProvider>> {
    table.map(|table| Arc::new(table) as _)
}

impl Registered {
    fn add(
        &mut self,
        context: &SessionContext,
        name: &str,
        table: Arc<dyn TableProvider>,
    ) -> Result<()> {
        // A bare reference: the name of a topic may hold dots and quotes.
        let reference = datafusion::common::TableReference::bare(name);
        let replaced = context
            .register_table(reference, table)
            .map_err(|error| Error::plan(&error))?;
        if replaced.is_some() {
            return Err(Error::Sql {
                message: format!("table {name} exists already"),
            });
        }
        self.tables.push(name.to_owned());
        Ok(())
    }
}
