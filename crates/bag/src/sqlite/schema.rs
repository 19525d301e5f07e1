//! The tables of rosbag2, by version of the schema.

use rusqlite::{Connection, OptionalExtension};

use crate::{MessageDefinition, StatePart, TopicInfo};

/// The schema that is written.
pub(super) const VERSION: u32 = 4;

/// Creates the tables of schema 4, word for word as rosbag2 does.
pub(super) const CREATE: &str = "
CREATE TABLE schema(schema_version INTEGER PRIMARY KEY,ros_distro TEXT NOT NULL);
CREATE TABLE metadata(id INTEGER PRIMARY KEY,metadata_version INTEGER NOT NULL,metadata TEXT NOT NULL);
CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT NULL,serialization_format TEXT NOT NULL,offered_qos_profiles TEXT NOT NULL,type_description_hash TEXT NOT NULL);
CREATE TABLE message_definitions(id INTEGER PRIMARY KEY,topic_type TEXT NOT NULL,encoding TEXT NOT NULL,encoded_message_definition TEXT NOT NULL,type_description_hash TEXT NOT NULL);
CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
";

/// The accounts of a file that is being written, oldest first; rosbag2 ignores this table.
pub(super) const CREATE_ACCOUNT: &str =
    "CREATE TABLE IF NOT EXISTS timeloom_account(id INTEGER PRIMARY KEY,account TEXT NOT NULL)";
pub(super) const INSERT_ACCOUNT: &str = "INSERT INTO timeloom_account(account) VALUES (?1)";
/// A finished file has its account in the metadata.
pub(super) const DROP_ACCOUNT: &str = "DROP TABLE IF EXISTS timeloom_account";

/// The saved accounts of a file that was never finished.
pub(super) fn saved_accounts(connection: &Connection) -> Vec<String> {
    let read = |connection: &Connection| -> rusqlite::Result<Vec<String>> {
        let mut statement =
            connection.prepare("SELECT account FROM timeloom_account ORDER BY id")?;
        let rows = statement.query_map([], |row| row.get(0))?;
        // Damage affects only the rows behind it.
        Ok(rows.map_while(Result::ok).collect())
    };
    // Without losses there is no such table.
    read(connection).unwrap_or_default()
}

/// Adds a text of the robot's state; rosbag2 ignores these tables.
pub(super) fn insert_state(
    connection: &Connection,
    part: StatePart,
    text: &str,
) -> rusqlite::Result<()> {
    let (table, key) = (part.table(), part.key());
    connection.execute_batch(&format!(
        "CREATE TABLE IF NOT EXISTS {table}(id INTEGER PRIMARY KEY,{key} TEXT NOT NULL)"
    ))?;
    let insert = format!("INSERT INTO {table}({key}) VALUES (?1)");
    connection
        .prepare_cached(&insert)?
        .execute([text])
        .map(|_| ())
}

/// The texts of a part of the robot's state, oldest first; none if no recorder saved any.
pub(super) fn state_texts(
    connection: &Connection,
    part: StatePart,
) -> rusqlite::Result<Vec<String>> {
    let (table, key) = (part.table(), part.key());
    if !has_table(connection, table)? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare(&format!("SELECT {key} FROM {table} ORDER BY id"))?;
    let rows = statement.query_map([], |row| row.get(0))?;
    rows.collect()
}

fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    connection
        .query_row(
            "SELECT 1 FROM sqlite_master WHERE type='table' AND name=?1",
            [name],
            |_| Ok(()),
        )
        .optional()
        .map(|found| found.is_some())
}

/// The later columns and tables that a database has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one column or table that may exist"
)]
pub(super) struct Layout {
    pub(super) qos: bool,
    pub(super) hash: bool,
    pub(super) metadata: bool,
    pub(super) schema: bool,
    pub(super) definitions: bool,
}

impl Layout {
    /// Checks the tables instead of trusting a version number: Humble has schema 3 tables without a version.
    pub(super) fn detect(connection: &Connection) -> rusqlite::Result<Self> {
        let has_column = |name: &str| -> rusqlite::Result<bool> {
            connection
                .query_row(
                    "SELECT 1 FROM pragma_table_info('topics') WHERE name=?1",
                    [name],
                    |_| Ok(()),
                )
                .optional()
                .map(|found| found.is_some())
        };
        Ok(Self {
            qos: has_column("offered_qos_profiles")?,
            hash: has_column("type_description_hash")?,
            metadata: has_table(connection, "metadata")?,
            schema: has_table(connection, "schema")?,
            definitions: has_table(connection, "message_definitions")?,
        })
    }

    /// The topics with the ids of the database, ascending.
    pub(super) fn topics(self, connection: &Connection) -> rusqlite::Result<Vec<(i64, TopicInfo)>> {
        let qos = if self.qos {
            "offered_qos_profiles"
        } else {
            "''"
        };
        let hash = if self.hash {
            "type_description_hash"
        } else {
            "''"
        };
        let sql = format!(
            "SELECT id, name, type, serialization_format, {qos}, {hash} FROM topics ORDER BY id"
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        let mut topics = Vec::new();
        while let Some(row) = rows.next()? {
            let mut topic = TopicInfo {
                name: row.get(1)?,
                type_name: row.get(2)?,
                serialization_format: row.get(3)?,
                offered_qos_profiles: row.get(4)?,
                type_description_hash: row.get(5)?,
                definition: MessageDefinition::default(),
            };
            if self.definitions {
                topic.definition = definition(connection, &topic)?;
            }
            topics.push((row.get(0)?, topic));
        }
        Ok(topics)
    }
}

/// The definition of a topic's type; those of service events are kept under the service's type.
fn definition(connection: &Connection, topic: &TopicInfo) -> rusqlite::Result<MessageDefinition> {
    let sql =
        "SELECT encoding, encoded_message_definition FROM message_definitions WHERE topic_type=?1";
    let find = |type_name: &str| {
        let read = |row: &rusqlite::Row<'_>| {
            Ok(MessageDefinition {
                encoding: row.get(0)?,
                text: row.get(1)?,
            })
        };
        connection.query_row(sql, [type_name], read).optional()
    };
    if let Some(found) = find(&topic.type_name)? {
        return Ok(found);
    }
    let service = topic.service_type().map(find).transpose()?.flatten();
    Ok(service.unwrap_or_default())
}
