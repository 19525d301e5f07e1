//! Registers bags as tables of a session.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::prelude::SessionContext;

use crate::bag_set::BagSet;
use crate::tables::{
    BagTable, MessageRows, Rows, SetTable, bags_table, host_clock_table, loss_times_table,
    losses_table, topic_tables, topics_table,
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
    let tables = [
        ("bags", Rows::Made(bags_table)),
        ("topics", Rows::Made(topics_table)),
        ("messages", Rows::Messages(MessageRows::all(&set))),
        ("losses", Rows::Made(losses_table)),
        ("loss_times", Rows::Made(loss_times_table)),
        ("host_clock", Rows::Made(host_clock_table)),
    ];
    let by_bag = BagTable::ALL.map(|table| (table.name(), Rows::BagByBag(table)));
    for (name, rows) in tables.into_iter().chain(by_bag) {
        registered.add(context, &set, name, rows)?;
    }
    for topic in topic_tables(&set) {
        if topic.name != topic.topic {
            let tables = registered.several.entry(topic.topic.clone()).or_default();
            tables.push(topic.name.clone());
        }
        registered.add(context, &set, &topic.name, Rows::Messages(topic.rows))?;
    }
    Ok(registered)
}

impl Registered {
    fn add(
        &mut self,
        context: &SessionContext,
        set: &Arc<BagSet>,
        name: &str,
        rows: Rows,
    ) -> Result<()> {
        let table = SetTable::new(set, rows).map_err(|error| Error::plan(&error))?;
        // A bare reference: the name of a topic may hold dots and quotes.
        let reference = datafusion::common::TableReference::bare(name);
        let replaced = context
            .register_table(reference, Arc::new(table))
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
