//! A table over a set of bags, as `DataFusion` sees it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::MemTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;

use super::bag_rows::BagTable;
use super::message_rows::MessageRows;
use crate::bag_set::BagSet;
use crate::scan::readers;

/// Makes all rows of a table from the summaries of the bags.
type MakeRows = fn(&BagSet) -> Result<MemTable>;

/// Where rows come from.
pub(crate) enum Rows {
    /// From the summaries, when a query asks for them: for many bags they are not few.
    Made(MakeRows),
    /// From the bags, bag by bag.
    BagByBag(BagTable),
    /// A row for each message.
    Messages(MessageRows),
}

/// A table over a set of bags.
pub(crate) struct SetTable {
    set: Arc<BagSet>,
    schema: SchemaRef,
    rows: Rows,
}

impl SetTable {
    pub(crate) fn new(set: &Arc<BagSet>, rows: Rows) -> Result<Self> {
        let schema = match &rows {
            Rows::Made(make) => make(&BagSet::empty(&set.source))?.schema(),
            Rows::BagByBag(table) => table.schema(),
            Rows::Messages(messages) => messages.schema(),
        };
        Ok(Self {
            set: Arc::clone(set),
            schema,
            rows,
        })
    }
}

impl fmt::Debug for SetTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.schema.fields().iter().map(|field| field.name());
        f.debug_tuple("SetTable")
            .field(&names.collect::<Vec<_>>())
            .finish()
    }
}

#[async_trait]
impl TableProvider for SetTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| match &self.rows {
            Rows::Messages(messages) if messages.bounds_of(filter).is_some() => {
                TableProviderFilterPushDown::Exact
            }
            _ => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(match &self.rows {
            Rows::Made(make) => {
                let (set, make) = (Arc::clone(&self.set), *make);
                // Bags that only a catalogue knows may have to be opened.
                let made = tokio::task::spawn_blocking(move || make(&set)).await;
                let table = made.map_err(|error| DataFusionError::External(Box::new(error)))??;
                table.scan(state, projection, filters, limit).await?
            }
            Rows::BagByBag(table) => Arc::new(table.plan(&self.set, projection.cloned())?),
            Rows::Messages(messages) => {
                let readers = readers(state.config());
                Arc::new(messages.plan(&self.set, readers, projection, filters, limit))
            }
        })
    }
}
