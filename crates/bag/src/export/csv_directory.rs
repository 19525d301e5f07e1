//! A directory with one CSV file per topic.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use timeloom_msg::value::Columns;
use timeloom_msg::{Schema, Value};

use super::TimeFormat;
use crate::{Error, Message, Result};

/// Writes rows to the files of their topics; a file is created with its first row.
pub(super) struct CsvDirectory {
    directory: PathBuf,
    times: TimeFormat,
    tables: Vec<Option<CsvFile>>,
    names: BTreeSet<String>,
}

struct CsvFile {
    path: PathBuf,
    file: BufWriter<File>,
    columns: Columns,
}

impl CsvFile {
    fn create(path: PathBuf, schema: &Schema) -> Result<Self> {
        let file = File::create_new(&path).map_err(Error::io(&path, "create"))?;
        let mut table = Self {
            path,
            file: BufWriter::new(file),
            columns: Columns::of(schema),
        };
        let header = table.columns.csv_header();
        table.write("log_time,publish_time", &header)?;
        Ok(table)
    }

    fn write(&mut self, times: &str, row: &str) -> Result<()> {
        // A message without fields has no cells.
        let separator = if self.columns.names().is_empty() {
            ""
        } else {
            ","
        };
        writeln!(self.file, "{times}{separator}{row}").map_err(Error::io(&self.path, "write"))
    }
}

impl CsvDirectory {
    pub(super) fn create(directory: &Path, topics: usize, times: TimeFormat) -> Result<Self> {
        fs::create_dir_all(directory).map_err(Error::io(directory, "create"))?;
        Ok(Self {
            directory: directory.to_path_buf(),
            times,
            tables: std::iter::repeat_with(|| None).take(topics).collect(),
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
    ) -> Result<()> {
        let index = message.topic.index();
        if self.tables.get(index).is_some_and(Option::is_none) {
            let name = self.name(topic) + ".csv";
            let path = self.directory.join(name);
            let table = CsvFile::create(path, schema)?;
            if let Some(place) = self.tables.get_mut(index) {
                *place = Some(table);
            }
        }
        let Some(Some(table)) = self.tables.get_mut(index) else {
            return Ok(());
        };
        let log = self.times.text(message.log_time_ns);
        let publish = self.times.text(message.publish_time_ns);
        let row = table.columns.csv_row(value);
        table.write(&format!("{log},{publish}"), &row)
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
        // File systems may not distinguish upper and lower case.
        while !self.names.insert(name.to_ascii_lowercase()) {
            name = format!("{plain}-{number}");
            number += 1;
        }
        name
    }

    /// Writes everything that is buffered; returns the number of files.
    pub(super) fn finish(self) -> Result<u64> {
        let mut count = 0;
        for mut table in self.tables.into_iter().flatten() {
            let flushed = table.file.flush();
            flushed.map_err(Error::io(&table.path, "write"))?;
            count += 1;
        }
        Ok(count)
    }
}
