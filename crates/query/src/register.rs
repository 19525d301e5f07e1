//! Bags become tables of a session.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::prelude::SessionContext;

use crate::bag_set::BagSet;
use crate::tables::{
    MessageTable, bags_table, latency_table, lineage_table, loss_times_table, losses_table,
    topic_tables, topics_table,
};
use crate::{BagSource, Error, Findings, Result};

/// What [`register`] made.
#[derive(Debug)]
pub struct Registered {
    /// The names of the tables.
    pub tables: Vec<String>,
    /// Topics that are several tables, since their types differ between bags.
    pub several: BTreeMap<String, Vec<String>>,
    /// What of the bags cannot be read; filled while queries run.
    pub findings: Arc<Findings>,
}

/// Makes bags tables of any `DataFusion` session: the one function that a server or a cluster needs.
///
/// The tables are ordinary table providers. Opens every bag, and blocks while it reads their indexes.
///
/// # Errors
/// When a bag cannot be opened, or a table of that name exists.
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
    let plan = |error| Error::plan(&error);
    registered.add(context, "bags", Arc::new(bags_table(&set).map_err(plan)?))?;
    registered.add(
        context,
        "topics",
        Arc::new(topics_table(&set).map_err(plan)?),
    )?;
    registered.add(context, "messages", Arc::new(MessageTable::all(&set)))?;
    registered.add(
        context,
        "losses",
        Arc::new(losses_table(&set).map_err(plan)?),
    )?;
    registered.add(
        context,
        "loss_times",
        Arc::new(loss_times_table(&set).map_err(plan)?),
    )?;
    registered.add(
        context,
        "lineage",
        Arc::new(lineage_table(&set).map_err(plan)?),
    )?;
    registered.add(
        context,
        "latency",
        Arc::new(latency_table(&set).map_err(plan)?),
    )?;
    for topic in topic_tables(&set) {
        if topic.name != topic.topic {
            let tables = registered.several.entry(topic.topic.clone()).or_default();
            tables.push(topic.name.clone());
        }
        registered.add(context, &topic.name, Arc::new(topic.table))?;
    }
    Ok(registered)
}

impl Registered {
    fn add(
        &mut self,
        context: &SessionContext,
        name: &str,
        table: Arc<dyn datafusion::catalog::TableProvider>,
    ) -> Result<()> {
        // A bare reference: the name of a topic may hold dots and quotes.
        let reference = datafusion::common::TableReference::bare(name);
        let replaced = context
            .register_table(reference, table)
            .map_err(|error| Error::plan(&error))?;
        if replaced.is_some() {
            return Err(Error::Sql {
                message: format!("there is a table {name} already"),
            });
        }
        self.tables.push(name.to_owned());
        Ok(())
    }
}
