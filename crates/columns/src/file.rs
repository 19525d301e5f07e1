//! Tables as files of Parquet and Arrow.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::WriterProperties;

use crate::{Error, Result};

/// Rows of a row group: readers such as `DuckDB` give each thread a row group.
const GROUP_ROWS: usize = 128 << 10;
/// Encoded bytes of a row group, which is in memory until it is complete.
const GROUP_BYTES: usize = 64 << 20;

/// The format of a file.
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

/// The order of the rows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowOrder {
    /// Not known.
    #[default]
    Any,
    /// Ascending by the first column. A Parquet file says so, and readers skip row groups outside a range of it.
    FirstColumn,
}

/// Key-value pairs of a file.
pub type FileMetadata = Vec<(String, String)>;

/// A file that is being written. It is removed when it is dropped before [`finish`](Self::finish).
///
/// A Parquet file has row groups of up to 131072 rows and 64 MiB; one of them is in memory. Columns of
/// `Utf8View` and `BinaryView` become `Utf8` and `Binary`, which all readers know.
pub struct TableFile {
    path: PathBuf,
    schema: SchemaRef,
    /// `None` after the end.
    writer: Option<Writer>,
    rows: u64,
}

enum Writer {
    Parquet(Box<ArrowWriter<File>>),
    Arrow(Box<FileWriter<BufWriter<File>>>),
}

impl TableFile {
    /// Creates a file; `metadata` is stored in it.
    ///
    /// # Errors
    /// When the file exists already or cannot be created, or the format has no such type.
    pub fn create(
        path: &Path,
        format: TableFormat,
        schema: &SchemaRef,
        order: RowOrder,
        metadata: FileMetadata,
    ) -> Result<Self> {
        let schema = SchemaRef::new(Schema::new(plain_fields(schema.fields())));
        let file = File::create_new(path).map_err(|source| Error::Io {
            path: path.to_path_buf(),
            action: "create",
            source,
        })?;
        // From here on the file is removed if something fails.
        let mut table = Self {
            path: path.to_path_buf(),
            schema: Arc::clone(&schema),
            writer: None,
            rows: 0,
        };
        let writer = match format {
            TableFormat::Parquet => parquet(file, schema, order, metadata),
            TableFormat::Arrow => arrow(file, &schema, metadata),
        };
        table.writer = Some(writer.map_err(|error| table.failed(error))?);
        Ok(table)
    }

    /// Adds rows.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch.columns().iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| arrow_cast::cast(column, field.data_type()));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        let written = match &mut self.writer {
            Some(Writer::Parquet(writer)) => writer.write(&batch).map_err(Failed::from),
            Some(Writer::Arrow(writer)) => writer.write(&batch).map_err(Failed::from),
            None => Ok(()),
        };
        written.map_err(|error| self.failed(error))?;
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// The rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes in memory.
    pub fn buffered(&self) -> usize {
        match &self.writer {
            Some(Writer::Parquet(writer)) => writer.memory_size(),
            _ => 0,
        }
    }

    /// Ends the row group, so that nothing is in memory.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn flush(&mut self) -> Result<()> {
        match &mut self.writer {
            Some(Writer::Parquet(writer)) => {
                let flushed = writer.flush();
                flushed.map_err(|error| self.failed(error.into()))
            }
            _ => Ok(()),
        }
    }

    /// Writes the end of the file, with further metadata: in a Parquet file beside the other, in an Arrow file in the
    /// footer.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(mut self, metadata: FileMetadata) -> Result<()> {
        let ended = match &mut self.writer {
            Some(Writer::Parquet(writer)) => {
                for (key, value) in metadata {
                    writer.append_key_value_metadata(KeyValue::new(key, value));
                }
                writer.finish().map(|_| ()).map_err(Failed::from)
            }
            Some(Writer::Arrow(writer)) => {
                for (key, value) in metadata {
                    writer.write_metadata(key, value);
                }
                writer.finish().map_err(Failed::from)
            }
            None => Ok(()),
        };
        ended.map_err(|error| self.failed(error))?;
        self.path = PathBuf::new();
        Ok(())
    }

    fn failed(&self, source: Failed) -> Error {
        Error::Write {
            path: self.path.clone(),
            source,
        }
    }
}

impl Drop for TableFile {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // The failure that led here is reported; a half file that cannot be removed changes nothing about it.
            let _ignored = std::fs::remove_file(&self.path);
        }
    }
}

/// The reason of a library.
type Failed = Box<dyn std::error::Error + Send + Sync>;

fn parquet(
    file: File,
    schema: SchemaRef,
    order: RowOrder,
    metadata: FileMetadata,
) -> Result<Writer, Failed> {
    let sorting = (order == RowOrder::FirstColumn).then(|| {
        vec![SortingColumn {
            column_idx: 0,
            descending: false,
            nulls_first: false,
        }]
    });
    let pairs = metadata.into_iter();
    let pairs = pairs.map(|(key, value)| KeyValue::new(key, value));
    let properties = WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_max_row_group_bytes(Some(GROUP_BYTES))
        .set_sorting_columns(sorting)
        .set_key_value_metadata(Some(pairs.collect()))
        .build();
    let writer = ArrowWriter::try_new(file, schema, Some(properties))?;
    Ok(Writer::Parquet(Box::new(writer)))
}

fn arrow(file: File, schema: &SchemaRef, metadata: FileMetadata) -> Result<Writer, Failed> {
    let metadata = metadata.into_iter().collect();
    let schema = Schema::new_with_metadata(schema.fields().clone(), metadata);
    let writer = FileWriter::try_new_buffered(file, &schema)?;
    Ok(Writer::Arrow(Box::new(writer)))
}

/// Fields without views, which older readers lack.
fn plain_fields(fields: &Fields) -> Fields {
    let plain = |field: &FieldRef| Field::clone(field).with_data_type(plain(field.data_type()));
    fields.iter().map(plain).collect()
}

fn plain(data_type: &DataType) -> DataType {
    let item =
        |field: &FieldRef| Arc::new(Field::clone(field).with_data_type(plain(field.data_type())));
    match data_type {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::List(field) => DataType::List(item(field)),
        DataType::LargeList(field) => DataType::LargeList(item(field)),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(item(field), *size),
        DataType::Struct(fields) => DataType::Struct(plain_fields(fields)),
        other => other.clone(),
    }
}
