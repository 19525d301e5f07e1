//! A row for each message: of one topic with its fields, or of all topics without.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::logical_expr::Expr;
use timeloom_bag::TopicId;
use timeloom_msg::Schema;

use crate::bag_set::BagSet;
use crate::scan::{Bounds, Column, RowKind, Scan, ScanExec, Source, Spread, pieces};

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
pub(crate) struct MessageRows {
    name: Arc<str>,
    columns: Vec<Column>,
    message_schema: Option<Arc<Schema>>,
    rows: RowKind,
    /// The topics of each bag that are in this table.
    topics: Vec<Vec<TopicId>>,
}

impl MessageRows {
    /// The table `messages`: all topics, nothing decoded.
    pub(crate) fn all(set: &BagSet) -> Self {
        let topics = set.bags.iter().map(|bag| bag.topics(|_| true)).collect();
        Self {
            rows: RowKind::AnyMessage,
            ..Self::new("messages", message_columns(), None, topics)
        }
    }

    pub(crate) fn new(
        name: &str,
        columns: Vec<Column>,
        message_schema: Option<Arc<Schema>>,
        topics: Vec<Vec<TopicId>>,
    ) -> Self {
        Self {
            name: name.into(),
            columns,
            message_schema,
            rows: RowKind::OfTopic,
            topics,
        }
    }

    /// The topics that conditions leave.
    fn topics_within(&self, set: &BagSet, bounds: &Bounds) -> Vec<Vec<TopicId>> {
        let bags = set.bags.iter().zip(&self.topics);
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

    /// The columns.
    pub(super) fn schema(&self) -> SchemaRef {
        Column::schema(&self.columns)
    }

    /// What a condition says of bags, topics and times, where that is all it says.
    pub(super) fn bounds_of(&self, condition: &Expr) -> Option<Bounds> {
        Bounds::of(condition, &self.columns)
    }

    /// A leaf that reads what conditions leave, by at most so many readers.
    pub(super) fn plan(
        &self,
        set: &Arc<BagSet>,
        readers: usize,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> ScanExec {
        let known = filters.iter().filter_map(|filter| self.bounds_of(filter));
        let bounds = known.fold(Bounds::default(), Bounds::and);
        let topics = self.topics_within(set, &bounds);
        let spread = match limit {
            Some(_) => Spread::OneAfterTheOther,
            None => Spread::Over(readers),
        };
        let wanted = |index: &usize| self.columns.get(*index).cloned();
        let columns = match projection {
            Some(indexes) => indexes.iter().filter_map(wanted).collect(),
            None => self.columns.clone(),
        };
        ScanExec::leaf(Scan {
            set: Arc::clone(set),
            table: Arc::clone(&self.name),
            columns,
            message_schema: self.message_schema.clone(),
            partitions: Arc::new(pieces(set, &topics, &bounds, spread)),
            topics: Arc::new(topics),
            bounds,
            limit,
            is_part: false,
            rows: self.rows,
        })
    }
}
