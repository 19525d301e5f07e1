//! The part of `BENCHMARKS.md` between the markers.

use super::section::Section;
use std::fmt::{self, Write};
use std::io;

const BEGIN: &str = "<!-- bench:begin -->";
const END: &str = "<!-- bench:end -->";

/// All results, and where they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// From the newest run.
    pub(super) command: String,
    pub(super) date: String,
    pub(super) machine: String,
    pub(super) load: String,
    /// Benchmarks that did not give results in the newest run, with the reason.
    pub(super) failures: Vec<String>,
    /// By room.
    pub(super) sections: Vec<Section>,
}

impl Page {
    /// Reads the part of `document` that an earlier run wrote; empty when none has.
    pub(super) fn read(document: &str) -> io::Result<Self> {
        let (_, inner, _) = split(document)?;
        let mut page = Self::default();
        for line in inner.lines() {
            if let Some(room) = line.strip_prefix("### ") {
                page.sections.push(Section::new(room));
            } else if let Some(section) = page.sections.last_mut() {
                section.read_line(line);
            } else if let Some(machine) = line.strip_prefix("- Machine: ") {
                machine.clone_into(&mut page.machine);
            }
        }
        Ok(page)
    }

    /// Returns `document` with this page between its markers.
    pub(super) fn write_into(&self, document: &str) -> io::Result<String> {
        let (before, _, after) = split(document)?;
        Ok(format!("{before}{BEGIN}\n{self}{END}{after}"))
    }

    /// Takes the results of a newer run: all of them, or only those whose id `replaces` accepts.
    pub(super) fn update(&mut self, newer: Self, replaces: impl Fn(&str) -> bool) {
        let mut sections = std::mem::take(&mut self.sections);
        for section in &mut sections {
            section.remove(&replaces);
        }
        for section in newer.sections {
            match sections.iter_mut().find(|known| known.room == section.room) {
                Some(known) => known.append(section),
                None => sections.push(section),
            }
        }
        sections.retain(|section| !section.is_empty());
        for section in &mut sections {
            section.rows.sort_by(|a, b| a.ratio.id.cmp(&b.ratio.id));
            section.notes.sort();
        }
        sections.sort_by(|a, b| a.room.cmp(&b.room));
        *self = Self { sections, ..newer };
    }

    /// Number of results, and of those that miss their bar.
    pub(super) fn count(&self) -> (usize, usize) {
        let rows = || self.sections.iter().flat_map(|section| &section.rows);
        (rows().count(), rows().filter(|row| !row.ratio.ok).count())
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "- Newest run: `{}`, {}, load average {}",
            self.command, self.date, self.load
        )?;
        writeln!(f, "- Machine: {}", self.machine)?;
        for failure in &self.failures {
            writeln!(f, "- **Failed in the newest run:** {failure}")?;
        }
        self.sections
            .iter()
            .try_for_each(|section| write!(f, "\n{section}"))?;
        f.write_char('\n')
    }
}

/// The document before, between and after the markers.
fn split(document: &str) -> io::Result<(&str, &str, &str)> {
    let parts = document.split_once(BEGIN).and_then(|(before, rest)| {
        let (inner, after) = rest.split_once(END)?;
        Some((before, inner, after))
    });
    let missing = || {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("BENCHMARKS.md lacks {BEGIN} … {END}"),
        )
    };
    parts.ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::super::section::tests::row;
    use super::*;

    const EMPTY: &str =
        "# Benchmarks\n\n<!-- bench:begin -->\nNothing yet.\n<!-- bench:end -->\n\nMore.\n";

    fn section(room: &str, ids: &[&str], value: &str) -> Section {
        let rows = ids.iter().map(|id| row(id, value, true)).collect();
        Section {
            room: room.into(),
            rows,
            notes: vec![(ids[0].into(), format!("note {value}"))],
        }
    }

    fn page(command: &str, sections: Vec<Section>) -> Page {
        let machine = "Fast CPU, 2 cores".into();
        Page {
            command: command.into(),
            date: "2026-11-15".into(),
            machine,
            load: "0.5".into(),
            sections,
            ..Page::default()
        }
    }

    #[test]
    fn only_the_part_between_the_markers_changes() {
        let text = page("make bench", vec![section("time", &["time.a"], "1")])
            .write_into(EMPTY)
            .unwrap();
        assert_eq!(
            text,
            "# Benchmarks\n\n<!-- bench:begin -->\n\
             - Newest run: `make bench`, 2026-11-15, load average 0.5\n- Machine: Fast CPU, 2 cores\n\n\
             ### time\n\n| id | value | bar | verdict | measured |\n|---|---:|---|---|---|\n\
             | `time.a` | 1 | `<=1.15` | ok | 2026-11-15, load 0.50 |\n\n- `time.a`: note 1\n\n\
             <!-- bench:end -->\n\nMore.\n"
        );
    }

    #[test]
    fn results_survive_writing_and_reading() {
        let sections = vec![
            section("bag", &["bag.a"], "1"),
            section("time", &["time.a", "time.b"], "2"),
        ];
        let text = page("make bench", sections.clone())
            .write_into(EMPTY)
            .unwrap();
        let read = Page::read(&text).unwrap();
        assert_eq!(read.sections, sections);
        assert_eq!(read.machine, "Fast CPU, 2 cores");
        assert_eq!(Page::read(EMPTY).unwrap(), Page::default());
    }

    #[test]
    fn a_partial_run_replaces_only_its_rows() {
        let mut page_now = page(
            "make bench",
            vec![
                section("bag", &["bag.a"], "1"),
                section("time", &["time.a", "time.b"], "1"),
            ],
        );
        let newer = page(
            "make bench ONLY=time.b",
            vec![section("time", &["time.b"], "9")],
        );
        page_now.update(newer, |id| id.starts_with("time.b"));
        let rows: Vec<_> = page_now
            .sections
            .iter()
            .flat_map(|section| &section.rows)
            .collect();
        let values: Vec<_> = rows
            .iter()
            .map(|row| (&*row.ratio.id, &*row.ratio.value))
            .collect();
        assert_eq!(values, [("bag.a", "1"), ("time.a", "1"), ("time.b", "9")]);
        assert_eq!(
            page_now.sections[1].notes.len(),
            2,
            "the note of time.a stays"
        );
        assert_eq!(page_now.command, "make bench ONLY=time.b");
    }

    #[test]
    fn a_full_run_replaces_everything() {
        let mut old = page("make bench", vec![section("bag", &["bag.gone"], "1")]);
        let newer = page(
            "make bench",
            vec![section("time", &["time.b", "time.a"], "2")],
        );
        old.update(newer, |_| true);
        assert_eq!(old.sections.len(), 1);
        assert_eq!(old.sections[0].rows[0].ratio.id, "time.a", "sorted by id");
        assert_eq!(old.count(), (2, 0));
    }

    #[test]
    fn short_results_are_counted_and_failures_shown() {
        let mut page = page("make bench", vec![section("time", &["time.a"], "1")]);
        page.sections[0].rows.push(row("time.b", "3", false));
        page.failures.push("`bag/write`: no ratio line".into());
        assert_eq!(page.count(), (2, 1));
        assert!(
            page.to_string()
                .contains("- **Failed in the newest run:** `bag/write`: no ratio line\n")
        );
    }

    #[test]
    fn a_document_without_markers_is_an_error() {
        assert!(Page::read("# Benchmarks").is_err());
        assert!(
            page("x", Vec::new())
                .write_into("<!-- bench:end --><!-- bench:begin -->")
                .is_err()
        );
    }
}
