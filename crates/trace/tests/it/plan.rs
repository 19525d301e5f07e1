//! Plans: budgets held against a report.

use timeloom_time::Duration;
use timeloom_trace::{EngineOptions, Plan, Verdict};

use crate::world::World;

const PLAN: &str = "
paths:
  - name: a to c
    from: /a
    to: /c
    via: [/b]
    latency: {p50: 30ms, max: 40ms}
    worst: {max: 1s}
    reaction: {max: 150ms}
    age: {p99: 40ms}
    deadline: 35ms
    misses: 1
    lost: 0
    count: 10
targets: [/c]
";

/// Ten cycles of `/a`, `/b`, `/c`; each takes 30 ms, the last one longer.
fn verdicts(plan: &str, last_ms: i64) -> Vec<Verdict> {
    let plan = Plan::parse(plan).unwrap();
    let mut options = EngineOptions::default();
    plan.apply(&mut options);
    let mut world = World::new(options);
    for cycle in 1..=10 {
        let at = cycle * 100;
        let end = if cycle == 10 { last_ms } else { 30 };
        world.tag("/a", at, at, &[]);
        world.tag("/b", at, at + 10, &[("/a", at, at + 2)]);
        world.tag("/c", at, at + end, &[("/b", at, at + 12)]);
    }
    let report = world.engine.report();
    let checks = plan.budgets.iter().map(|budget| budget.check(&report));
    checks.flatten().collect()
}

fn missed(verdicts: &[Verdict]) -> Vec<&str> {
    let missed = verdicts.iter().filter(|verdict| !verdict.kept);
    missed.map(|verdict| verdict.what.as_str()).collect()
}

#[test]
fn each_limit_has_a_verdict() {
    let verdicts = verdicts(PLAN, 30);
    let what: Vec<_> = verdicts.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(
        what,
        [
            "flows",
            "latency p50",
            "latency max",
            "worst case max",
            "reaction max",
            "data age p99",
            "misses of 35.0 ms",
            "lost or stuck",
        ]
    );
    assert_eq!(missed(&verdicts), [""; 0]);
    assert_eq!(verdicts[1].path, "/a → /b → /c");
    assert_eq!(
        (verdicts[1].allowed.as_str(), verdicts[1].actual.as_str()),
        ("≤ 30.0 ms", "30.0 ms")
    );
}

#[test]
fn one_slow_message_breaks_what_counts_it() {
    let verdicts = verdicts(PLAN, 60);
    assert_eq!(
        missed(&verdicts),
        ["latency max", "reaction max", "data age p99"]
    );
    // One miss is allowed; none is not.
    let strict = PLAN.replace("misses: 1", "misses: 0");
    assert!(missed(&self::verdicts(&strict, 60)).contains(&"misses of 35.0 ms"));
}

#[test]
fn a_path_that_is_not_there_is_missed() {
    let elsewhere = PLAN.replace("via: [/b]", "via: [/x]");
    assert_eq!(missed(&verdicts(&elsewhere, 30)), ["flows"]);
    let unknown = PLAN.replace("from: /a", "from: /nobody");
    assert_eq!(missed(&verdicts(&unknown, 30)), ["flows"]);
}

#[test]
fn a_deadline_of_zero_is_none() {
    let none = PLAN.replace("deadline: 35ms", "deadline: 0");
    let verdicts = verdicts(&none, 60);
    assert!(
        !verdicts
            .iter()
            .any(|verdict| verdict.what.starts_with("misses"))
    );
}

#[test]
fn hosts_become_clocks() {
    let plan =
        Plan::parse("hosts: {arm: {nodes: [/arm, /hand], offset: -1.5ms, bound: 200us}}").unwrap();
    let mut options = EngineOptions::default();
    plan.apply(&mut options);
    let host = &options.domains[0];
    assert_eq!((host.name.as_str(), host.nodes.len()), ("arm", 2));
    assert_eq!(host.offset, Some(Duration::from_micros(-1500)));
    assert_eq!(host.bound, Some(Duration::from_micros(200)));
}
