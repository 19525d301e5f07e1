//! Tables.

/// A table with aligned columns: columns of numbers stand to the right, all others to the left.
///
/// ```
/// let mut table = timeloom_text::Table::new("", &["path", "p99"]);
/// table.row(["/scan → /map".to_owned(), "7.89 ms".to_owned()]);
/// assert_eq!(table.text(), "path              p99\n/scan → /map  7.89 ms\n");
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    rows: Vec<Vec<String>>,
    indent: &'static str,
}

impl Table {
    /// A table with these heads, each of its lines behind the indent.
    pub fn new(indent: &'static str, heads: &[&str]) -> Self {
        Self {
            rows: vec![heads.iter().map(ToString::to_string).collect()],
            indent,
        }
    }

    /// Adds a row; cells that are missing are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The lines, each with a newline.
    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let columns: Vec<(usize, bool)> = (0..columns)
            .map(|column| (self.width(column), self.is_numeric(column)))
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = self.indent.to_owned();
            for (column, (cell, (width, numeric))) in row.iter().zip(&columns).enumerate() {
                let space = " ".repeat(width.saturating_sub(cell.chars().count()));
                let gap = if column == 0 { "" } else { "  " };
                line = if *numeric {
                    line + gap + &space + cell
                } else {
                    line + gap + cell + &space
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    fn column(&self, column: usize) -> impl Iterator<Item = &String> {
        self.rows.iter().filter_map(move |row| row.get(column))
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.column(column);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }

    /// Whether all cells of a column below its head begin as numbers and limits do.
    fn is_numeric(&self, column: usize) -> bool {
        let cells = self.column(column).skip(1);
        let mut first = cells.filter_map(|cell| cell.chars().next());
        first.all(|letter| letter.is_ascii_digit() || "-+≤≥<>".contains(letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_and_lines_end_without_spaces() {
        let mut table = Table::new(" ", &["name", "count", "note"]);
        table.row(["/a".to_owned(), "1".to_owned(), String::new()]);
        table.row(["/long".to_owned(), "≤20".to_owned(), "ä".to_owned()]);
        assert_eq!(
            table.text(),
            " name   count  note\n /a         1\n /long    ≤20  ä\n"
        );
    }
}
