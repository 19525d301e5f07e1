//! A small table that is made when a query asks for it: for many bags it is not small.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::MemTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;

use crate::bag_set::BagSet;

/// Makes all rows.
type Make = fn(&BagSet) -> Result<MemTable>;

/// A table whose rows come from the indexes of the bags.
pub(crate) struct LazyTable {
    set: Arc<BagSet>,
    schema: SchemaRef,
    make: Make,
}

impl LazyTable {
    pub(crate) fn new(set: &Arc<BagSet>, make: Make) -> Result<Self> {
        let schema = make(&BagSet::empty(&set.source))?.schema();
        Ok(Self {
            set: Arc::clone(set),
            schema,
            make,
        })
    }
}

impl fmt::Debug for LazyTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LazyTable({:?})", self.schema.fields().first())
    }
}

#[async_trait]
impl TableProvider for LazyTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (set, make) = (Arc::clone(&self.set), self.make);
        // Bags that only a catalogue knows may have to be opened.
        let made = tokio::task::spawn_blocking(move || make(&set)).await;
        let table = made.map_err(|error| DataFusionError::External(Box::new(error)))??;
        table.scan(state, projection, filters, limit).await
    }
}
