//! A directory with a table file for each topic of a bag.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use timeloom_bag::convert::{OnDamage, Progress};
use timeloom_bag::export::{ExportReport, FileNames, Undecoded};
use timeloom_bag::{
    BagReader, Decoder, Message, Query, StorageReader as _, TopicAccount, TopicId, TopicInfo,
};

use crate::{Error, FileMetadata, Result, RowOrder, Rows, TableFile, TableFormat};

/// Payload bytes that wait for a full batch, of all topics together.
const WAITING_BYTES: u64 = 64 << 20;
/// Bytes of unfinished row groups, of all files together.
const BUFFERED_BYTES: usize = 256 << 20;

/// Options of [`export_tables`].
#[derive(Debug, Clone)]
pub struct ExportTablesOptions {
    /// The topics and times.
    pub query: Query,
    /// The reaction to a damaged input.
    pub on_damage: OnDamage,
    /// The format of the files.
    pub format: TableFormat,
    /// File names, without an extension, that no topic may have.
    pub reserved: Vec<String>,
}

/// Writes a new directory with a file for each topic of the query whose type is known, also for a topic without
/// messages.
///
/// The columns are those of [`Batch`](crate::Batch); rows are in the order of their log times. A message that cannot
/// be decoded has a row without fields. Messages of an unknown type are counted as undecoded and have no file.
/// `progress` is called after each message. Memory is bounded: 64 MiB of payloads, 256 MiB of row groups, and one
/// message.
///
/// The metadata of each file has the keys `timeloom.topic` and `timeloom.type`, the account of the whole recording as
/// far as there is one (`timeloom.published`, `timeloom.recorded`, …), and in the end `timeloom.messages` and
/// `timeloom.undecoded`.
///
/// # Errors
/// When the directory exists or cannot be written, and for errors of the input that the options do not skip.
pub fn export_tables(
    reader: &mut BagReader,
    decoder: &Decoder,
    directory: &Path,
    options: &ExportTablesOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<ExportReport> {
    if directory.exists() {
        let path = directory.to_path_buf();
        return Err(timeloom_bag::Error::Exists { path }.into());
    }
    fs::create_dir_all(directory).map_err(|source| Error::Io {
        path: directory.to_path_buf(),
        action: "create",
        source,
    })?;
    let info = reader.info().clone();
    let mut tables = TopicTables::new(directory, options, &info.topics, reader.accounts());
    reader.start(&options.query)?;
    let mut report = ExportReport {
        damage: info.damage.clone(),
        ..ExportReport::default()
    };
    let total = info.message_count();
    loop {
        match reader.next_message() {
            Ok(None) => break,
            Ok(Some(message)) => {
                tables.take(decoder, &message)?;
                progress(Progress {
                    messages: tables.messages,
                    total,
                    log_time_ns: message.log_time_ns,
                });
            }
            Err(error) if options.on_damage == OnDamage::Skip && error.is_damage() => {
                report.damage.push(error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
    }
    report.messages = tables.messages;
    tables.finish(decoder, &mut report)?;
    Ok(report)
}

struct TopicTables {
    format: TableFormat,
    tables: Vec<Table>,
    /// Messages with a row.
    messages: u64,
    /// Payload bytes of rows that are in no file yet.
    waiting: u64,
}

struct Table {
    topic: TopicInfo,
    path: PathBuf,
    is_wanted: bool,
    metadata: FileMetadata,
    rows: Option<Rows>,
    file: Option<TableFile>,
    undecoded: Option<Undecoded>,
}

impl TopicTables {
    fn new(
        directory: &Path,
        options: &ExportTablesOptions,
        topics: &[TopicInfo],
        accounts: &[Option<TopicAccount>],
    ) -> Self {
        let mut names = FileNames::default();
        for name in &options.reserved {
            names.name(name);
        }
        let wanted = options.query.topics.as_deref();
        let is_wanted = |index: usize| {
            let id = TopicId::from_index(index);
            wanted.is_none_or(|wanted| id.is_some_and(|id| wanted.contains(&id)))
        };
        let extension = options.format.extension();
        let table = |(index, topic): (usize, &TopicInfo)| {
            let account = accounts.get(index).and_then(Option::as_ref);
            let is_wanted = is_wanted(index);
            let name = if is_wanted {
                names.name(&topic.name)
            } else {
                String::new()
            };
            Table {
                path: directory.join(format!("{name}.{extension}")),
                is_wanted,
                metadata: metadata(topic, account),
                topic: topic.clone(),
                rows: None,
                file: None,
                undecoded: None,
            }
        };
        Self {
            format: options.format,
            tables: topics.iter().enumerate().map(table).collect(),
            messages: 0,
            waiting: 0,
        }
    }

    fn take(&mut self, decoder: &Decoder, message: &Message<'_>) -> Result<()> {
        let index = message.topic.index();
        let Some(table) = self.tables.get_mut(index) else {
            return Ok(());
        };
        let rows = match table.rows(decoder, index)? {
            Ok(rows) => rows,
            Err(reason) => {
                table.count_undecoded(|| reason);
                return Ok(());
            }
        };
        let pushed = rows.push(message);
        let is_full = rows.is_full();
        if let Err(error) = pushed {
            table.count_undecoded(|| error.to_string());
        }
        self.messages += 1;
        self.waiting += message.size();
        if is_full {
            let written = table.write(self.format)?;
            self.waiting = self.waiting.saturating_sub(written);
            self.limit_buffers()?;
        }
        if self.waiting >= WAITING_BYTES {
            for table in &mut self.tables {
                table.write(self.format)?;
            }
            self.waiting = 0;
            self.limit_buffers()?;
        }
        Ok(())
    }

    /// Ends row groups, the largest first, until the rest is small enough.
    fn limit_buffers(&mut self) -> Result<()> {
        let buffered = |table: &Table| table.file.as_ref().map_or(0, TableFile::buffered);
        let mut total: usize = self.tables.iter().map(buffered).sum();
        while total > BUFFERED_BYTES {
            let largest = self.tables.iter_mut().max_by_key(|table| buffered(table));
            let Some(file) = largest.and_then(|table| table.file.as_mut()) else {
                break;
            };
            total -= file.buffered();
            file.flush()?;
        }
        Ok(())
    }

    fn finish(self, decoder: &Decoder, report: &mut ExportReport) -> Result<()> {
        for (index, mut table) in self.tables.into_iter().enumerate() {
            // A topic without messages has a file too, if its type is known.
            if !table.is_wanted || table.rows(decoder, index)?.is_err() {
                report.undecoded.extend(table.undecoded);
                continue;
            }
            table.write(self.format)?;
            let file = match table.file.take() {
                Some(file) => file,
                None => table.create(self.format)?,
            };
            let mut metadata = vec![("timeloom.messages".to_owned(), file.rows().to_string())];
            let undecoded = table.undecoded.as_ref();
            let count = undecoded.map_or(0, |undecoded| undecoded.messages);
            metadata.push(("timeloom.undecoded".to_owned(), count.to_string()));
            file.finish(metadata)?;
            report.files += 1;
            report.undecoded.extend(table.undecoded);
        }
        Ok(())
    }
}

impl Table {
    /// The rows of the topic; the inner error says why its type is not known.
    fn rows(
        &mut self,
        decoder: &Decoder,
        index: usize,
    ) -> Result<std::result::Result<&mut Rows, String>> {
        let rows = match self.rows.take() {
            Some(rows) => rows,
            None => match decoder.schema(index) {
                Ok(schema) => Rows::new(Arc::new(schema.clone()), None)?,
                Err(error) => return Ok(Err(error.to_string())),
            },
        };
        Ok(Ok(self.rows.insert(rows)))
    }

    fn count_undecoded(&mut self, reason: impl FnOnce() -> String) {
        let undecoded = self.undecoded.get_or_insert_with(|| Undecoded {
            topic: self.topic.name.clone(),
            messages: 0,
            reason: reason(),
        });
        undecoded.messages += 1;
    }

    fn create(&mut self, format: TableFormat) -> Result<TableFile> {
        let schema = self.rows.as_ref().map(|rows| rows.empty().schema());
        let schema = schema.unwrap_or_else(|| Arc::new(arrow_schema::Schema::empty()));
        let metadata = std::mem::take(&mut self.metadata);
        TableFile::create(&self.path, format, &schema, RowOrder::FirstColumn, metadata)
    }

    /// Writes the rows that are complete; returns the size of their payloads.
    fn write(&mut self, format: TableFormat) -> Result<u64> {
        let Some(rows) = &mut self.rows else {
            return Ok(0);
        };
        let bytes = rows.bytes();
        let batch = rows.take();
        if batch.is_empty() {
            return Ok(bytes);
        }
        let batch = batch.into_record_batch()?;
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.create(format)?,
        };
        file.write(&batch)?;
        self.file = Some(file);
        Ok(bytes)
    }
}

/// The topic, its type and the account of its recording.
fn metadata(topic: &TopicInfo, account: Option<&TopicAccount>) -> FileMetadata {
    let mut pairs = vec![
        ("timeloom.topic".to_owned(), topic.name.clone()),
        ("timeloom.type".to_owned(), topic.type_name.clone()),
    ];
    if let Some(account) = account {
        let statistics = &account.statistics;
        let unknown = &statistics.unknown;
        let known = |missing| statistics.known(missing);
        let counts = [
            ("published", statistics.known_published()),
            ("recorded", Some(statistics.messages_recorded)),
            (
                "lost_in_transport",
                known(statistics.messages_lost_in_transport),
            ),
            (
                "lost_in_recorder",
                known(statistics.messages_lost_in_recorder()),
            ),
            ("left_out", known(statistics.messages_left_out())),
            ("unknown_at_most", known(unknown.at_most())),
        ];
        for (name, count) in counts {
            let pair = count.map(|count| (format!("timeloom.{name}"), count.to_string()));
            pairs.extend(pair);
        }
        pairs.push((
            "timeloom.unknown_is_open".to_owned(),
            unknown.is_open().to_string(),
        ));
    }
    pairs
}
