//! The cells of a line of CSV.

use super::units::TimeUnit;
use crate::error::{Error, Result};

/// Counts the lines of a table.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines(usize);

impl Lines {
    /// Takes the next line; none if it is empty or a comment.
    pub(super) fn next<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        self.0 += 1;
        // The first line may begin with a byte order mark.
        let text = match self.0 {
            1 => text.strip_prefix('\u{feff}').unwrap_or(text),
            _ => text,
        };
        Some(text.trim()).filter(|text| !text.is_empty() && !text.starts_with('#'))
    }

    /// The number of the last line, from one.
    pub(super) const fn number(&self) -> usize {
        self.0
    }
}

/// The names of the columns.
#[derive(Debug)]
pub(super) struct Header<'a> {
    line: usize,
    names: Vec<&'a str>,
}

impl<'a> Header<'a> {
    pub(super) fn new(line: usize, text: &'a str) -> Self {
        Self {
            line,
            names: split(text).map(bare).collect(),
        }
    }

    /// The index of a required column.
    pub(super) fn needed(&self, column: &'static str) -> Result<usize> {
        self.place(column)?.ok_or(Error::MissingColumn {
            line: self.line,
            column,
        })
    }

    /// The index of a column that a user has named.
    pub(super) fn named(&self, column: &str) -> Result<usize> {
        let place = self.names.iter().position(|name| *name == column);
        place.ok_or_else(|| Error::UnknownColumn {
            line: self.line,
            column: column.to_owned(),
            known: self.names.join(", "),
        })
    }

    /// The index of an optional column.
    pub(super) fn place(&self, column: &'static str) -> Result<Option<usize>> {
        let mut places = self.names.iter().enumerate();
        let mut next = || places.find(|(_, name)| **name == column);
        let first = next().map(|(place, _)| place);
        if first.is_some() && next().is_some() {
            return Err(Error::DoubleColumn {
                line: self.line,
                column,
            });
        }
        Ok(first)
    }
}

/// The cells of one line.
#[derive(Debug)]
pub(super) struct Cells<'a> {
    line: usize,
    cells: Vec<&'a str>,
}

impl<'a> Cells<'a> {
    pub(super) fn new(line: usize, text: &'a str) -> Self {
        Self {
            line,
            cells: split(text).map(bare).collect(),
        }
    }

    /// The line, from one.
    pub(super) const fn line(&self) -> usize {
        self.line
    }

    /// The text of a cell, empty if there is none.
    pub(super) fn text(&self, place: Option<usize>) -> &'a str {
        let cell = place.and_then(|place| self.cells.get(place));
        cell.copied().unwrap_or("")
    }

    /// Nanoseconds that must be there.
    pub(super) fn needed(&self, place: Option<usize>, column: &'static str) -> Result<i64> {
        self.optional(place, column)?
            .ok_or_else(|| self.bad(column, "", "missing"))
    }

    /// Nanoseconds, if there are any.
    pub(super) fn optional(
        &self,
        place: Option<usize>,
        column: &'static str,
    ) -> Result<Option<i64>> {
        self.time(place, column, TimeUnit::Nanoseconds)
    }

    /// A time in a decimal unit as nanoseconds, if there is any.
    pub(super) fn time(
        &self,
        place: Option<usize>,
        column: &'static str,
        unit: TimeUnit,
    ) -> Result<Option<i64>> {
        let text = self.text(place);
        if text.is_empty() || text.eq_ignore_ascii_case("nan") {
            return Ok(None);
        }
        let nanos = unit
            .nanos(text)
            .map_err(|why| self.bad(column, text, why))?;
        Ok(Some(nanos))
    }

    /// The value of a counter, if there is any.
    pub(super) fn ticks(&self, place: Option<usize>, column: &'static str) -> Result<Option<u64>> {
        let text = self.text(place);
        if text.is_empty() || text.eq_ignore_ascii_case("nan") {
            return Ok(None);
        }
        let ticks = whole(text).parse();
        let ticks =
            ticks.map_err(|_error| self.bad(column, text, "not a whole number of ticks"))?;
        Ok(Some(ticks))
    }

    pub(super) fn bad(&self, column: &'static str, text: &str, why: &'static str) -> Error {
        Error::BadCell {
            line: self.line,
            column,
            text: text.chars().take(40).collect(),
            why,
        }
    }
}

/// The cells of a line: commas between quotes do not separate.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |letter: char| {
        quoted ^= letter == '"';
        letter == ',' && !quoted
    })
}

/// A number without a fraction that is zero: programs that know empty cells only in columns of floats write 12.0 for 12.
pub(super) fn whole(text: &str) -> &str {
    text.split_once('.')
        .filter(|(_, fraction)| fraction.bytes().all(|digit| digit == b'0'))
        .map_or(text, |(whole, _)| whole)
}

/// A cell without spaces and quotes around it.
fn bare(cell: &str) -> &str {
    let cell = cell.trim();
    let quoted = cell
        .strip_prefix('"')
        .and_then(|cell| cell.strip_suffix('"'));
    quoted.unwrap_or(cell).trim()
}
