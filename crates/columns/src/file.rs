//! Tables as files of Parquet and Arrow.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::{Error, Result};

/// A row group of a Parquet file ends when it has this many bytes in memory: readers take row groups one by one.
const GROUP_BYTES: usize = 64 << 20;

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Parquet, compressed with LZ4.
    Parquet,
    /// An Arrow file, also known as Feather version 2.
    Arrow,
}

impl TableFormat {
    /// The format of a file by its name; `None` for other names.
    pub fn from_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "parquet" => Some(Self::Parquet),
            "arrow" | "feather" => Some(Self::Arrow),
            _ => None,
        }
    }

    /// The file name extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }
}

/// A file that is being written.
///
/// Rows come in the order of time, and so do the row groups of a Parquet file: readers skip those outside of the times
/// that they look for.
pub struct TableFile {
    path: PathBuf,
    writer: Writer,
    rows: u64,
}

enum Writer {
    Parquet(Box<ArrowWriter<File>>),
    Arrow(Box<FileWriter<BufWriter<File>>>),
}

impl TableFile {
    /// Creates a file; `metadata` is kept in it as key-value pairs.
    ///
    /// # Errors
    /// When the file exists already, or cannot be created.
    pub fn create(
        path: &Path,
        format: TableFormat,
        schema: &SchemaRef,
        metadata: &[(String, String)],
    ) -> Result<Self> {
        let file = File::create_new(path).map_err(|source| Error::Io {
            path: path.to_path_buf(),
            action: "create",
            source,
        })?;
        Self::new(file, path, format, schema, metadata)
    }

    /// Begins to write a file that is empty.
    ///
    /// # Errors
    /// When the file cannot be written, or the format has no such type.
    pub fn new(
        file: File,
        path: &Path,
        format: TableFormat,
        schema: &SchemaRef,
        metadata: &[(String, String)],
    ) -> Result<Self> {
        let mut all = schema.metadata().clone();
        all.extend(metadata.iter().cloned());
        let schema = SchemaRef::new(Schema::new_with_metadata(schema.fields().clone(), all));
        let writer = match format {
            TableFormat::Parquet => {
                let pair = |(key, value): &(String, String)| {
                    parquet::file::metadata::KeyValue::new(key.clone(), value.clone())
                };
                let pairs: Vec<_> = metadata.iter().map(pair).collect();
                let properties = WriterProperties::builder()
                    .set_compression(Compression::LZ4_RAW)
                    .set_key_value_metadata(Some(pairs))
                    .build();
                Writer::Parquet(Box::new(ArrowWriter::try_new(
                    file,
                    schema,
                    Some(properties),
                )?))
            }
            TableFormat::Arrow => {
                Writer::Arrow(Box::new(FileWriter::try_new_buffered(file, &schema)?))
            }
        };
        Ok(Self {
            path: path.to_path_buf(),
            writer,
            rows: 0,
        })
    }

    /// Adds rows.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        match &mut self.writer {
            Writer::Parquet(writer) => {
                writer.write(batch)?;
                if writer.in_progress_size() >= GROUP_BYTES {
                    writer.flush()?;
                }
            }
            Writer::Arrow(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    /// The rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(self) -> Result<()> {
        match self.writer {
            Writer::Parquet(writer) => writer.close().map(|_| ())?,
            Writer::Arrow(mut writer) => writer.finish()?,
        }
        Ok(())
    }
}
