//! One room's results in `BENCHMARKS.md`: a table, and remarks below it.

use super::line::Ratio;
use std::fmt::{self, Write};

/// The results of one room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) room: String,
    pub(super) rows: Vec<Row>,
    /// Remarks as id and text.
    pub(super) notes: Vec<(String, String)>,
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) ratio: Ratio,
    /// Date and load of the measurement; partial runs leave rows of different days in one table.
    pub(super) measured: String,
}

impl Section {
    pub(super) fn new(room: &str) -> Self {
        Self {
            room: room.to_owned(),
            ..Self::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.notes.is_empty()
    }

    /// Takes out what was measured under the ids that `matches` accepts.
    pub(super) fn remove(&mut self, matches: impl Fn(&str) -> bool) {
        self.rows.retain(|row| !matches(&row.ratio.id));
        self.notes.retain(|(id, _)| !matches(id));
    }

    /// Adds what `other` has.
    pub(super) fn append(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.notes.extend(other.notes);
    }

    /// Reads one line of what [`Display`](fmt::Display) wrote; lines of another form are left out.
    pub(super) fn read_line(&mut self, line: &str) {
        if let Some(inner) = line
            .strip_prefix("| `")
            .and_then(|rest| rest.strip_suffix(" |"))
        {
            let cells: Vec<&str> = inner.split(" | ").collect();
            if let [id, value, bar, verdict, measured] = cells[..] {
                let plain = |cell: &str| cell.replace('`', "");
                let ok = verdict == "ok";
                let ratio = Ratio {
                    id: plain(id),
                    value: plain(value),
                    bar: plain(bar),
                    ok,
                };
                self.rows.push(Row {
                    ratio,
                    measured: measured.to_owned(),
                });
            }
        } else if let Some((id, text)) = line
            .strip_prefix("- `")
            .and_then(|rest| rest.split_once("`: "))
        {
            self.notes.push((id.to_owned(), text.to_owned()));
        }
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "### {}\n", self.room)?;
        if !self.rows.is_empty() {
            f.write_str("| id | value | bar | verdict | measured |\n|---|---:|---|---|---|\n")?;
        }
        for Row {
            ratio: Ratio { id, value, bar, ok },
            measured,
        } in &self.rows
        {
            let verdict = if *ok { "ok" } else { "**short**" };
            writeln!(f, "| `{id}` | {value} | `{bar}` | {verdict} | {measured} |")?;
        }
        if !self.notes.is_empty() && !self.rows.is_empty() {
            f.write_char('\n')?;
        }
        self.notes
            .iter()
            .try_for_each(|(id, text)| writeln!(f, "- `{id}`: {text}"))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::bench) fn row(id: &str, value: &str, ok: bool) -> Row {
        let ratio = Ratio {
            id: id.into(),
            value: value.into(),
            bar: "<=1.15".into(),
            ok,
        };
        Row {
            ratio,
            measured: "2026-11-15, load 0.50".into(),
        }
    }

    fn section() -> Section {
        Section {
            room: "time".into(),
            rows: vec![
                row("time.now.1t", "1.02", true),
                row("time.sleep", "2", false),
            ],
            notes: vec![("time.now.1t".into(), "31 ns | 30 ns".into())],
        }
    }

    const TEXT: &str = "\
### time\n\n\
| id | value | bar | verdict | measured |\n|---|---:|---|---|---|\n\
| `time.now.1t` | 1.02 | `<=1.15` | ok | 2026-11-15, load 0.50 |\n\
| `time.sleep` | 2 | `<=1.15` | **short** | 2026-11-15, load 0.50 |\n\n\
- `time.now.1t`: 31 ns | 30 ns\n";

    #[test]
    fn a_section_is_a_table_with_notes_below() {
        assert_eq!(section().to_string(), TEXT);
    }

    #[test]
    fn written_sections_are_read_back() {
        let mut read = Section::new("time");
        TEXT.lines().for_each(|line| read.read_line(line));
        assert_eq!(read, section());
    }

    #[test]
    fn rows_and_notes_are_removed_by_id() {
        let mut section = section();
        section.remove(|id| id.starts_with("time.now"));
        assert_eq!(section.rows, [row("time.sleep", "2", false)]);
        assert!(section.notes.is_empty() && !section.is_empty());
        section.remove(|_| true);
        assert!(section.is_empty());
    }
}
