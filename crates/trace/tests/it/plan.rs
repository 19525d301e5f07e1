//! Plans: budgets checked against a report.

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
fn one_slow_message_breaks_the_limits_that_include_it() {
    let verdicts = verdicts(PLAN, 60);
    assert_eq!(
        missed(&verdicts),
        ["latency max", "reaction max", "data age p99"]
    );
    // One miss is allowed; none is not.
    let strict = PLAN.replace("misses: 1", "misses: 0");
    assert!(missed(&self::verdicts(&strict, 60)).contains(&"misses of 35.0 ms"));
}

/// All limits of a budget are missed, for this reason.
fn reason_of_all(plan: &str) -> String {
    let verdicts = verdicts(plan, 30);
    let mut reasons: Vec<_> = verdicts.iter().map(|one| one.reason.clone()).collect();
    assert!(verdicts.iter().all(|verdict| !verdict.kept), "{verdicts:?}");
    reasons.dedup();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    reasons.remove(0)
}

#[test]
fn a_path_that_does_not_exist_is_missed_with_its_reason() {
    for (from, to, words) in [
        ("via: [/b]", "via: [/x]", "unknown topic: /x"),
        ("from: /a", "from: /nobody", "unknown topic: /nobody"),
        ("to: /c", "to: /d", "unknown topic: /d"),
        (
            "from: /a\n    to: /c\n    via: [/b]",
            "from: /c\n    to: /b",
            "/c does not lead to /b, whose sources are /a",
        ),
        (
            "from: /a\n    to: /c\n    via: [/b]",
            "from: /b\n    to: /a",
            "the inputs of /a are not known",
        ),
    ] {
        assert_eq!(reason_of_all(&PLAN.replace(from, to)), words, "{to}");
    }
    // Another path exists.
    let side = PLAN.replace("via: [/b]", "via: [/side]");
    let plan = Plan::parse(&side).unwrap();
    let mut options = EngineOptions::default();
    plan.apply(&mut options);
    let mut world = World::new(options);
    for cycle in 1..=10 {
        let at = cycle * 100;
        world.tag("/a", at, at, &[]);
        world.tag("/b", at, at + 10, &[("/a", at, at + 2)]);
        world.tag("/side", at, at + 10, &[]);
        let inputs = [("/b", at, at + 12), ("/side", at, at + 12)];
        world.tag("/c", at, at + 30, &inputs);
    }
    let report = world.engine.report();
    let flows = &plan.budgets[0].check(&report)[0];
    assert_eq!(flows.reason, "no path via /side; found /a → /b → /c");
}

#[test]
fn each_budget_is_judged_by_itself() {
    // Two ways from /a to /d, one with the data of the cycle before: 10 and 110 ms.
    let plan = "paths:
  - {name: fast, from: /a, to: /d, via: [/b], deadline: 50ms, latency: {max: 50ms}}
  - {name: slow, from: /a, to: /d, via: [/c], deadline: 50ms, latency: {max: 50ms}}
  - {name: both, from: /a, to: /d, deadline: 50ms}
";
    let plan = Plan::parse(plan).unwrap();
    let mut options = EngineOptions::default();
    plan.apply(&mut options);
    let mut world = World::new(options);
    for cycle in 1..=10 {
        let at = cycle * 100;
        world.tag("/a", at, at, &[]);
        world.tag("/b", at, at + 5, &[("/a", at, at + 1)]);
        let inputs = [("/b", at, at + 6), ("/c", at - 100, at + 6)];
        world.tag("/d", at, at + 10, &inputs);
        world.tag("/c", at, at + 15, &[("/a", at, at + 1)]);
    }
    let report = world.engine.report();
    let check = |place: usize| plan.budgets[place].check(&report);
    assert_eq!(missed(&check(0)), [""; 0]);
    assert_eq!(missed(&check(1)), ["latency max", "misses of 50.0 ms"]);
    assert_eq!(missed(&check(2)), ["misses of 50.0 ms"]);
    let slow = check(1);
    assert_eq!(slow[1].reason, "slowest hop: /c → /d, 95.0 ms on average");
    assert_eq!(slow[2].reason, "9 too late");
}

#[test]
fn a_path_and_its_segments_are_in_one_file() {
    let plan = "paths:
  - {name: whole, from: /a, to: /c, latency: {max: 30ms}, lost: 0, deadline: 40ms}
  - {name: first, from: /a, to: /b, latency: {max: 10ms}, lost: 0, deadline: 40ms}
  - {name: last, from: /b, to: /c, latency: {max: 20ms}, reaction: {max: 120ms}, lost: 0, deadline: 40ms}
";
    let kept = verdicts(plan, 30);
    assert_eq!(missed(&kept), [""; 0]);
    let last: Vec<_> = kept.iter().filter(|one| one.budget == "last").collect();
    assert_eq!(
        (last[0].what.as_str(), last[0].actual.as_str()),
        ("flows", "10")
    );
    assert_eq!(last[1].path, "/b → /c");
    assert_eq!(last[1].actual, "20.0 ms");
    // The last message is late in its last hop.
    let slow = verdicts(plan, 60);
    let slow: Vec<_> = slow.iter().filter(|one| !one.kept).collect();
    let names: Vec<_> = slow
        .iter()
        .map(|one| (one.budget.as_str(), one.what.as_str()))
        .collect();
    assert_eq!(
        names,
        [
            ("whole", "latency max"),
            ("whole", "misses of 40.0 ms"),
            ("last", "latency max"),
            ("last", "reaction max"),
            ("last", "misses of 40.0 ms"),
        ]
    );
}

#[test]
fn a_segment_has_outcomes_of_its_own() {
    let plan = "paths: [{name: last, from: /b, to: /c, lost: 0}]";
    let plan = Plan::parse(plan).unwrap();
    let mut options = EngineOptions::default();
    plan.apply(&mut options);
    let mut world = World::new(options);
    for cycle in 1..=10 {
        let at = cycle * 100;
        world.tag("/a", at, at, &[]);
        world.tag("/b", at, at + 10, &[("/a", at, at + 2)]);
        if cycle == 4 {
            world.lose("/b");
        }
        world.tag("/c", at, at + 30, &[("/b", at, at + 12)]);
    }
    let report = world.engine.report();
    let verdicts = plan.budgets[0].check(&report);
    assert_eq!(missed(&verdicts), ["lost or stuck"]);
    assert_eq!(verdicts[1].reason, "1 lost in transport");
}

#[test]
fn a_limit_without_a_measurement_does_not_pass() {
    let plan = "paths: [{from: /a, to: /c, worst: {max: 1s}, reaction: {max: 1s}, age: {max: 1s}}]";
    let plan = Plan::parse(plan).unwrap();
    let mut world = World::new(EngineOptions::default());
    world.tag("/a", 100, 100, &[]);
    world.tag("/c", 100, 130, &[("/a", 100, 102)]);
    let verdicts = plan.budgets[0].check(&world.engine.report());
    assert_eq!(missed(&verdicts), ["worst case max", "reaction max"]);
    assert_eq!(verdicts[1].reason, "needs 2 flows, found 1 flow");
    assert_eq!(verdicts[1].actual, "-");
}

#[test]
fn a_deadline_of_zero_is_ignored() {
    let none = PLAN.replace("deadline: 35ms\n    misses: 1", "deadline: 0");
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
