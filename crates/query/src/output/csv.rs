//! Comma-separated values.

use std::io::Write;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;

use super::cells::{flat_columns, flat_names, formatters, options};
use crate::Result;

pub(super) struct CsvWriter {
    /// The first line, until it is written.
    names: Option<Vec<String>>,
}

impl CsvWriter {
    pub(super) fn new(schema: &SchemaRef) -> Self {
        Self {
            names: Some(flat_names(schema)),
        }
    }

    pub(super) fn write(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<()> {
        self.finish(out)?;
        let (columns, options) = (flat_columns(batch), options(""));
        let formatters = formatters(&columns, &options)?;
        let mut line = String::new();
        for row in 0..batch.num_rows() {
            line.clear();
            for (place, formatter) in formatters.iter().enumerate() {
                let text = formatter.value(row).to_string();
                put(&mut line, place, &text);
            }
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Writes the names, unless they were written.
    pub(super) fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        let Some(names) = self.names.take() else {
            return Ok(());
        };
        let mut line = String::new();
        for (place, name) in names.iter().enumerate() {
            put(&mut line, place, name);
        }
        writeln!(out, "{line}")?;
        Ok(())
    }
}

fn put(line: &mut String, place: usize, text: &str) {
    if place > 0 {
        line.push(',');
    }
    if text.contains([',', '"', '\n', '\r']) {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(text);
    }
}
