//! The sqlite3 writer: batches become transactions.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use super::options::SqliteOptions;
use super::schema;
use crate::storage::{FileSummary, StorageWriter, Unwritten, WriteOutcome, create_file};
use crate::{
    BagMetadata, Error, LossCause, Message, Result, StatePart, TopicId, TopicInfo, TopicStatistics,
};

/// Writes one database. See [`StorageWriter`] for the contract.
pub struct SqliteWriter {
    connection: Connection,
    path: PathBuf,
    options: SqliteOptions,
    topics: Vec<TopicInfo>,
    /// Number of topics, from the first one, whose rows are in the file or in the open transaction.
    stored_topics: usize,
    /// Number of topics whose rows are committed.
    committed_topics: usize,
    by_name: HashMap<String, TopicId>,
    /// Account of committed and refused messages.
    committed: Vec<TopicStatistics>,
    /// Account of the open transaction.
    pending: Vec<TopicStatistics>,
    pending_messages: usize,
    pending_bytes: u64,
    opened_ns: i64,
    committed_size: u64,
    /// Accounts that are not committed yet.
    accounts: Vec<String>,
    /// Texts of the robot's state that are not committed yet.
    state: Vec<(StatePart, String)>,
}

impl SqliteWriter {
    /// Creates a database; an existing file is an error. `metadata` becomes the first row of its table.
    pub fn create(
        path: &Path,
        options: SqliteOptions,
        metadata: Option<&BagMetadata>,
    ) -> Result<Self> {
        // sqlite itself would open an existing file: creating it first makes that an error.
        create_file(path)?;
        let failed = Error::sqlite(path);
        let connection = Connection::open(path).map_err(&failed)?;
        run_pragma(&connection, &format!("page_size={}", options.page_size)).map_err(&failed)?;
        for pragma in &options.pragmas {
            run_pragma(&connection, pragma).map_err(&failed)?;
        }
        connection.execute_batch(schema::CREATE).map_err(&failed)?;
        let distro = metadata.map_or("", |metadata| metadata.ros_distro.as_str());
        connection
            .execute(
                "INSERT INTO schema VALUES (?1, ?2)",
                params![schema::VERSION, distro],
            )
            .map_err(&failed)?;
        let mut writer = Self {
            connection,
            path: path.to_path_buf(),
            options,
            topics: Vec::new(),
            stored_topics: 0,
            committed_topics: 0,
            by_name: HashMap::new(),
            committed: Vec::new(),
            pending: Vec::new(),
            pending_messages: 0,
            pending_bytes: 0,
            opened_ns: 0,
            committed_size: 0,
            accounts: Vec::new(),
            state: Vec::new(),
        };
        if let Some(metadata) = metadata {
            writer.insert_metadata(metadata).map_err(&failed)?;
        }
        writer.measure();
        Ok(writer)
    }

    fn insert_metadata(&self, metadata: &BagMetadata) -> rusqlite::Result<()> {
        let sql = "INSERT INTO metadata(metadata_version, metadata) VALUES (?1, ?2)";
        self.connection
            .execute(sql, params![metadata.version, metadata.to_embedded_yaml()])
            .map(|_| ())
    }

    fn measure(&mut self) {
        let size = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        let mut wal = self.path.clone().into_os_string();
        wal.push("-wal");
        self.committed_size = size(&self.path) + size(Path::new(&wal));
    }

    fn begin(&mut self, now_ns: i64) -> rusqlite::Result<()> {
        if !self.connection.is_autocommit() {
            return Ok(());
        }
        self.opened_ns = now_ns;
        self.connection.execute_batch("BEGIN")
    }

    fn insert(&self, message: &Message<'_>) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO messages(timestamp, topic_id, data) VALUES (?1, ?2, ?3)",
        )?;
        statement
            .execute(params![
                message.log_time_ns,
                i64::from(message.topic.0) + 1,
                message.data
            ])
            .map(|_| ())
    }

    fn push(&mut self, message: &Message<'_>, now_ns: i64, outcome: &mut WriteOutcome) {
        let index = message.topic.index();
        let done = if index >= self.topics.len() {
            Err(Error::UnknownTopic {
                id: message.topic.0,
                count: self.topics.len(),
            })
        } else {
            self.begin(now_ns)
                .and_then(|()| self.store_topics())
                .and_then(|()| self.insert(message))
                .map_err(Error::sqlite(&self.path))
        };
        match (done, self.pending.get_mut(index)) {
            (Ok(()), Some(account)) => {
                account.record(message.log_time_ns, message.size());
                self.pending_messages += 1;
                self.pending_bytes += message.size();
            }
            (done, _) => {
                outcome.lose(
                    message.topic,
                    LossCause::Storage,
                    message.log_time_ns,
                    message.size(),
                );
                if let Some(account) = self.committed.get_mut(index) {
                    account.lost_in_recorder.add(LossCause::Storage, 1);
                }
                if let Err(error) = done {
                    outcome.fail(error);
                }
                if self.connection.is_autocommit() {
                    // On a full disk sqlite rolls back the whole transaction, not just one message.
                    self.lose_pending(outcome);
                }
            }
        }
    }

    /// Counts the messages of a transaction that was rolled back as lost; its topics are stored again with the next one.
    fn lose_pending(&mut self, outcome: &mut WriteOutcome) {
        self.stored_topics = self.committed_topics;
        for (index, pending) in self.pending.iter_mut().enumerate() {
            let pending = std::mem::take(pending);
            let (Some(first), Some(last)) = (pending.first_time_ns, pending.last_time_ns) else {
                continue;
            };
            if let Some(account) = self.committed.get_mut(index) {
                let lost = &mut account.lost_in_recorder;
                lost.add(LossCause::Storage, pending.messages_recorded);
            }
            if let Some(topic) = TopicId::from_index(index) {
                outcome.add(Unwritten {
                    topic,
                    cause: LossCause::Storage,
                    messages: pending.messages_recorded,
                    bytes: pending.bytes_written,
                    first_time_ns: first,
                    last_time_ns: last,
                });
            }
        }
        self.pending_messages = 0;
        self.pending_bytes = 0;
    }

    /// Commits the open transaction, or counts all of it as lost.
    fn commit(&mut self, outcome: &mut WriteOutcome) {
        let nothing_waits = self.pending_messages == 0
            && self.accounts.is_empty()
            && self.state.is_empty()
            && self.stored_topics == self.topics.len();
        if nothing_waits && self.connection.is_autocommit() {
            return;
        }
        let done = self
            .begin(self.opened_ns)
            .and_then(|()| self.store_topics())
            .and_then(|()| self.insert_accounts())
            .and_then(|()| self.insert_state())
            .and_then(|()| self.connection.execute_batch("COMMIT"));
        if done.is_err() && !self.connection.is_autocommit() {
            // Whatever this returns, the transaction is over: the failed commit is reported.
            self.connection
                .execute_batch("ROLLBACK")
                .unwrap_or_default();
        }
        match done {
            Ok(()) => {
                for (account, pending) in self.committed.iter_mut().zip(&mut self.pending) {
                    account.merge(&std::mem::take(pending));
                }
                self.committed_topics = self.stored_topics;
                self.pending_messages = 0;
                self.pending_bytes = 0;
                self.accounts.clear();
                self.state.clear();
            }
            Err(source) => {
                self.lose_pending(outcome);
                outcome.fail(Error::Sqlite {
                    path: self.path.clone(),
                    source,
                });
            }
        }
        self.measure();
    }

    fn insert_accounts(&self) -> rusqlite::Result<()> {
        if self.accounts.is_empty() {
            return Ok(());
        }
        self.connection.execute_batch(schema::CREATE_ACCOUNT)?;
        let mut insert = self.connection.prepare_cached(schema::INSERT_ACCOUNT)?;
        self.accounts
            .iter()
            .try_for_each(|account| insert.execute([account]).map(|_| ()))
    }

    fn insert_state(&self) -> rusqlite::Result<()> {
        self.state
            .iter()
            .try_for_each(|(part, text)| schema::insert_state(&self.connection, *part, text))
    }

    /// Inserts the rows of the topics that have none. If it fails, the next transaction tries again.
    fn store_topics(&mut self) -> rusqlite::Result<()> {
        while let Some(topic) = self.topics.get(self.stored_topics) {
            self.insert_topic(topic, self.stored_topics)?;
            self.stored_topics += 1;
        }
        if self.connection.is_autocommit() {
            self.committed_topics = self.stored_topics;
        }
        Ok(())
    }

    fn insert_topic(&self, topic: &TopicInfo, index: usize) -> rusqlite::Result<()> {
        // The row may be there without its definition, from an attempt that failed in between.
        self.connection.execute(
            "INSERT OR IGNORE INTO topics VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                i64::try_from(index).unwrap_or(i64::MAX).saturating_add(1),
                topic.name,
                topic.type_name,
                topic.serialization_format,
                topic.offered_qos_profiles,
                topic.type_description_hash
            ],
        )?;
        if topic.definition.encoding.is_empty() && topic.definition.text.is_empty() {
            return Ok(());
        }
        self.connection.execute(
            "INSERT INTO message_definitions(topic_type, encoding, encoded_message_definition, type_description_hash)
             SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS (SELECT 1 FROM message_definitions WHERE topic_type=?1)",
            params![
                topic.service_type().unwrap_or(&topic.type_name),
                topic.definition.encoding,
                topic.definition.text,
                topic.type_description_hash
            ],
        )?;
        Ok(())
    }
}

/// A pragma may return a row or not.
fn run_pragma(connection: &Connection, pragma: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA {pragma}"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

impl StorageWriter for SqliteWriter {
    fn add_topic(&mut self, topic: &TopicInfo) -> Result<TopicId> {
        if let Some(id) = self.by_name.get(&topic.name) {
            let existing = self
                .topics
                .get(id.index())
                .map_or("", |topic| &topic.type_name);
            if existing == topic.type_name {
                return Ok(*id);
            }
            return Err(Error::TopicConflict {
                name: topic.name.clone(),
                existing: existing.to_owned(),
                wanted: topic.type_name.clone(),
            });
        }
        let limit = usize::try_from(u32::MAX).unwrap_or(usize::MAX);
        let full = || Error::TooManyTopics {
            name: topic.name.clone(),
            limit,
        };
        let id = TopicId::from_index(self.topics.len()).ok_or_else(full)?;
        self.topics.push(topic.clone());
        self.by_name.insert(topic.name.clone(), id);
        self.committed.push(TopicStatistics::default());
        self.pending.push(TopicStatistics::default());
        if let Err(error) = self.store_topics() {
            // Not an error of the topic: it is stored with its first message, or that message is counted as lost.
            tracing::warn!(topic = %topic.name, %error, "topic not stored yet");
        }
        Ok(id)
    }

    fn write(&mut self, batch: &[Message<'_>], now_ns: i64) -> WriteOutcome {
        let mut outcome = WriteOutcome::default();
        for message in batch {
            self.push(message, now_ns, &mut outcome);
            if self.pending_messages >= self.options.max_batch_messages {
                self.commit(&mut outcome);
            }
        }
        if self.pending_messages > 0
            && now_ns.saturating_sub(self.opened_ns) >= self.options.max_batch_age_ns
        {
            self.commit(&mut outcome);
        }
        outcome
    }

    fn tick(&mut self, now_ns: i64) -> WriteOutcome {
        self.write(&[], now_ns)
    }

    fn seal(&mut self) -> WriteOutcome {
        let mut outcome = WriteOutcome::default();
        self.commit(&mut outcome);
        outcome
    }

    fn sync(&mut self) -> WriteOutcome {
        let mut outcome = self.seal();
        let synced = run_pragma(&self.connection, "wal_checkpoint(FULL)")
            .map_err(Error::sqlite(&self.path))
            .and_then(|()| {
                let file = File::open(&self.path).map_err(Error::io(&self.path, "open"))?;
                file.sync_all().map_err(Error::io(&self.path, "sync"))
            });
        if let Err(error) = synced {
            outcome.fail(error);
        }
        outcome
    }

    fn save_account(&mut self, account: &str) -> WriteOutcome {
        /// On a full disk they accumulate; a later one repeats the earlier ones.
        const MAX_WAITING: usize = 64;
        let mut outcome = WriteOutcome::default();
        if self.accounts.len() >= MAX_WAITING {
            self.accounts.remove(0);
        }
        self.accounts.push(account.to_owned());
        // Committed with the open transaction, which has its own age; without messages there is nothing to wait for.
        if self.pending_messages == 0 {
            self.commit(&mut outcome);
        }
        outcome
    }

    fn save_state(&mut self, part: StatePart, text: &str) -> WriteOutcome {
        let mut outcome = WriteOutcome::default();
        self.state.push((part, text.to_owned()));
        if self.pending_messages == 0 {
            self.commit(&mut outcome);
        }
        outcome
    }

    fn file_size(&self) -> u64 {
        self.committed_size + self.pending_bytes
    }

    fn finish(
        mut self: Box<Self>,
        metadata: &mut dyn FnMut(&FileSummary) -> BagMetadata,
    ) -> (FileSummary, WriteOutcome) {
        let mut outcome = self.seal();
        let mut summary = FileSummary {
            topics: self.committed.clone(),
            file_size: self.committed_size,
        };
        let finished = self
            .insert_metadata(&metadata(&summary))
            .and_then(|()| self.connection.execute_batch(schema::DROP_ACCOUNT));
        if let Err(source) = finished {
            outcome.fail(Error::Sqlite {
                path: self.path.clone(),
                source,
            });
        }
        outcome.absorb(self.sync());
        self.connection.flush_prepared_statement_cache();
        let Self {
            connection, path, ..
        } = *self;
        if let Err((_, source)) = connection.close() {
            outcome.fail(Error::Sqlite {
                path: path.clone(),
                source,
            });
        }
        summary.file_size = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        (summary, outcome)
    }
}
