//! Text tables.

use std::io::Write;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;

use super::TextLayout;
use super::cells::{formatters, is_number, options};
use crate::Result;

/// Rows that decide how wide the columns are.
const ROWS_AHEAD: usize = 1000;
/// Letters of a value; the rest is in the other formats.
const WIDEST: usize = 60;
/// On a narrow terminal, columns shrink down to this.
const NARROWEST: usize = 8;
const GAP: &str = "  ";

pub(super) struct TextWriter {
    layout: TextLayout,
    names: Vec<String>,
    right: Vec<bool>,
    /// Rows that wait for the widths.
    rows: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
}

impl TextWriter {
    pub(super) fn new(layout: TextLayout, schema: &SchemaRef) -> Self {
        let fields = schema.fields();
        Self {
            layout,
            names: fields.iter().map(|field| printable(field.name())).collect(),
            right: fields.iter().map(|f| is_number(f.data_type())).collect(),
            rows: Vec::new(),
            widths: None,
        }
    }

    pub(super) fn write(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<()> {
        let options = options("NULL");
        let formatters = formatters(batch.columns(), &options)?;
        if let ([kind, plan], true) = (formatters.as_slice(), self.is_plan()) {
            self.widths.get_or_insert_default();
            for row in 0..batch.num_rows() {
                writeln!(out, "{}", kind.value(row))?;
                let plan = plan.value(row).to_string();
                writeln!(out, "  {}", plan.trim_end().replace('\n', "\n  "))?;
            }
            return Ok(());
        }
        for row in 0..batch.num_rows() {
            let cell = |formatter: &datafusion::arrow::util::display::ArrayFormatter<'_>| {
                printable(&formatter.value(row).to_string())
            };
            let cells: Vec<String> = formatters.iter().map(cell).collect();
            match &self.widths {
                Some(widths) => self.line(&cells, widths, out)?,
                None => self.rows.push(cells),
            }
            if self.rows.len() >= ROWS_AHEAD {
                self.finish(out)?;
            }
        }
        Ok(())
    }

    /// The result of `EXPLAIN`: a text of many lines, which does not fit a table.
    fn is_plan(&self) -> bool {
        self.names == ["plan_type", "plan"]
    }

    /// Fixes the widths and writes what waited.
    pub(super) fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        if self.widths.is_some() {
            return Ok(());
        }
        let widths = self.measure();
        self.line(&self.names, &widths, out)?;
        let dashes: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        writeln!(out, "{}", dashes.join(GAP))?;
        for row in std::mem::take(&mut self.rows) {
            self.line(&row, &widths, out)?;
        }
        self.widths = Some(widths);
        Ok(())
    }

    fn measure(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let names = self.names.get(column).into_iter();
            let widest = cells.chain(names).map(|cell| cell.chars().count()).max();
            widest.unwrap_or(0).clamp(1, WIDEST)
        };
        let mut widths: Vec<usize> = (0..self.names.len()).map(width).collect();
        let Some(room) = self.layout.width else {
            return widths;
        };
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > room {
            match widths.iter_mut().max() {
                Some(widest) if *widest > NARROWEST => *widest -= 1,
                _ => break,
            }
        }
        widths
    }

    fn line(&self, cells: &[String], widths: &[usize], out: &mut dyn Write) -> Result<()> {
        let mut line = String::new();
        for (place, (cell, width)) in cells.iter().zip(widths).enumerate() {
            if place > 0 {
                line.push_str(GAP);
            }
            let cell = cut(cell, *width);
            let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
            if self.right.get(place) == Some(&true) {
                line.push_str(&padding);
                line.push_str(&cell);
            } else {
                line.push_str(&cell);
                line.push_str(&padding);
            }
        }
        writeln!(out, "{}", line.trim_end())?;
        Ok(())
    }
}

fn cut(cell: &str, width: usize) -> String {
    if cell.chars().count() <= width {
        return cell.to_owned();
    }
    let kept: String = cell.chars().take(width.saturating_sub(1)).collect();
    kept + "…"
}

/// One line without control characters, which a bag could send to a terminal; long values are cut early.
fn printable(text: &str) -> String {
    let mut cell = String::new();
    for letter in text.chars().take(WIDEST + 1) {
        if letter.is_control() {
            cell.extend(letter.escape_default());
        } else {
            cell.push(letter);
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{ArrayRef, Int64Array, StringArray};

    use super::*;

    fn table(width: Option<usize>) -> String {
        let names: ArrayRef = Arc::new(StringArray::from(vec![Some("a\u{1b}[31m"), None]));
        let longer = "a rather long name of a column";
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 1000]));
        let batch = RecordBatch::try_from_iter([("name", names), (longer, numbers)]).unwrap();
        let mut writer = TextWriter::new(TextLayout { width }, &batch.schema());
        let mut out = Vec::new();
        writer.write(&batch, &mut out).unwrap();
        writer.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_stand_right_and_control_characters_are_seen() {
        let expected = "\
name         a rather long name of a column
───────────  ──────────────────────────────
a\\u{1b}[31m                               1
NULL                                   1000
";
        assert_eq!(table(None), expected);
    }

    #[test]
    fn a_narrow_terminal_cuts_the_widest_column() {
        let table = table(Some(24));
        for line in table.lines() {
            assert!(line.chars().count() <= 24, "{line}");
        }
        assert!(table.contains("a rather l…"), "{table}");
    }
}
