//! Texts of a column, each stored once.

use std::collections::HashMap;

/// Texts of a column: distinct ones, and the number of one for each row.
#[derive(Debug, Clone, Default)]
pub struct TextValues {
    distinct: Vec<String>,
    known: HashMap<String, u32>,
    rows: Vec<Option<u32>>,
}

impl TextValues {
    pub(super) fn from_parts(distinct: Vec<String>, rows: Vec<Option<u32>>) -> Self {
        Self {
            distinct,
            known: HashMap::new(),
            rows,
        }
    }

    /// Adds a row.
    pub fn push(&mut self, text: Option<&str>) {
        let number = text.map(|text| {
            if let Some(number) = self.known.get(text) {
                return *number;
            }
            // Row groups have far fewer rows than `u32` has numbers.
            let number = u32::try_from(self.distinct.len()).unwrap_or(u32::MAX);
            self.known.insert(text.to_owned(), number);
            self.distinct.push(text.to_owned());
            number
        });
        self.rows.push(number);
    }

    /// Adds a row with the text of an earlier one, without looking at the text.
    pub fn repeat(&mut self, row: usize) {
        self.rows.push(self.number(row));
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The text of a row; `None` when it is missing.
    pub fn get(&self, row: usize) -> Option<&str> {
        let number = self.number(row)?;
        self.distinct
            .get(usize::try_from(number).ok()?)
            .map(String::as_str)
    }

    /// The number of the text of a row among the distinct ones.
    pub fn number(&self, row: usize) -> Option<u32> {
        self.rows.get(row).copied().flatten()
    }

    /// The distinct texts.
    pub fn distinct(&self) -> &[String] {
        &self.distinct
    }

    pub(super) fn rows(&self) -> &[Option<u32>] {
        &self.rows
    }
}

impl PartialEq for TextValues {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && (0..self.len()).all(|row| self.get(row) == other.get(row))
    }
}

impl Eq for TextValues {}
