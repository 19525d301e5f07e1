//! Plain tables from Parquet bytes.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int32Type, TimestampNanosecondType, UInt64Type};
use arrow_array::{ArrayRef, RecordBatch};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;

use super::{PlainColumn, PlainType, PlainValues, TextValues, data_type};
use crate::{Error, FileMetadata, Result};

/// Rows of a batch at most.
const BATCH_ROWS: usize = 64 << 10;

/// The batches of a plain table: the values of each wanted column.
pub struct PlainReader {
    reader: ParquetRecordBatchReader,
    wanted: Vec<PlainColumn>,
    metadata: FileMetadata,
}

/// Opens a table and checks that it has columns of these names and types; it may have others.
///
/// # Errors
/// When the bytes are not a Parquet file, or a column is missing or of another type.
pub fn read_plain(bytes: Bytes, wanted: &[PlainColumn]) -> Result<PlainReader> {
    let options = ArrowReaderOptions::new();
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options);
    let builder = builder.map_err(unreadable)?;
    let pairs = builder.metadata().file_metadata().key_value_metadata();
    let pairs = pairs.into_iter().flatten();
    let metadata = pairs
        .filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)))
        .collect();
    let mut roots = Vec::new();
    for (name, of) in wanted {
        let found = builder.schema().column_with_name(name);
        let Some((index, _)) = found.filter(|(_, field)| *field.data_type() == data_type(*of))
        else {
            return Err(Error::NoColumn {
                name: (*name).to_owned(),
            });
        };
        roots.push(index);
    }
    let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
    let reader = builder
        .with_projection(mask)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(unreadable)?;
    Ok(PlainReader {
        reader,
        wanted: wanted.to_vec(),
        metadata,
    })
}

impl PlainReader {
    /// The metadata of the file.
    pub fn metadata(&self) -> &FileMetadata {
        &self.metadata
    }

    fn values(&self, batch: &RecordBatch) -> Result<Vec<PlainValues>> {
        let column = |(name, of): &PlainColumn| {
            let array = batch.column_by_name(name);
            let values = array.and_then(|array| values(array, *of));
            values.ok_or_else(|| Error::NoColumn {
                name: (*name).to_owned(),
            })
        };
        self.wanted.iter().map(column).collect()
    }
}

impl Iterator for PlainReader {
    type Item = Result<Vec<PlainValues>>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.reader.next()?;
        Some(match batch {
            Ok(batch) => self.values(&batch),
            Err(error) => Err(error.into()),
        })
    }
}

fn unreadable(error: ParquetError) -> Error {
    Error::Parquet {
        source: Box::new(error),
    }
}

fn values(array: &ArrayRef, of: PlainType) -> Option<PlainValues> {
    Some(match of {
        PlainType::Text => PlainValues::Text(texts(array)?),
        PlainType::Number => {
            PlainValues::Number(array.as_primitive_opt::<UInt64Type>()?.iter().collect())
        }
        PlainType::Time => {
            let times = array.as_primitive_opt::<TimestampNanosecondType>()?;
            PlainValues::Time(times.iter().collect())
        }
        PlainType::Flag => PlainValues::Flag(array.as_boolean_opt()?.iter().collect()),
    })
}

fn texts(array: &ArrayRef) -> Option<TextValues> {
    let dictionary = array.as_dictionary_opt::<Int32Type>()?;
    let distinct = dictionary.values().as_string_opt::<i32>()?;
    // A value that is missing in the dictionary is an empty text, which no number of ours names.
    let distinct: Vec<String> = distinct
        .iter()
        .map(|text| text.unwrap_or_default().to_owned())
        .collect();
    let known = u32::try_from(distinct.len()).ok()?;
    let number = |key: Option<i32>| key.and_then(|key| u32::try_from(key).ok());
    let rows: Vec<Option<u32>> = dictionary.keys().iter().map(number).collect();
    rows.iter()
        .flatten()
        .all(|number| *number < known)
        .then(|| TextValues::from_parts(distinct, rows))
}
