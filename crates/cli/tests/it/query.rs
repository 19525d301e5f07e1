//! `timeloom query`: what people see of it.

use std::fs;
use std::path::Path;

use crate::docs::{matches, prepare, steps};
use crate::support::{Run, Sandbox};

/// Runs words that are separated by spaces, where single quotes hold some together, as in a shell.
pub(crate) fn run(sandbox: &Sandbox, words: &str) -> Run {
    let mut command = sandbox.command("");
    for (place, part) in words.split('\'').enumerate() {
        if place % 2 == 1 {
            command.arg(part);
        } else {
            command.args(part.split_whitespace());
        }
    }
    Run::new(&command.output().unwrap())
}

#[test]
fn every_command_of_the_page_prints_the_shown_output() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/verbs/query.md");
    let sandbox = Sandbox::new();
    prepare(&sandbox);
    let mut count = 0;
    for step in steps(&fs::read_to_string(page).unwrap()) {
        let run = run(&sandbox, &step.arguments);
        let real = run.stdout.clone() + &run.stderr;
        let lines: Vec<&str> = real.lines().collect();
        assert!(
            matches(&step.output, &lines),
            "timeloom {}\n{run}",
            step.arguments
        );
        count += 1;
    }
    assert!(count >= 8, "{count}");
}

#[test]
fn a_cut_bag_is_exit_code_3_with_rows() {
    let sandbox = Sandbox::new();
    prepare(&sandbox);
    let run = run(
        &sandbox,
        "query 'SELECT bag, count(*) > 0 AS rows FROM messages GROUP BY bag' cut_bag my_bag --format csv",
    );
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stdout.contains("cut_bag,true\n"), "{run}");
    assert!(run.stdout.contains("my_bag,true\n"), "{run}");
    assert!(run.stderr.contains("warning: cut_bag: "), "{run}");
    assert!(run.stderr.contains("hint: run `timeloom recover"), "{run}");
}

#[test]
fn wrong_sql_is_wrong_usage() {
    let sandbox = Sandbox::new();
    sandbox.copy("mcap_plain", "my_bag");
    let hinted = |sql: &str| {
        let run = run(&sandbox, &format!("query '{sql}' my_bag"));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run}");
        run.stderr
    };
    for (sql, words) in [
        ("SELECT * FROM chater", "did you mean \"/chatter\"?"),
        ("SELECT * FROM nonsense", "there are bags, topics, messages"),
        ("SELECT x FROM bags", "No field named x"),
        ("SELECT FROM WHERE", "hint:"),
        ("DROP TABLE bags", "DDL not supported"),
    ] {
        let text = hinted(sql);
        assert!(
            text.starts_with("error: ") && text.contains(words),
            "{text}"
        );
        assert!(text.contains("\nhint: "), "{text}");
    }
    let run = run(&sandbox, "query 'SELECT 1' nowhere");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr.contains("nowhere") && run.stderr.contains("hint:"),
        "{run}"
    );
}

#[test]
fn the_output_is_a_new_file_in_the_requested_format() {
    let sandbox = Sandbox::new();
    sandbox.copy("mcap_plain", "my_bag");
    let words = "query 'SELECT altitude FROM \"/fix\"' my_bag -o";
    let first = run(&sandbox, &format!("{words} fix.csv"));
    assert_eq!((first.code, first.stdout.as_str()), (0, ""), "{first}");
    let csv = fs::read_to_string(sandbox.path("fix.csv")).unwrap();
    assert_eq!(csv, "altitude\n100.0\n150.0\n200.0\n250.0\n");
    let again = run(&sandbox, &format!("{words} fix.csv"));
    assert_eq!(again.code, 1, "{again}");
    assert!(again.stderr.contains("no file is overwritten"), "{again}");
    run(&sandbox, &format!("{words} fix.jsonl"));
    let json = fs::read_to_string(sandbox.path("fix.jsonl")).unwrap();
    assert_eq!(json.lines().next(), Some("{\"altitude\":100.0}"));
}

/// The end-to-end times of the robot are those that `trace report` prints.
#[test]
fn latencies_agree_with_the_report_of_trace() {
    let sandbox = Sandbox::new();
    crate::trace_bag::Robot::default().record(&sandbox.path("robot"));
    let sql = "SELECT max(latency_ms), count(*) FROM latency WHERE path = $$/points → /filtered → /fused → /cmd$$ AND counted_from = $$published$$";
    let run = run(&sandbox, &format!("query '{sql}' robot --format csv"));
    let report = sandbox.ok("trace path robot --from /points --to /cmd");
    let found = run.stdout.lines().nth(1).unwrap_or_default().to_owned();
    let (max, count) = found.split_once(',').unwrap_or_else(|| panic!("{run}"));
    assert_eq!(max, "54.0", "{run}");
    assert!(report.contains("54.0 ms"), "{report}");
    assert_eq!(count, "48", "{run}\n{report}");
}

#[cfg(feature = "remote")]
#[test]
fn bags_on_s3_and_here_are_one_table() {
    let Some(s3) = crate::s3::S3::new() else {
        return;
    };
    let sandbox = s3.sandbox();
    let bags = crate::support::bags();
    s3.put_folder("robots/runs/plain", &bags.join("mcap_plain"));
    let sql =
        "query 'SELECT bag, count(*) AS n FROM messages GROUP BY bag ORDER BY bag' --format csv";
    let here = run(
        &sandbox,
        &format!("{sql} {}", bags.join("mcap_plain").display()),
    );
    assert_eq!(here.code, 0, "{here}");
    let count = here
        .stdout
        .lines()
        .nth(1)
        .and_then(|line| line.split_once(','));
    let (_, count) = count.unwrap_or_else(|| panic!("{here}"));
    let both = run(
        &sandbox,
        &format!(
            "{sql} s3://robots/runs/plain {}",
            bags.join("sqlite3_plain").display()
        ),
    );
    assert_eq!(both.code, 0, "{both}");
    assert_eq!(both.stdout.lines().count(), 3, "{both}");
    assert!(both.stdout.contains(&format!(",{count}\n")), "{both}");
}
