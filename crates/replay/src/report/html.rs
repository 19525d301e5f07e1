use std::fmt::Write as _;

use super::{Report, RunReport, text};

const STYLE: &str = "<style>
body { font: 14px system-ui, sans-serif; margin: 2em; color-scheme: light dark; }
table { border-collapse: collapse; }
td, th { padding: 2px 16px 2px 0; text-align: left; vertical-align: top; }
pre { padding: 8px; border: 1px solid #8886; overflow-x: auto; }
.pass { color: #2f8a44; } .fail { color: #d43d3d; font-weight: bold; }
</style>";

/// The report as a page of its own. Pages of the comparisons, with timelines, are linked.
pub fn html(report: &Report) -> String {
    let (class, verdict) = verdict(report.is_passed());
    let plan = escaped(&report.plan.display().to_string());
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{plan}: {verdict}</title>\n{STYLE}\n\
         <h1>{plan}: <span class=\"{class}\">{verdict}</span></h1>\n"
    );
    for run in &report.runs {
        run_html(&mut page, run);
    }
    // Writing to a string cannot fail.
    let _ok = write!(
        page,
        "<h2>Summary</h2>\n<pre>{}</pre>\n</html>\n",
        escaped(&text(report, false))
    );
    page
}

fn verdict(passed: bool) -> (&'static str, &'static str) {
    if passed {
        ("pass", "passed")
    } else {
        ("fail", "failed")
    }
}

fn run_html(page: &mut String, run: &RunReport) {
    let (class, verdict) = verdict(run.passed);
    let directory = run.directory.display().to_string();
    let _ok = write!(
        page,
        "<h2>{}: <span class=\"{class}\">{verdict}</span></h2>\n<p><code>{}</code>, {} messages played; bag and logs: \
         <code>{}</code></p>\n",
        escaped(&run.name),
        escaped(&run.command.join(" ")),
        run.played,
        escaped(&directory)
    );
    if let Some(failure) = &run.failure {
        let _ok = write!(
            page,
            "<p class=\"fail\">{}</p>\n<pre>{}</pre>\n",
            escaped(&failure.text),
            escaped(&failure.last_lines.join("\n"))
        );
    }
    if !run.verdicts.is_empty() {
        page.push_str("<table>\n<tr><th>about<th>what<th>allowed<th>actual<th></tr>\n");
        for check in &run.verdicts {
            let (class, verdict) = if check.kept {
                ("pass", "ok")
            } else {
                ("fail", "failed")
            };
            let _ok = writeln!(
                page,
                "<tr><td>{}<td>{} {}<td>{}<td>{}<td class=\"{class}\">{verdict}</tr>",
                escaped(&check.budget),
                escaped(&check.what),
                escaped(&check.path),
                escaped(&check.allowed),
                escaped(&check.actual)
            );
        }
        page.push_str("</table>\n");
    }
    if let Some(comparison) = &run.comparison {
        let absolute = std::path::absolute(run.directory.join("diff.html"));
        let link = absolute.map(|path| path.display().to_string());
        let _ok = write!(
            page,
            "<p><a href=\"file://{}\">Timeline of the differences</a></p>\n<pre>{}</pre>\n",
            escaped(&link.unwrap_or_default()),
            escaped(&timeloom_compare::text(comparison, false))
        );
    }
    for note in &run.notes {
        let _ok = writeln!(page, "<p>note: {}</p>", escaped(note));
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
