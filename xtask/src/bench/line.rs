//! The lines that benchmarks print for us; `timeloom_testkit::bench` writes them.

use std::cmp::Ordering;

/// A line that is meant for the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// `ratio <id> <value> bar <bound> ok|short`
    Ratio(Ratio),
    /// `note <id> <text>`
    Note { id: String, text: String },
}

/// One result, as it was printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ratio {
    pub(super) id: String,
    pub(super) value: String,
    pub(super) bar: String,
    pub(super) ok: bool,
}

impl Line {
    /// Reads one line of a benchmark's output; none when the line is for people.
    ///
    /// # Errors
    ///
    /// A line that starts like ours but is not, or whose verdict does not follow from its numbers.
    pub(super) fn parse(line: &str) -> Result<Option<Self>, String> {
        let line = line.trim_end();
        if let Some(rest) = line.strip_prefix("ratio ") {
            return Ratio::parse(rest)
                .map(|ratio| Some(Self::Ratio(ratio)))
                .map_err(|why| format!("{why}: `{line}`"));
        }
        let Some(rest) = line.strip_prefix("note ") else {
            return Ok(None);
        };
        let (id, text) = rest
            .trim()
            .split_once(' ')
            .ok_or_else(|| format!("a note without text: `{line}`"))?;
        Ok(Some(Self::Note {
            id: id.to_owned(),
            text: text.trim().to_owned(),
        }))
    }
}

impl Ratio {
    fn parse(rest: &str) -> Result<Self, &'static str> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let [id, value, "bar", bar, verdict] = words[..] else {
            return Err("not `ratio <id> <value> bar <bound> ok|short`");
        };
        let ok = match verdict {
            "ok" => true,
            "short" => false,
            _ => return Err("the verdict is neither ok nor short"),
        };
        let number: f64 = value
            .parse()
            .map_err(|_no_float| "the value is no number")?;
        if holds(number, bar)? != ok {
            return Err("the verdict does not follow from value and bar");
        }
        Ok(Self {
            id: id.to_owned(),
            value: value.to_owned(),
            bar: bar.to_owned(),
            ok,
        })
    }
}

/// Whether `value` keeps to a bound like `<=1.15`, `>=4` or `==0`. What is not a number keeps to none.
fn holds(value: f64, bar: &str) -> Result<bool, &'static str> {
    let Some((operator, bound)) = bar.split_at_checked(2) else {
        return Err("the bar is too short");
    };
    let bound: f64 = bound.parse().map_err(|_no_float| "the bar has no number")?;
    let order = value.partial_cmp(&bound);
    match operator {
        "<=" => Ok(order.is_some_and(Ordering::is_le)),
        ">=" => Ok(order.is_some_and(Ordering::is_ge)),
        "==" => Ok(order.is_some_and(Ordering::is_eq)),
        _ => Err("the bar starts with none of <=, >=, =="),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_read_as_printed() {
        let cases = [
            (
                "ratio time.now.1t 1.02 bar <=1.15 ok",
                "1.02",
                "<=1.15",
                true,
            ),
            ("ratio time.mutex 3.5 bar >=4 short", "3.5", ">=4", false),
            ("ratio time.early 0 bar ==0 ok", "0", "==0", true),
            ("ratio time.lost 1 bar ==0 short", "1", "==0", false),
            ("ratio time.broken NaN bar <=1 short", "NaN", "<=1", false),
            ("ratio  time.spaces   2  bar <=2  ok  ", "2", "<=2", true),
        ];
        for (line, value, bar, ok) in cases {
            let Ok(Some(Line::Ratio(ratio))) = Line::parse(line) else {
                panic!("{line}")
            };
            assert_eq!(
                (&*ratio.value, &*ratio.bar, ratio.ok),
                (value, bar, ok),
                "{line}"
            );
        }
    }

    #[test]
    fn notes_are_free_text() {
        let note = Line::Note {
            id: "time.now".into(),
            text: "31 ns | against 30 ns".into(),
        };
        assert_eq!(
            Line::parse("note time.now 31 ns | against 30 ns\n"),
            Ok(Some(note))
        );
    }

    #[test]
    fn other_lines_are_for_people() {
        for line in [
            "",
            "running 3 variants",
            "ratios below",
            "notes:",
            " ratio a 1 bar <=1 ok",
        ] {
            assert_eq!(Line::parse(line), Ok(None), "{line}");
        }
    }

    #[test]
    fn a_line_that_is_almost_ours_is_an_error() {
        let cases = [
            ("ratio a 1 <=1 ok", "not `ratio"),
            ("ratio a one bar <=1 ok", "the value is no number"),
            ("ratio a 1 bar <1 ok", "the bar"),
            ("ratio a 1 bar 1 ok", "the bar"),
            ("ratio a 1 bar ~=1 ok", "starts with none"),
            ("ratio a 1 bar ≤1 ok", "the bar"),
            ("ratio a 1 bar <=1 fine", "neither ok nor short"),
            ("note a", "a note without text"),
        ];
        for (line, why) in cases {
            let error = Line::parse(line).unwrap_err();
            assert!(
                error.contains(why) && error.contains(line),
                "{line}: {error}"
            );
        }
    }

    #[test]
    fn a_verdict_that_flatters_is_an_error() {
        for line in [
            "ratio a 2 bar <=1 ok",
            "ratio a NaN bar <=1 ok",
            "ratio a 1 bar ==0 ok",
            "ratio a 5 bar >=4 short",
        ] {
            assert!(
                Line::parse(line)
                    .unwrap_err()
                    .starts_with("the verdict does not follow"),
                "{line}"
            );
        }
    }
}
