//! A table with one row per message: of one topic with its fields, or of all topics without.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use timeloom_bag::TopicId;
use timeloom_msg::Schema;

use crate::bag_set::BagSet;
use crate::scan::{Bounds, Column, RowKind, Scan, ScanExec, Source, Spread, pieces, readers};

/// The columns of the table `messages`.
pub(crate) fn message_columns() -> Vec<Column> {
    vec![
        Column::new("bag", Source::Bag),
        Column::new("topic", Source::Topic),
        Column::new("type", Source::Type),
        Column::new("log_time", Source::LogTime),
        Column::new("publish_time", Source::PublishTime),
        Column::new("sequence", Source::Sequence),
        Column::new("size", Source::Size),
    ]
}

/// Messages as rows.
pub(crate) struct MessageTable {
    set: Arc<BagSet>,
    name: Arc<str>,
    columns: Vec<Column>,
    schema: SchemaRef,
    message_schema: Option<Arc<Schema>>,
    rows: RowKind,
    /// The topics of each bag that are in this table.
    topics: Vec<Vec<TopicId>>,
}

impl MessageTable {
    /// The table `messages`: all topics, nothing decoded.
    pub(crate) fn all(set: &Arc<BagSet>) -> Self {
        let topics = set.bags.iter().map(|bag| bag.topics(|_| true)).collect();
        Self {
            rows: RowKind::AnyMessage,
            ..Self::new(set, "messages", message_columns(), None, topics)
        }
    }

    pub(crate) fn new(
        set: &Arc<BagSet>,
        name: &str,
        columns: Vec<Column>,
        message_schema: Option<Arc<Schema>>,
        topics: Vec<Vec<TopicId>>,
    ) -> Self {
        Self {
            set: Arc::clone(set),
            name: name.into(),
            schema: Column::schema(&columns),
            columns,
            message_schema,
            rows: RowKind::OfTopic,
            topics,
        }
    }

    /// The topics that conditions leave.
    fn topics_within(&self, bounds: &Bounds) -> Vec<Vec<TopicId>> {
        let bags = self.set.bags.iter().zip(&self.topics);
        bags.map(|(bag, topics)| {
            if !bounds.takes_bag(&bag.name) {
                return Vec::new();
            }
            let takes = |id: &&TopicId| {
                let topic = bag.info.topics.get(id.index());
                topic.is_some_and(|topic| bounds.takes_topic(&topic.name, &topic.type_name))
            };
            topics.iter().filter(takes).copied().collect()
        })
        .collect()
    }
}

impl fmt::Debug for MessageTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessageTable({})", self.name)
    }
}

#[async_trait]
impl TableProvider for MessageTable {
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
        let support = |filter: &&Expr| match Bounds::of(filter, &self.columns) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => TableProviderFilterPushDown::Unsupported,
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
        let known = filters
            .iter()
            .filter_map(|filter| Bounds::of(filter, &self.columns));
        let bounds = known.fold(Bounds::default(), Bounds::and);
        let topics = self.topics_within(&bounds);
        let spread = match limit {
            Some(_) => Spread::OneAfterTheOther,
            None => Spread::Over(readers(state.config())),
        };
        let wanted = |index: &usize| self.columns.get(*index).cloned();
        let columns = match projection {
            Some(indexes) => indexes.iter().filter_map(wanted).collect(),
            None => self.columns.clone(),
        };
        Ok(Arc::new(ScanExec::new(Scan {
            set: Arc::clone(&self.set),
            table: Arc::clone(&self.name),
            columns,
            message_schema: self.message_schema.clone(),
            partitions: Arc::new(pieces(&self.set, &topics, &bounds, spread)),
            topics: Arc::new(topics),
            bounds,
            limit,
            is_part: false,
            rows: self.rows,
        })))
    }
}
