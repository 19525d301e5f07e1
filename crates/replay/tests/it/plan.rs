use std::path::Path;

use tempfile::tempdir;
use timeloom_replay::{Error, PacePlan, Plan};
use timeloom_time::Duration;

const PLAN: &str =
    "bag: bags/drive\ncommand: ros2 run demo node\noutputs: [/pose]\nexpected: expected\n";

fn parse(text: &str) -> Result<Plan, Error> {
    let directory = tempdir().unwrap();
    let path = directory.path().join("plan.yaml");
    std::fs::write(&path, text).unwrap();
    Plan::read(&path)
}

/// The reason without the name of the file, and the hint.
fn refused(text: &str) -> (String, Option<String>) {
    match parse(text) {
        Err(Error::Plan { reason, hint, .. }) => (reason, hint),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn paths_are_relative_to_the_plan_and_defaults_are_filled_in() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("plan.yaml");
    std::fs::write(&path, PLAN).unwrap();
    let plan = Plan::read(&path).unwrap();
    let [run] = plan.runs.as_slice() else {
        panic!("{plan:?}")
    };
    assert_eq!(run.name, "run1");
    assert_eq!(run.bags, [directory.path().join("bags/drive")]);
    assert_eq!(run.expected, Some(directory.path().join("expected")));
    assert_eq!(run.command, ["/bin/sh", "-c", "exec ros2 run demo node"]);
    let lockstep = PacePlan::Lockstep {
        topic: "/pose".into(),
        window: Duration::from_millis(100),
    };
    assert_eq!(run.pace, lockstep);
    assert_eq!(run.max_lost, 0);
    assert_eq!(run.timeouts.start, Duration::from_secs(30));
}

#[test]
fn runs_override_the_top_and_are_repeated() {
    let runs = "environment: {A: 1, B: 2}\nrate: 2\n\
        runs:\n  - {name: slow}\n  - {name: fast, rate: 8, environment: {B: 3}, repeat: 2}\n";
    let plan = parse(&format!("{PLAN}{runs}")).unwrap();
    let names: Vec<&str> = plan.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["slow", "fast-1", "fast-2"]);
    assert!((plan.runs[0].rate.get() - 2.0).abs() < f64::EPSILON);
    assert!((plan.runs[2].rate.get() - 8.0).abs() < f64::EPSILON);
    let environment: Vec<_> = plan.runs[1].environment.iter().collect();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let [a, b] = [pair("A", "1"), pair("B", "3")];
    assert_eq!(environment, [(&a.0, &a.1), (&b.0, &b.1)]);
}

#[test]
fn an_unknown_key_has_its_line_and_a_suggestion() {
    let (reason, hint) = refused(&format!("{PLAN}contrakt: c.yaml\n"));
    assert!(reason.contains("unknown field `contrakt`"), "{reason}");
    assert!(reason.contains("line 5"), "{reason}");
    assert_eq!(hint.as_deref(), Some("did you mean contract?"));
    let (reason, hint) = refused(&format!("{PLAN}compare:\n  tolerance: []\n"));
    assert!(reason.contains("line 6"), "{reason}");
    assert_eq!(hint.as_deref(), Some("did you mean tolerances?"));
}

#[test]
fn mistakes_are_named() {
    let without = |key: &str| {
        let lines = PLAN.lines().filter(|line| !line.starts_with(key));
        refused(&lines.collect::<Vec<_>>().join("\n")).0
    };
    assert_eq!(
        without("bag"),
        "run1: `bag` is missing: it is what is played"
    );
    assert_eq!(
        without("command"),
        "run1: `command` is missing: it is what is tested"
    );
    assert_eq!(without("outputs"), "run1: `outputs` lists no topic");
    assert_eq!(
        without("expected"),
        "run1: there is nothing to compare with"
    );
    for (more, reason) in [
        ("rate: 0\n", "run1: rate: invalid playback rate 0"),
        (
            "inputs: {topics: [/pose]}\n",
            "run1: /pose is an input and an output",
        ),
        (
            "pace: wait_acked\nlockstep: {topic: /pose}\n",
            "run1: `lockstep` has no effect",
        ),
        (
            "compare: {allow: [everything]}\n",
            "is not one of topics, types, qos",
        ),
        (
            "compare: {within: 5ms}\n",
            "run1: compare.within has no effect with align: auto",
        ),
        ("compare: {tolerances: [speed]}\n", "invalid rule \"speed\""),
        (
            "name: x\n",
            "`name` and `repeat` belong to an entry of `runs`",
        ),
        (
            "runs: [{name: ../x}]\n",
            "the name of a run has letters, digits",
        ),
        ("runs: [{name: x}, {name: x}]\n", "two runs have the name x"),
        (
            "runs: [{name: x, jobs: 2}]\n",
            "belong to the top of the plan",
        ),
        ("jobs: 0\n", "jobs: expected 1 or more"),
    ] {
        let (found, _) = refused(&format!("{PLAN}{more}"));
        assert!(found.contains(reason), "{more}: {found}");
    }
    let missing = parse(&format!("{PLAN}contract: nowhere.yaml\n"));
    assert!(matches!(missing, Err(Error::File { .. })), "{missing:?}");
    let nowhere = Plan::read(Path::new("/nowhere/plan.yaml"));
    assert!(
        matches!(nowhere, Err(Error::File { path, .. }) if path == Path::new("/nowhere/plan.yaml"))
    );
}
