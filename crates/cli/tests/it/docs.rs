//! The guide in `docs/`: its commands do what it shows.

use std::fs;
use std::path::{Path, PathBuf};

use crate::robot::new_domain;
use crate::support::Sandbox;
use crate::trace_bag;

/// A command of a `console` block and the output below it.
pub(crate) struct Step {
    pub(crate) arguments: String,
    pub(crate) output: Vec<String>,
}

impl Step {
    /// Whether it needs the feature `query`.
    fn writes_tables(&self) -> bool {
        let mut words = self.arguments.split_whitespace();
        matches!(words.next(), Some("align" | "index")) || words.any(|word| word == "--to")
    }
}

pub(crate) fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            if let Some(arguments) = line.strip_prefix("$ timeloom ") {
                steps.push(Step {
                    arguments: arguments.to_owned(),
                    output: Vec::new(),
                });
            } else {
                steps.last_mut().unwrap().output.push(line.to_owned());
            }
        }
    }
    steps
}

/// Whether lines match, where `…` stands for any number of them.
pub(crate) fn matches(shown: &[String], real: &[&str]) -> bool {
    match (shown.split_first(), real.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "…" => {
            (0..=real.len()).any(|skipped| matches(rest, &real[skipped..]))
        }
        (Some((first, rest)), Some((line, lines))) => first == line && matches(rest, lines),
        _ => false,
    }
}

/// What the page about `trace` looks at: two bags with tags, and a budget.
fn tracked_robots(sandbox: &Sandbox) {
    let robot = trace_bag::Robot::default();
    robot.record(&sandbox.path("robot"));
    let slower = trace_bag::Robot {
        fusion_ms: 30,
        ..robot
    };
    slower.record(&sandbox.path("slower"));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/verbs/trace.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, behind) = page.split_once("# budget.yaml\n").unwrap();
    let (budget, _) = behind.split_once("```").unwrap();
    sandbox.write("budget.yaml", budget);
}

/// The bags that the pages are about.
pub(crate) fn prepare(sandbox: &Sandbox) {
    sandbox.copy("mcap_plain", "my_bag");
    sandbox.copy("sqlite3_plain", "my_db");
    let cut = sandbox
        .copy("mcap_plain", "cut_bag")
        .join("mcap_plain_0.mcap");
    fs::File::options()
        .write(true)
        .open(cut)
        .unwrap()
        .set_len(200_000)
        .unwrap();
    fs::create_dir(sandbox.path("fleet")).unwrap();
    for (bag, name) in [("mcap_plain", "run_7"), ("mcap_split_dur", "run_8")] {
        sandbox.copy(bag, &format!("fleet/{name}"));
    }
    trace_bag::Robot::default().record(&sandbox.path("fleet/tags"));
    tracked_robots(sandbox);
    crate::diff::write_bags(sandbox);
    crate::merge::write_bags(sandbox);
}

#[test]
fn every_command_prints_the_shown_output() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let verbs = fs::read_dir(docs.join("verbs")).unwrap();
    let mut pages: Vec<PathBuf> = verbs.map(|entry| entry.unwrap().path()).collect();
    pages.push(docs.join("tasks.md"));
    let mut count = 0;
    for path in pages {
        if path.ends_with("query.md") {
            // Its commands need a feature and quotes: see query.rs.
            continue;
        }
        if path.ends_with("replay_test.md") {
            // Its command needs a node to test: see replay_live.rs.
            continue;
        }
        let mut sandbox = Sandbox::new();
        // Other players on this machine must not be heard.
        sandbox.set("ROS_DOMAIN_ID", &new_domain().to_string());
        prepare(&sandbox);
        for step in steps(&fs::read_to_string(&path).unwrap()) {
            if cfg!(not(feature = "query")) && step.writes_tables() {
                continue;
            }
            let run = sandbox.run(&step.arguments);
            let real = run.stdout.clone() + &run.stderr;
            let lines: Vec<&str> = real.lines().collect();
            assert!(
                matches(&step.output, &lines),
                "{}: timeloom {}\n{run}",
                path.display(),
                step.arguments
            );
            count += 1;
        }
    }
    assert!(count >= 14, "{count}");
}
