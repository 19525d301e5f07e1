use std::fmt::Write as _;

use timeloom_text::counted;
use timeloom_trace::Verdict;

use super::{Report, RunReport};

/// The report for people. `all` also lists the verdicts that are kept.
pub fn text(report: &Report, all: bool) -> String {
    let mut out = String::new();
    for run in &report.runs {
        run_text(&mut out, run, all);
    }
    for path in &report.updated {
        line(&mut out, format_args!("updated {}", path.display()));
    }
    let failed = report.runs.iter().filter(|run| !run.passed).count();
    let runs = counted(report.runs.len() as u64, "run");
    match failed {
        0 => line(&mut out, format_args!("{runs}, all passed")),
        _ => line(&mut out, format_args!("{runs}, {failed} failed")),
    }
    line(
        &mut out,
        format_args!("bags and logs: {}", report.directory.display()),
    );
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ok = writeln!(out, "{text}");
}

fn run_text(out: &mut String, run: &RunReport, all: bool) {
    let verdict = if run.passed { "PASS" } else { "FAIL" };
    line(
        out,
        format_args!(
            "{verdict}  {}  {} played, {}",
            run.name,
            counted(run.played, "message"),
            counted(run.verdicts.len() as u64, "check")
        ),
    );
    if let Some(failure) = &run.failure {
        line(out, format_args!("      {failure}"));
        for last in &failure.last_lines {
            line(out, format_args!("      | {last}"));
        }
    }
    for verdict in run.verdicts.iter().filter(|verdict| all || !verdict.kept) {
        line(out, format_args!("      {}", verdict_text(verdict)));
    }
    if let Some(comparison) = run.comparison.as_ref().filter(|found| !found.is_same()) {
        for text in timeloom_compare::text(comparison, false).lines() {
            line(out, format_args!("{}", format!("      {text}").trim_end()));
        }
    }
    for note in &run.notes {
        line(out, format_args!("      note: {note}"));
    }
    if !run.passed {
        line(
            out,
            format_args!("      directory: {}", run.directory.display()),
        );
    }
}

fn verdict_text(verdict: &Verdict) -> String {
    let state = if verdict.kept { "ok" } else { "FAILED" };
    let what = if verdict.path.is_empty() {
        verdict.what.clone()
    } else {
        format!("{} of {}", verdict.what, verdict.path)
    };
    format!(
        "{state:<6}  {}  {what}: allowed {}, actual {}",
        verdict.budget, verdict.allowed, verdict.actual
    )
}
