//! Reads a damaged database row by row.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::{account_of, conflict, file_metadata, keep_state};
use crate::bag::BagFile;
use crate::sqlite::{SqliteOptions, SqliteReader, SqliteWriter};
use crate::storage::{FileSummary, StorageReader, StorageWriter};
use crate::{BagMetadata, Error, Message, Result, TopicId};

/// Rows that cannot be read are skipped one by one, up to this many in a row; then the rest is skipped.
const MAX_GAP: i64 = 100_000;

/// The copied rows.
pub(super) struct Copied {
    pub(super) summary: FileSummary,
    pub(super) lost_messages: u64,
    pub(super) damage: Vec<String>,
}

/// The problems that sqlite itself finds.
pub(super) fn check(path: &Path) -> Result<Vec<String>> {
    let failed = Error::sqlite(path);
    let connection = SqliteReader::open(path)?.into_connection();
    let mut statement = connection
        .prepare("PRAGMA quick_check(20)")
        .map_err(&failed)?;
    let mut rows = statement.query([]).map_err(&failed)?;
    let mut problems = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        let text: String = row.get(0).map_err(&failed)?;
        if text != "ok" {
            problems.push(text);
        }
    }
    Ok(problems)
}

/// Copies every readable row to a new database.
pub(super) fn copy(file: &BagFile, bag: Option<&BagMetadata>, to: &Path) -> Result<Copied> {
    let mut reader = SqliteReader::open(&file.path)?;
    let (info, ids) = (reader.info().clone(), reader.database_ids().to_vec());
    let mut writer: Box<dyn StorageWriter> = Box::new(SqliteWriter::create(
        to,
        SqliteOptions::default(),
        info.metadata.as_deref(),
    )?);
    for topic in &info.topics {
        writer.add_topic(topic)?;
    }
    let mut copied = Copied {
        summary: FileSummary::default(),
        lost_messages: 0,
        damage: Vec::new(),
    };
    keep_state(&mut reader, writer.as_mut(), &mut copied.damage)?;
    let connection = reader.into_connection();
    let (mut id, mut gap) = (0i64, 0i64);
    while gap < MAX_GAP {
        match next_row(&connection, id) {
            Ok(None) => break,
            Ok(Some((next, topic, time, data))) => {
                id = next;
                gap = 0;
                let Some(topic) = ids.binary_search(&topic).ok().and_then(TopicId::from_index)
                else {
                    copied.lost_messages += 1;
                    continue;
                };
                let message = Message {
                    topic,
                    log_time_ns: time,
                    publish_time_ns: time,
                    sequence: 0,
                    data: &data,
                };
                writer.write(&[message], 0).into_result()?;
            }
            Err(error) => {
                if gap == 0 {
                    copied.damage.push(format!("row behind id {id}: {error}"));
                }
                id += 1;
                gap += 1;
            }
        }
    }
    let is_lossy = copied.lost_messages > 0 || !copied.damage.is_empty();
    let account = account_of(&info, bag, &file.path, is_lossy);
    let base = info.metadata.clone().unwrap_or_default();
    for record in &account.topics {
        writer
            .add_topic(&record.topic)
            .map(|_| ())
            .or_else(conflict)?;
    }
    let (summary, outcome) =
        writer.finish(&mut |summary| file_metadata(&base, file, &info, &account, summary));
    outcome.into_result()?;
    let claimed = info.message_counts.iter().sum::<u64>();
    copied.lost_messages += claimed.saturating_sub(summary.total().messages_recorded);
    copied.summary = summary;
    Ok(copied)
}

type Row = (i64, i64, i64, Vec<u8>);

fn next_row(connection: &Connection, after: i64) -> rusqlite::Result<Option<Row>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, topic_id, timestamp, data FROM messages WHERE id > ?1 ORDER BY id LIMIT 1",
    )?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok((
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            row.get_ref(3)?.as_bytes()?.to_vec(),
        ))
    };
    statement.query_row([after], read).optional()
}
