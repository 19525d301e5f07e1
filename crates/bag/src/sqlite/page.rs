//! A page of rows in memory, so that no statement stays open between two messages.

use rusqlite::{Connection, params};

use crate::{Message, Order, Query, TopicId};

/// A page ends when it holds this many bytes …
const MAX_BYTES: usize = 4 << 20;
/// … or this many rows.
const MAX_ROWS: usize = 4096;

struct Row {
    topic: u32,
    log_time_ns: i64,
    data: std::ops::Range<usize>,
}

/// The rows that are being delivered and the position of the next page.
#[derive(Default)]
pub(super) struct Page {
    rows: Vec<Row>,
    next: usize,
    bytes: Vec<u8>,
    /// Time and id of the last row that was read.
    last: (i64, i64),
    done: bool,
    sql: String,
    query: Query,
}

impl Page {
    /// Prepares the reading of a query; `ids` are the database ids of the selected topics, `None` for all.
    pub(super) fn start(query: &Query, ids: Option<&[i64]>) -> Self {
        let filter = ids.map_or(String::new(), |ids| {
            let list: Vec<String> = ids.iter().map(ToString::to_string).collect();
            format!(" AND topic_id IN ({})", list.join(","))
        });
        let (place, order) = match query.order {
            Order::LogTime => (
                "timestamp >= ?1 AND (timestamp > ?1 OR id > ?2) AND timestamp <= ?4",
                "timestamp, id",
            ),
            Order::ReverseLogTime => (
                "timestamp <= ?1 AND (timestamp < ?1 OR id < ?2) AND timestamp BETWEEN ?3 AND ?4",
                "timestamp DESC, id DESC",
            ),
            // The plus disables the index of the times: with it, every page would sort all remaining rows.
            Order::File => ("id > ?2 AND +timestamp BETWEEN ?3 AND ?4", "id"),
        };
        let (low, high) = (
            query.start_ns.unwrap_or(i64::MIN),
            query.end_ns.unwrap_or(i64::MAX),
        );
        Self {
            sql: format!(
                "SELECT id, timestamp, topic_id, data FROM messages WHERE {place}{filter} ORDER BY {order}"
            ),
            last: if query.order == Order::ReverseLogTime {
                (high, i64::MAX)
            } else {
                (low, i64::MIN)
            },
            query: query.clone(),
            done: ids.is_some_and(<[i64]>::is_empty),
            ..Self::default()
        }
    }

    /// Moves to the next row; reads the next page when this one is used up. `topics` maps database ids.
    pub(super) fn advance(
        &mut self,
        connection: &Connection,
        topics: impl Fn(i64) -> Option<u32>,
    ) -> rusqlite::Result<bool> {
        if self.next >= self.rows.len() {
            if self.done {
                return Ok(false);
            }
            if let Err(error) = self.fill(connection, topics) {
                // Damage does not disappear by trying again.
                self.done = true;
                self.rows.clear();
                return Err(error);
            }
        }
        self.next += 1;
        Ok(self.next <= self.rows.len())
    }

    /// The row that [`advance`](Self::advance) moved to.
    pub(super) fn message(&self) -> Option<Message<'_>> {
        let row = self.rows.get(self.next.checked_sub(1)?)?;
        Some(Message {
            topic: TopicId(row.topic),
            log_time_ns: row.log_time_ns,
            publish_time_ns: row.log_time_ns,
            sequence: 0,
            data: self.bytes.get(row.data.clone()).unwrap_or_default(),
        })
    }

    /// Whether a row is behind the last one in the order of the query.
    fn is_behind_last(&self, log_time_ns: i64, id: i64) -> bool {
        match self.query.order {
            Order::LogTime => (log_time_ns, id) > self.last,
            Order::ReverseLogTime => (log_time_ns, id) < self.last,
            Order::File => id > self.last.1,
        }
    }

    fn fill(
        &mut self,
        connection: &Connection,
        topics: impl Fn(i64) -> Option<u32>,
    ) -> rusqlite::Result<()> {
        self.rows.clear();
        self.bytes.clear();
        self.next = 0;
        let (low, high) = (
            self.query.start_ns.unwrap_or(i64::MIN),
            self.query.end_ns.unwrap_or(i64::MAX),
        );
        let mut statement = connection.prepare_cached(&self.sql)?;
        let mut rows = statement.query(params![self.last.0, self.last.1, low, high])?;
        while self.rows.len() < MAX_ROWS && self.bytes.len() < MAX_BYTES {
            let Some(row) = rows.next()? else {
                self.done = true;
                break;
            };
            let (id, log_time_ns): (i64, i64) = (row.get(0)?, row.get(1)?);
            if !self.is_behind_last(log_time_ns, id) {
                return Err(wrong_index());
            }
            self.last = (log_time_ns, id);
            // A row of a topic that is not in the table of topics has no name; it is counted when the file is opened.
            let Some(topic) = topics(row.get(2)?) else {
                continue;
            };
            let start = self.bytes.len();
            self.bytes.extend_from_slice(row.get_ref(3)?.as_bytes()?);
            self.rows.push(Row {
                topic,
                log_time_ns,
                data: start..self.bytes.len(),
            });
        }
        Ok(())
    }
}

/// A damaged index leads to rows out of order; continuing could read the same rows forever.
fn wrong_index() -> rusqlite::Error {
    let reason = "the index of the times does not match the messages";
    rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT),
        Some(reason.into()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_order_sorts() {
        let connection = Connection::open_in_memory().unwrap();
        let tables = "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB);
            CREATE INDEX timestamp_idx ON messages (timestamp ASC);";
        connection.execute_batch(tables).unwrap();
        for order in [Order::LogTime, Order::ReverseLogTime, Order::File] {
            for ids in [None, Some([1, 2].as_slice())] {
                let page = Page::start(
                    &Query {
                        order,
                        ..Query::default()
                    },
                    ids,
                );
                let mut statement = connection
                    .prepare(&format!("EXPLAIN QUERY PLAN {}", page.sql))
                    .unwrap();
                let steps = statement
                    .query_map(params![0, 0, 0, 0], |row| row.get::<_, String>(3))
                    .unwrap();
                let plan: Vec<String> = steps.map(Result::unwrap).collect();
                assert!(
                    plan.iter().all(|step| !step.contains("TEMP B-TREE")),
                    "{order:?}: {plan:?}"
                );
            }
        }
    }
}
