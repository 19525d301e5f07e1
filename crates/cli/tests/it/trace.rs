//! `trace` over bags with tags.

use std::fs;

use serde_json::{Value, json};

use crate::support::Sandbox;
use crate::trace_bag::Robot;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    Robot::default().record(&sandbox.path("robot"));
    sandbox
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A row of a table by how it begins; blanks between cells count once.
fn row(text: &str, begins: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let found = lines.into_iter().find(|line| line.starts_with(begins));
    found.unwrap_or_else(|| panic!("no {begins} in\n{text}"))
}

#[test]
fn the_report_lists_paths_hops_and_losses() {
    let text = sandbox().ok("trace report robot");
    assert!(
        text.starts_with("Lineage of robot: 445 tags and 0 messages in "),
        "{text}"
    );
    assert!(
        text.contains("Target /cmd: 49 messages, 48 complete\n"),
        "{text}"
    );
    // 50 cycles: one is stuck in the filter. A tag was lost before the recorder, but something was made of the message.
    assert_eq!(row(&text, "/points "), "/points 50 49 1 0 0 0 0 0 0");
    assert!(
        text.contains("\n  1 message of /points superseded at /filtered\n"),
        "{text}"
    );
    // One of these is known only to the recorder.
    assert_eq!(row(&text, "/odom "), "/odom 250 49 198 0 1 0 0 0 2");
    // Every tenth cycle is 15 ms slower.
    assert_eq!(
        row(&text, "/points → /filtered → /fused → /cmd "),
        "/points → /filtered → /fused → /cmd 48 39.0 ms 54.0 ms 54.0 ms 54.0 ms 54.0 ms 139 ms 239 ms 54.0 ms"
    );
    assert_eq!(
        row(&text, "/filtered → /fused "),
        "/filtered → /fused /fusion 49 tag certain 22.0 ms 2.00 ms 2.00 ms 20.0 ms 20.0 ms 0"
    );
}

#[test]
fn every_message_of_every_source_has_one_outcome() {
    let report = parsed(&sandbox().ok("trace report robot --format json"));
    let target = &report["targets"][0];
    for source in target["sources"].as_array().unwrap() {
        let outcomes = source["outcomes"].as_object().unwrap();
        let sum: u64 = outcomes.values().filter_map(Value::as_u64).sum();
        assert_eq!(source["published"], sum, "{source}");
    }
    let odom = &target["sources"][0];
    assert_eq!(
        (&odom["topic"], &odom["published"]),
        (&json!("/odom"), &json!(250))
    );
    assert_eq!(odom["outcomes"]["lost_in_transport"], 1);
    assert_eq!(report["clocks"]["hosts"], json!(["host 1"]));
}

#[test]
fn a_part_of_a_bag_has_the_losses_of_that_part_only() {
    let sandbox = sandbox();
    let report =
        |range: &str| parsed(&sandbox.ok(&format!("trace report robot --format json {range}")));
    let lost = |report: &Value| {
        report["targets"][0]["sources"][0]["outcomes"]["lost_in_transport"].clone()
    };
    assert_eq!(lost(&report("--end +2s")), 0);
    assert_eq!(lost(&report("--start +2s")), 1);
}

#[test]
fn a_page_is_written_once_and_never_over_something() {
    let sandbox = sandbox();
    let run = sandbox.run("trace report robot --format html -o page.html");
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run}");
    let page = fs::read_to_string(sandbox.path("page.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("\"/filtered\""));
    let again = sandbox.run("trace report robot --format html -o page.html");
    assert_eq!(again.code, 1, "{again}");
    assert!(again.stderr.contains("page.html"), "{again}");
    assert_eq!(fs::read_to_string(sandbox.path("page.html")).unwrap(), page);
}

#[test]
fn a_path_is_shown_hop_by_hop() {
    let sandbox = sandbox();
    let text = sandbox.ok("trace path robot --from /points --to /fused");
    assert!(text.starts_with("/points → /filtered → /fused\n"), "{text}");
    assert_eq!(
        row(&text, "latency (best case)"),
        "latency (best case) 48 30.0 ms 45.0 ms 45.0 ms 45.0 ms 45.0 ms"
    );
    row(&text, "/points → /filtered 9.56 ms 2.00 ms - 7.56 ms");
    assert!(row(&text, "/fused ").ends_with("45.0 ms tag"), "{text}");
    let paths = parsed(&sandbox.ok("trace path robot --to /cmd --format json"));
    assert_eq!(paths.as_array().unwrap().len(), 2);
    let none = sandbox.run("trace path robot --to /nowhere");
    assert_eq!(none.code, 1, "{none}");
    assert!(
        none.stderr
            .contains("hint: `timeloom trace report` lists all paths"),
        "{none}"
    );
}

const BUDGET: &str = "paths:
  - {name: brake, from: /points, to: /cmd, latency: {p50: 40ms, max: 60ms}, deadline: 100ms, misses: 2, lost: 0}
";

#[test]
fn a_met_budget_exits_with_0_and_a_missed_one_with_1() {
    let sandbox = sandbox();
    sandbox.write("budget.yaml", BUDGET);
    let text = sandbox.ok("trace check budget.yaml robot");
    assert_eq!(
        row(&text, "brake latency p50"),
        "brake latency p50 of /points → /filtered → /fused → /cmd ≤ 40.0 ms 39.0 ms ok"
    );
    assert_eq!(
        row(&text, "brake lost or stuck"),
        "brake lost or stuck ≤ 0 0 ok"
    );
    sandbox.write(
        "strict.yaml",
        BUDGET
            .replace("max: 60ms", "max: 50ms")
            .replace("misses: 2", "misses: 0"),
    );
    let run = sandbox.run("trace check strict.yaml robot");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        row(&run.stdout, "brake latency max").ends_with(
            "≤ 50.0 ms 54.0 ms MISSED slowest hop: /filtered → /fused, 22.0 ms on average"
        ),
        "{run}"
    );
    assert!(
        row(&run.stdout, "brake misses").ends_with("1 never arrived; missing on /filtered (1)"),
        "{run}"
    );
    assert!(run.stderr.contains("2 limits missed"), "{run}");
    let verdicts = sandbox.run("trace check strict.yaml robot --format json");
    let verdicts = parsed(&verdicts.stdout);
    let missed = verdicts
        .as_array()
        .unwrap()
        .iter()
        .filter(|verdict| verdict["kept"] == false);
    assert_eq!(missed.count(), 2);
}

#[test]
fn a_junit_file_has_a_case_for_each_limit() {
    let sandbox = sandbox();
    let strict = BUDGET.replace("max: 60ms", "max: 50ms");
    sandbox.write("strict.yaml", strict);
    for _ in 0..2 {
        let run = sandbox.run("trace check strict.yaml robot --junit verdicts.xml");
        assert_eq!(run.code, 1, "{run}");
    }
    let text = fs::read_to_string(sandbox.path("verdicts.xml")).unwrap();
    assert!(
        text.contains("<testsuite name=\"timeloom trace check robot\" tests=\"5\" failures=\"1\" errors=\"0\">"),
        "{text}"
    );
    assert!(
        text.contains("<testcase classname=\"brake\" name=\"lost or stuck\"/>"),
        "{text}"
    );
    assert!(
        text.contains("<failure message=\"slowest hop: /filtered → /fused, 22.0 ms on average\">"),
        "{text}"
    );
    // What could not be read is in the file, too.
    let broken = Robot {
        broken: 1,
        ..Robot::default()
    };
    broken.record(&sandbox.path("broken"));
    sandbox.write("budget.yaml", BUDGET);
    let run = sandbox.run("trace check budget.yaml broken --junit broken.xml");
    assert_eq!(run.code, 3, "{run}");
    let text = fs::read_to_string(sandbox.path("broken.xml")).unwrap();
    assert!(text.contains("not all of the bag could be read"), "{text}");
    let nowhere = sandbox.run("trace check budget.yaml robot --junit no/where.xml");
    assert_eq!(nowhere.code, 1, "{nowhere}");
    assert!(
        nowhere.stderr.contains("cannot write no/where.xml"),
        "{nowhere}"
    );
}

#[test]
fn budgets_with_mistakes_are_refused_with_their_names() {
    let sandbox = sandbox();
    for (text, code, words) in [
        ("", 2, "has no budget"),
        (
            "paths: [{from: /a, to: /b, latency: {p99: soon}}]",
            1,
            "\"soon\" is not a duration",
        ),
        ("paths: [{from: /a, too: /b}]", 1, "too"),
        (
            "paths: [{from: /points, to: /nowhere}]",
            1,
            "1 limit missed",
        ),
        (
            "paths:\n  - {from: /points, to: /cmd, deadline: -3ms}",
            1,
            "line 2: path \"/points → /cmd\": \"-3ms\" is negative",
        ),
    ] {
        sandbox.write("wrong.yaml", text);
        let run = sandbox.run("trace check wrong.yaml robot");
        assert_eq!(run.code, code, "{text}\n{run}");
        assert!(run.stderr.contains(words), "{text}\n{run}");
    }
}

#[test]
fn slower_paths_come_first() {
    let sandbox = sandbox();
    let slower = Robot {
        fusion_ms: 30,
        ..Robot::default()
    };
    slower.record(&sandbox.path("slower"));
    let text = sandbox.ok("trace diff robot slower");
    let first = text.lines().nth(1).unwrap();
    assert!(
        first.starts_with("/points → /filtered → /fused → /cmd") || first.starts_with("/odom"),
        "{text}"
    );
    assert!(
        row(&text, "/points → ").contains("39.0 ms → 49.0 ms (+26 %)"),
        "{text}"
    );
    let changes = parsed(&sandbox.ok("trace diff robot slower --format json"));
    let ratios = changes
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["p50_change"].as_f64().unwrap());
    assert!(ratios.into_iter().all(|ratio| ratio > 1.1), "{changes}");
}

#[test]
fn other_tools_read_the_exports() {
    let sandbox = sandbox();
    let chrome = parsed(&sandbox.ok("trace export robot --format perfetto"));
    let slices = chrome["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["ph"] == "X");
    assert_eq!(slices.count(), 445);
    let otlp = parsed(&sandbox.ok("trace export robot --format otlp"));
    let services = otlp["resourceSpans"].as_array().unwrap().iter();
    let names: Vec<_> = services
        .map(|service| service["resource"]["attributes"][0]["value"]["stringValue"].clone())
        .collect();
    assert_eq!(
        json!(names),
        json!(["/controller", "/filter", "/fusion", "/lidar", "/wheels"])
    );
    let mermaid = sandbox.ok("trace export robot --format mermaid");
    assert!(
        mermaid.contains("  t4 -- \"/filter 8.00 ms\" --> t1\n"),
        "{mermaid}"
    );
    let dot = sandbox.ok("trace export robot --format dot");
    assert!(
        dot.contains("  \"/fused\" -> \"/cmd\" [label=\"/controller 9.00 ms\"];\n"),
        "{dot}"
    );
    sandbox.ok("trace export robot --format dot -o graph.dot");
    assert_eq!(fs::read_to_string(sandbox.path("graph.dot")).unwrap(), dot);
    // A part of it.
    let part = parsed(&sandbox.ok("trace export robot --format chrome --end +1s"));
    assert!(
        part["traceEvents"].as_array().unwrap().len() * 3
            < chrome["traceEvents"].as_array().unwrap().len()
    );
}

#[test]
fn sqlite3_bags_print_the_same_report() {
    let sandbox = sandbox();
    sandbox.ok("convert robot -o db -s sqlite3");
    let mcap = parsed(&sandbox.ok("trace report robot --format json"));
    let db = parsed(&sandbox.ok("trace report db --format json"));
    assert_eq!(mcap["targets"][0]["paths"], db["targets"][0]["paths"]);
}

#[test]
fn malformed_tags_are_counted_and_exit_code_3() {
    let sandbox = Sandbox::new();
    let robot = Robot {
        broken: 3,
        ..Robot::default()
    };
    robot.record(&sandbox.path("broken"));
    let run = sandbox.run("trace report broken");
    assert_eq!(run.code, 3, "{run}");
    assert!(
        run.stdout.contains("\n3 tags could not be decoded\n"),
        "{run}"
    );
    let run = sandbox.run("trace export broken --format chrome");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("3 messages could not be read"), "{run}");
}

/// A bag whose end is missing, with nothing wrong before it.
#[test]
fn a_bag_that_was_cut_off_is_exit_code_3() {
    let sandbox = sandbox();
    sandbox.unchecked();
    let bag = sandbox.path("robot");
    let file = std::fs::read_dir(&bag)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let file = file
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "mcap"));
    let file = std::fs::File::options()
        .write(true)
        .open(file.unwrap())
        .unwrap();
    file.set_len(file.metadata().unwrap().len() * 2 / 3)
        .unwrap();
    for arguments in ["trace report robot", "trace export robot --format chrome"] {
        let run = sandbox.run(arguments);
        assert_eq!(run.code, 3, "{run}");
        assert!(run.stderr.contains("timeloom recover"), "{run}");
    }
}

#[test]
fn simulated_time_counts_by_the_steady_clock() {
    let sandbox = Sandbox::new();
    let robot = Robot {
        sim_rate: Some(10),
        ..Robot::default()
    };
    robot.record(&sandbox.path("sim"));
    let text = sandbox.ok("trace report sim");
    assert!(text.contains("tags are in simulated time"), "{text}");
    assert!(
        row(&text, "/points → ").contains(" 48 39.0 ms 54.0 ms "),
        "{text}"
    );
    assert!(!text.contains("hosts, by clock"), "{text}");
}

#[test]
fn the_clock_of_a_host_may_come_from_sync() {
    let sandbox = Sandbox::new();
    let robot = Robot {
        arm_ahead_ms: 500,
        ..Robot::default()
    };
    robot.record(&sandbox.path("two"));
    // The clocks were not compared, so a transport of half a second is only flagged.
    let text = sandbox.ok("trace report two");
    assert!(
        row(&text, "/points → /filtered → ").contains(" 48 539 ms "),
        "{text}"
    );
    assert!(
        text.contains("crosses hosts whose clocks were not compared"),
        "{text}"
    );
    let hosts =
        "hosts:\n  car: {nodes: [/lidar, /wheels, /filter, /fusion], offset: 0ms, bound: 0ms}\n";
    let plan = format!("{hosts}  arm: {{nodes: [/controller], sync: arm.json}}\n");
    sandbox.write("plan/plan.yaml", &plan);
    let sync = json!({"offset_ns": -500_000_000_i64, "upper_bound_ns": {"max": 200_000}});
    sandbox.write("plan/arm.json", sync.to_string());
    let text = sandbox.ok("trace report two --plan plan/plan.yaml");
    assert!(
        row(&text, "/points → /filtered → ").contains(" 48 39.0 ms "),
        "{text}"
    );
    assert!(text.contains("/cmd: ± 200 µs"), "{text}");
    sandbox.write("plan/arm.json", "{}");
    let run = sandbox.run("trace report two --plan plan/plan.yaml");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr
            .contains("arm.json: sync report: there is no offset_ns"),
        "{run}"
    );
}
