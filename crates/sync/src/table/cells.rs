//! The cells of a line of CSV.

use crate::device_time::STAMP_LIMIT;
use crate::error::{Error, Result};

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
            names: text.split(',').map(bare).collect(),
        }
    }

    /// Where a column is that there must be.
    pub(super) fn needed(&self, column: &'static str) -> Result<usize> {
        self.place(column)?.ok_or(Error::MissingColumn {
            line: self.line,
            column,
        })
    }

    /// Where a column is, if there is one.
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
            cells: text.split(',').map(bare).collect(),
        }
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
        let text = self.text(place);
        if text.is_empty() || text.eq_ignore_ascii_case("nan") {
            return Ok(None);
        }
        // Programs that know empty cells only in columns of floats write 12.0 for 12.
        let whole = text
            .split_once('.')
            .filter(|(_, fraction)| fraction.bytes().all(|digit| digit == b'0'))
            .map_or(text, |(whole, _)| whole);
        match whole.parse::<i128>() {
            Ok(nanos) => match i64::try_from(nanos) {
                Ok(nanos) if nanos.unsigned_abs() <= STAMP_LIMIT.unsigned_abs() => Ok(Some(nanos)),
                _ => Err(self.bad(column, text, OUT_OF_RANGE)),
            },
            Err(error) => Err(match error.kind() {
                std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                    self.bad(column, text, OUT_OF_RANGE)
                }
                _ => self.bad(column, text, "no whole number of nanoseconds"),
            }),
        }
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

const OUT_OF_RANGE: &str = "out of range: stamps lie within 4611686018427387903 ns of zero";

/// A cell without spaces and quotes around it.
fn bare(cell: &str) -> &str {
    let cell = cell.trim();
    let quoted = cell
        .strip_prefix('"')
        .and_then(|cell| cell.strip_suffix('"'));
    quoted.unwrap_or(cell).trim()
}
