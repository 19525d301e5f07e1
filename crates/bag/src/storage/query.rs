//! Selection and order of the messages to read.

use crate::TopicId;

/// The order of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Ascending log time; equal times in the order of the file.
    #[default]
    LogTime,
    /// The exact reverse of [`Order::LogTime`].
    ReverseLogTime,
    /// As stored in the file.
    File,
}

/// A selection of messages. The default is all of them in log-time order.
///
/// ```
/// use std::path::Path;
/// use timeloom_bag::{BagReader, Query, StorageReader as _};
///
/// let mut reader = BagReader::open(Path::new("../../testdata/bags/mcap_plain"))?;
/// let query = Query {
///     end_ns: reader.info().start_time_ns.map(|start| start + 1_000_000_000),
///     ..reader.query_for(&["/imu/data"])
/// };
/// reader.start(&query)?;
/// let mut count = 0;
/// while let Some(message) = reader.next_message()? {
///     assert!(query.contains(message.log_time_ns));
///     count += 1;
/// }
/// assert!(count > 0);
/// # Ok::<(), timeloom_bag::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// The order.
    pub order: Order,
    /// The topics by dense id. `None` is no filter; an empty list selects nothing.
    pub topics: Option<Vec<TopicId>>,
    /// Earliest log time, inclusive.
    pub start_ns: Option<i64>,
    /// Latest log time, inclusive.
    pub end_ns: Option<i64>,
}

impl Query {
    /// Whether a log time is within the bounds.
    pub fn contains(&self, log_time_ns: i64) -> bool {
        self.start_ns.is_none_or(|start| log_time_ns >= start)
            && self.end_ns.is_none_or(|end| log_time_ns <= end)
    }

    /// A dense table of the selected topics among `count`; `None` if all are selected.
    pub(crate) fn topic_table(&self, count: usize) -> Option<Vec<bool>> {
        let topics = self.topics.as_ref()?;
        let mut table = vec![false; count];
        for topic in topics {
            if let Some(wanted) = table.get_mut(topic.index()) {
                *wanted = true;
            }
        }
        Some(table)
    }
}
