//! Values of an array as text.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, StructArray, make_array};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType, FieldRef, SchemaRef};
use datafusion::arrow::util::display::{ArrayFormatter, DurationFormat, FormatOptions};

use crate::{Error, Result};

/// Times as RFC 3339, durations as ISO 8601.
pub(super) fn options(null: &'static str) -> FormatOptions<'static> {
    FormatOptions::new()
        .with_null(null)
        .with_duration_format(DurationFormat::ISO8601)
}

/// Formatters of all columns.
pub(super) fn formatters<'a>(
    columns: &'a [ArrayRef],
    options: &'a FormatOptions<'a>,
) -> Result<Vec<ArrayFormatter<'a>>> {
    let formatters = columns
        .iter()
        .map(|array| ArrayFormatter::try_new(array, options));
    formatters
        .collect::<std::result::Result<_, _>>()
        .map_err(|error| Error::Run {
            message: error.to_string(),
        })
}

/// Names of columns, with nested messages taken apart.
pub(super) fn flat_names(schema: &SchemaRef) -> Vec<String> {
    fn add(prefix: &str, field: &FieldRef, names: &mut Vec<String>) {
        let name = format!("{prefix}{}", field.name());
        match field.data_type() {
            DataType::Struct(fields) => {
                let prefix = name + ".";
                fields.iter().for_each(|field| add(&prefix, field, names));
            }
            _ => names.push(name),
        }
    }
    let mut names = Vec::new();
    for field in schema.fields() {
        add("", field, &mut names);
    }
    names
}

/// Columns, with nested messages taken apart.
pub(super) fn flat_columns(batch: &RecordBatch) -> Vec<ArrayRef> {
    fn add(array: &ArrayRef, columns: &mut Vec<ArrayRef>) {
        match array.as_any().downcast_ref::<StructArray>() {
            Some(message) => {
                for field in message.columns() {
                    add(&with_nulls_of(field, message), columns);
                }
            }
            None => columns.push(Arc::clone(array)),
        }
    }
    let mut columns = Vec::new();
    for array in batch.columns() {
        add(array, &mut columns);
    }
    columns
}

/// A field of a message is null where the message is, whatever is stored below it.
fn with_nulls_of(field: &ArrayRef, message: &StructArray) -> ArrayRef {
    let nulls = NullBuffer::union(field.nulls(), message.nulls());
    let data = field.to_data().into_builder().nulls(nulls).build();
    data.map_or_else(|_| Arc::clone(field), make_array)
}

/// Whether a type reads best with its ends in one line.
pub(super) fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric() || matches!(data_type, DataType::Duration(_))
}
