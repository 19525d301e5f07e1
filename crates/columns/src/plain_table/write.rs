//! Plain tables to Parquet bytes.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Int32Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt64Array,
};
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::{PlainColumn, PlainValues, TextValues, schema};
use crate::{Error, FileMetadata, Result};

/// Bytes of the distinct texts of a column in a row group; beyond, texts are stored for each row.
const DICTIONARY_BYTES: usize = 16 << 20;

/// A plain table that is being written to memory; each batch becomes a row group.
pub struct PlainWriter {
    schema: SchemaRef,
    writer: ArrowWriter<Vec<u8>>,
}

impl PlainWriter {
    /// A table with these columns.
    ///
    /// # Errors
    /// When Parquet has no such table.
    pub fn new(columns: &[PlainColumn]) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::LZ4_RAW)
            .set_dictionary_page_size_limit(DICTIONARY_BYTES)
            .build();
        let schema = schema(columns);
        let writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties));
        Ok(Self {
            schema,
            writer: writer.map_err(unwritten)?,
        })
    }

    /// Adds rows: the values of each column, of equal length.
    ///
    /// # Errors
    /// When columns are missing or differ in length.
    pub fn write(&mut self, columns: &[PlainValues]) -> Result<()> {
        let arrays = columns.iter().map(array).collect::<Result<Vec<_>>>()?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays)?;
        self.writer.write(&batch).map_err(unwritten)?;
        self.writer.flush().map_err(unwritten)
    }

    /// The bytes of the table, with metadata.
    ///
    /// # Errors
    /// When the end cannot be written.
    pub fn finish(mut self, metadata: FileMetadata) -> Result<Vec<u8>> {
        for (key, value) in metadata {
            self.writer
                .append_key_value_metadata(KeyValue::new(key, value));
        }
        self.writer.into_inner().map_err(unwritten)
    }
}

fn unwritten(error: ParquetError) -> Error {
    Error::Parquet {
        source: Box::new(error),
    }
}

fn array(values: &PlainValues) -> Result<ArrayRef> {
    Ok(match values {
        PlainValues::Text(texts) => Arc::new(dictionary(texts)?),
        PlainValues::Number(numbers) => Arc::new(UInt64Array::from(numbers.clone())),
        PlainValues::Time(times) => {
            Arc::new(TimestampNanosecondArray::from(times.clone()).with_timezone("UTC"))
        }
        PlainValues::Flag(flags) => Arc::new(BooleanArray::from(flags.clone())),
    })
}

fn dictionary(texts: &TextValues) -> Result<DictionaryArray<arrow_array::types::Int32Type>> {
    let key = |number: &Option<u32>| number.and_then(|number| i32::try_from(number).ok());
    let keys: Int32Array = texts.rows().iter().map(key).collect();
    let distinct = StringArray::from_iter_values(texts.distinct());
    Ok(DictionaryArray::try_new(keys, Arc::new(distinct))?)
}
