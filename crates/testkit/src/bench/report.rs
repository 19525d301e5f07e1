//! The one place that writes `ratio` and `note` lines.

use std::fmt::Display;
use std::io::{self, Write};

/// The environment variable that passes the prefix of `cargo xtask bench --only PREFIX` to benchmarks.
const ONLY: &str = "TIMELOOM_BENCH_ONLY";

/// A benchmark's report: writes one line per result, in the format that `cargo xtask bench` reads.
///
/// An id is `<room>.<what>`, without white space: `time.now.1t`.
/// A value is rounded to four digits first and judged as printed, so that reader and verdict never disagree.
/// Every method that writes panics when the output is closed: a result that cannot be read must not pass.
#[derive(Debug)]
pub struct Bench<W: Write = io::Stdout> {
    out: W,
    only: Option<String>,
    short: usize,
}

impl Bench {
    /// A report to standard output, limited to the ids that `TIMELOOM_BENCH_ONLY` asks for.
    pub fn from_env() -> Self {
        Self::to_writer(io::stdout(), std::env::var(ONLY).ok())
    }
}

impl<W: Write> Bench<W> {
    /// A report to `out`, limited to ids that start with `only` when it is given.
    pub fn to_writer(out: W, only: Option<String>) -> Self {
        let only = only.filter(|prefix| !prefix.is_empty());
        Self {
            out,
            only,
            short: 0,
        }
    }

    /// Whether results under `id` were asked for; guard a slow section with it.
    ///
    /// `id` may be a full id or the common beginning of several.
    pub fn wants(&self, id: &str) -> bool {
        self.only
            .as_deref()
            .is_none_or(|only| id.starts_with(only) || only.starts_with(id))
    }

    /// Reports a value that should be `bound` or less. A value that is not a number is short.
    pub fn ratio_at_most(&mut self, id: &str, value: f64, bound: f64) {
        let value = four_digits(value);
        self.line(id, &value, &format_args!("<={bound}"), value <= bound);
    }

    /// Reports a value that should be `bound` or more. A value that is not a number is short.
    pub fn ratio_at_least(&mut self, id: &str, value: f64, bound: f64) {
        let value = four_digits(value);
        self.line(id, &value, &format_args!(">={bound}"), value >= bound);
    }

    /// Reports a count of what must never happen.
    pub fn exactly_zero(&mut self, id: &str, count: u64) {
        self.count(id, count, 0);
    }

    /// Reports a count that should be `expected`, no more and no less.
    pub fn count(&mut self, id: &str, count: u64, expected: u64) {
        self.line(id, &count, &format_args!("=={expected}"), count == expected);
    }

    /// Adds a remark for the reader: the absolute figures behind a ratio, for example.
    ///
    /// Line breaks become spaces.
    pub fn note(&mut self, id: &str, text: impl Display) {
        if self.asked(id) {
            let text = text.to_string().replace(['\n', '\r'], " ");
            self.write(format_args!("note {} {text}\n", one_word(id)));
        }
    }

    /// Number of results that missed their bar.
    pub fn short(&self) -> usize {
        self.short
    }

    fn asked(&self, id: &str) -> bool {
        self.only.as_deref().is_none_or(|only| id.starts_with(only))
    }

    fn line(&mut self, id: &str, value: &dyn Display, bar: &dyn Display, ok: bool) {
        if !self.asked(id) {
            return;
        }
        self.short += usize::from(!ok);
        let verdict = if ok { "ok" } else { "short" };
        self.write(format_args!(
            "ratio {} {value} bar {bar} {verdict}\n",
            one_word(id)
        ));
    }

    fn write(&mut self, line: std::fmt::Arguments<'_>) {
        // Flushed at once: a benchmark that dies later keeps what it measured.
        let written = self.out.write_fmt(line).and_then(|()| self.out.flush());
        if let Err(error) = written {
            // A report that cannot be written must fail the benchmark.
            panic!("cannot write a benchmark result: {error}");
        }
    }
}

/// White space would split the line into the wrong words.
fn one_word(id: &str) -> String {
    id.split_whitespace().collect::<Vec<_>>().join("_")
}

/// Rounds to four significant digits.
fn four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(only: Option<&str>, body: impl FnOnce(&mut Bench<Vec<u8>>)) -> String {
        let mut bench = Bench::to_writer(Vec::new(), only.map(str::to_owned));
        body(&mut bench);
        String::from_utf8(bench.out).unwrap()
    }

    #[test]
    fn each_kind_of_line_has_the_documented_form() {
        let text = report(None, |bench| {
            bench.ratio_at_most("time.now.1t", 1.02, 1.15);
            bench.ratio_at_least("time.now.mutex", 3.5, 4.0);
            bench.exactly_zero("time.early", 0);
            bench.count("bag.messages", 99, 100);
            bench.note("time.now.1t", "31 ns\nagainst 30 ns");
            assert_eq!(bench.short(), 2);
        });
        assert_eq!(
            text,
            "ratio time.now.1t 1.02 bar <=1.15 ok\n\
             ratio time.now.mutex 3.5 bar >=4 short\n\
             ratio time.early 0 bar ==0 ok\n\
             ratio bag.messages 99 bar ==100 short\n\
             note time.now.1t 31 ns against 30 ns\n"
        );
    }

    #[test]
    fn the_verdict_judges_the_printed_value() {
        let text = report(None, |bench| {
            bench.ratio_at_most("a.rounds_down", 1.150_04, 1.15);
            bench.ratio_at_most("a.rounds_up", 1.151_4, 1.151);
        });
        assert_eq!(
            text,
            "ratio a.rounds_down 1.15 bar <=1.15 ok\nratio a.rounds_up 1.151 bar <=1.151 ok\n"
        );
    }

    #[test]
    fn nan_misses_every_bar() {
        let text = report(None, |bench| {
            bench.ratio_at_most("a.most", f64::NAN, 1.0);
            bench.ratio_at_least("a.least", f64::NAN, 1.0);
            bench.ratio_at_most("a.infinite", f64::INFINITY, 1.0);
        });
        assert!(text.lines().all(|line| line.ends_with(" short")), "{text}");
    }

    #[test]
    fn a_prefix_selects_results() {
        let text = report(Some("time.now"), |bench| {
            assert!(bench.wants("time"));
            assert!(bench.wants("time.now.1t"));
            assert!(!bench.wants("time.sleep"));
            bench.ratio_at_most("time.sleep", 1.0, 2.0);
            bench.note("time.sleep", "unasked");
            bench.ratio_at_most("time.now.1t", 1.0, 2.0);
        });
        assert_eq!(text, "ratio time.now.1t 1 bar <=2 ok\n");
    }

    #[test]
    fn an_empty_prefix_selects_everything() {
        assert!(Bench::to_writer(Vec::new(), Some(String::new())).wants("anything"));
    }

    #[test]
    fn an_id_stays_one_word() {
        let text = report(None, |bench| bench.exactly_zero("two words", 0));
        assert_eq!(text, "ratio two_words 0 bar ==0 ok\n");
    }
}
