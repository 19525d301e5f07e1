//! Claims of the demo, and their verdicts.

use std::fmt;

/// Something that was checked against the truth.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) text: String,
    pub(crate) is_true: bool,
}

impl Claim {
    pub(crate) fn new(is_true: bool, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_true,
        }
    }
}

/// A table of figures; the first column is text.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) head: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// One of the systems, shown.
#[derive(Debug)]
pub(crate) struct Chapter {
    pub(crate) title: &'static str,
    pub(crate) table: Table,
    pub(crate) claims: Vec<Claim>,
}

impl Chapter {
    pub(crate) fn is_true(&self) -> bool {
        self.claims.iter().all(|claim| claim.is_true)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads: Vec<String> = self.head.iter().map(ToString::to_string).collect();
        let lines = || std::iter::once(&heads).chain(&self.rows);
        let width = |column: usize| {
            let cell = |line: &Vec<String>| line.get(column).map_or(0, |text| text.chars().count());
            lines().map(cell).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        for line in lines() {
            for (column, (text, width)) in line.iter().zip(&widths).enumerate() {
                if column == 0 {
                    write!(f, "  {text:width$}")?;
                } else {
                    write!(f, "  {text:>width$}")?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Chapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}", self.title, self.table)?;
        for claim in &self.claims {
            writeln!(
                f,
                "  {} {}",
                if claim.is_true { '✓' } else { '✗' },
                claim.text
            )?;
        }
        Ok(())
    }
}

/// The value below which this share of the values lies; 0 without values.
pub(crate) fn quantile(values: &mut [i64], share: f64) -> i64 {
    values.sort_unstable();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a place in a short list"
    )]
    let place = (share * values.len().saturating_sub(1) as f64).round() as usize;
    values.get(place).copied().unwrap_or(0)
}

/// Nanoseconds as people read them.
pub(crate) fn span(nanos: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let nanos = nanos as f64;
    match nanos.abs() {
        size if size < 1e3 => format!("{nanos:.0} ns"),
        size if size < 1e6 => format!("{:.1} µs", nanos / 1e3),
        size if size < 1e9 => format!("{:.1} ms", nanos / 1e6),
        _ => format!("{:.2} s", nanos / 1e9),
    }
}
