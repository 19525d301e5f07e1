//! Rows as text.

mod cells;
mod csv;
mod json;
mod text;

use std::io::Write;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;

use crate::Result;

/// The form of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// An aligned text table; long values are cut.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
    /// Comma-separated values; nested messages are flat, with dots.
    Csv,
}

/// The layout of a text table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextLayout {
    /// Columns of the terminal; `None` when it is no terminal.
    pub width: Option<usize>,
}

/// Writes batches as they come.
pub struct Writer(Form);

enum Form {
    Text(text::TextWriter),
    Json,
    Csv(csv::CsvWriter),
}

impl Writer {
    /// A writer for rows of this schema.
    pub fn new(format: Format, layout: TextLayout, schema: &SchemaRef) -> Self {
        Self(match format {
            Format::Text => Form::Text(text::TextWriter::new(layout, schema)),
            Format::Json => Form::Json,
            Format::Csv => Form::Csv(csv::CsvWriter::new(schema)),
        })
    }

    /// Writes rows. A text table buffers the first rows to find the widths of its columns.
    ///
    /// # Errors
    /// When the output fails.
    pub fn write(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<()> {
        match &mut self.0 {
            Form::Text(writer) => writer.write(batch, out),
            Form::Json => json::write(batch, out),
            Form::Csv(writer) => writer.write(batch, out),
        }
    }

    /// Writes what was held back, and the names of the columns if there was no row.
    ///
    /// # Errors
    /// When the output fails.
    pub fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        match &mut self.0 {
            Form::Text(writer) => writer.finish(out),
            Form::Json => Ok(()),
            Form::Csv(writer) => writer.finish(out),
        }
    }
}
