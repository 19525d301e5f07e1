//! One JSON object per row and line.

use std::io::Write;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::WriterBuilder;
use datafusion::arrow::json::writer::LineDelimited;

use crate::{Error, Result};

/// Writes rows; each batch stands for itself.
pub(super) fn write(batch: &RecordBatch, out: &mut dyn Write) -> Result<()> {
    let mut writer = WriterBuilder::new()
        .with_explicit_nulls(true)
        .build::<_, LineDelimited>(out);
    writer.write(batch).map_err(failed)?;
    writer.finish().map_err(failed)
}

fn failed(error: ArrowError) -> Error {
    match error {
        // Kept as it is: a closed pipe is no failure to who asked for the first lines.
        ArrowError::IoError(_, source) => Error::Io(source),
        error => Error::Run {
            message: error.to_string(),
        },
    }
}
