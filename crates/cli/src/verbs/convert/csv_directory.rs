//! A directory with one CSV file per topic.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use timeloom_bag::Message;
use timeloom_msg::value::Columns;
use timeloom_msg::{Schema, Value};

use crate::message_line::TimeFormat;

/// Writes rows to the files of their topics; a file is created with its first row.
pub(super) struct CsvDirectory {
    directory: PathBuf,
    times: TimeFormat,
    tables: Vec<Option<Table>>,
    names: BTreeSet<String>,
}

struct Table {
    path: PathBuf,
    file: BufWriter<File>,
    columns: Columns,
}

impl CsvDirectory {
    pub(super) fn create(
        directory: &Path,
        topics: usize,
        times: TimeFormat,
    ) -> anyhow::Result<Self> {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
        let tables = std::iter::repeat_with(|| None).take(topics).collect();
        Ok(Self {
            directory: directory.to_path_buf(),
            times,
            tables,
            names: BTreeSet::new(),
        })
    }

    /// Adds a message to the file of its topic.
    pub(super) fn write(
        &mut self,
        topic: &str,
        schema: &Schema,
        message: &Message<'_>,
        value: &Value,
    ) -> anyhow::Result<()> {
        let index = message.topic.index();
        if self.tables.get(index).is_some_and(Option::is_none) {
            let table = self.open(topic, schema)?;
            if let Some(place) = self.tables.get_mut(index) {
                *place = Some(table);
            }
        }
        let Some(Some(table)) = self.tables.get_mut(index) else {
            return Ok(());
        };
        let (log, publish) = (
            self.times.text(message.log_time_ns),
            self.times.text(message.publish_time_ns),
        );
        let row = table.columns.csv_row(value);
        let separator = if table.columns.names().is_empty() {
            ""
        } else {
            ","
        };
        let written = writeln!(table.file, "{log},{publish}{separator}{row}");
        written.with_context(|| format!("cannot write {}", table.path.display()))
    }

    fn open(&mut self, topic: &str, schema: &Schema) -> anyhow::Result<Table> {
        let name = self.name(topic);
        let path = self.directory.join(format!("{name}.csv"));
        let columns = Columns::of(schema);
        let file =
            File::create_new(&path).with_context(|| format!("cannot create {}", path.display()))?;
        let mut file = BufWriter::new(file);
        let separator = if columns.names().is_empty() { "" } else { "," };
        let written = writeln!(
            file,
            "log_time,publish_time{separator}{}",
            columns.csv_header()
        );
        written.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Table {
            path,
            file,
            columns,
        })
    }

    /// A file name for a topic: `/imu/data` is `imu__data`; a name in use gets a number.
    fn name(&mut self, topic: &str) -> String {
        let letter = |c: char| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '-'
            }
        };
        let plain: String = topic
            .trim_start_matches('/')
            .replace('/', "__")
            .chars()
            .map(letter)
            .collect();
        let mut name = plain.clone();
        let mut number = 2;
        // File systems may not tell upper case from lower case.
        while !self.names.insert(name.to_ascii_lowercase()) {
            name = format!("{plain}-{number}");
            number += 1;
        }
        name
    }

    /// Writes what is buffered; the number of files.
    pub(super) fn finish(self) -> anyhow::Result<u64> {
        let mut count = 0;
        for mut table in self.tables.into_iter().flatten() {
            table
                .file
                .flush()
                .with_context(|| format!("cannot write {}", table.path.display()))?;
            count += 1;
        }
        Ok(count)
    }
}
