//! Lineage: the latencies in the bag against the robot's own stopwatch.

use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

use crate::Failure;
use crate::claim::{Chapter, Claim, Table, quantile, span};
use crate::recording::timeloom;
use crate::truth::Truth;

/// From the sensor to what the robot does.
const WAY: [&str; 4] = ["/scan", "/scan_filtered", "/odometry", "/plan"];

pub(crate) fn check(bag: &Path, directory: &Path, truth: &Truth) -> Result<Chapter, Failure> {
    let report = report(bag, directory)?;
    let target = entries(&report, "targets").find(|target| target["topic"] == "/plan");
    let target = target.ok_or("no lineage of /plan in the bag")?;
    let mut table = Table {
        head: vec!["path", "p50", "p99", "most", "flows"],
        rows: Vec::new(),
    };
    let mut way = None;
    for path in entries(target, "paths") {
        let topics: Vec<&str> = entries(path, "topics").filter_map(Json::as_str).collect();
        let best = &path["best"];
        let of = |name: &str| best[name].as_i64().unwrap_or(-1);
        table.rows.push(vec![
            topics.join(" → "),
            span(of("p50_ns")),
            span(of("p99_ns")),
            span(of("max_ns")),
            of("count").to_string(),
        ]);
        if topics == WAY {
            way = Some(of("p50_ns"));
        }
    }
    let mut really: Vec<i64> = truth
        .of("/plan")
        .iter()
        .filter_map(|plan| plan.truth_ns)
        .collect();
    let really = quantile(&mut really, 0.5);
    let reported = way.unwrap_or(0);
    let mut claims = vec![
        Claim::new(
            way.is_some(),
            format!("the whole way is known: {}", WAY.join(" → ")),
        ),
        Claim::new(
            (reported - really).abs() <= really / 5,
            format!(
                "it takes {}; the robot's own stopwatch says {}",
                span(reported),
                span(really)
            ),
        ),
    ];
    claims.extend(without_tags(bag, &report, directory)?);
    for source in entries(target, "sources") {
        claims.push(outcomes(source, truth)?);
    }
    Ok(Chapter {
        title: "Lineage: which inputs made a plan, and how late it was",
        table,
        claims,
    })
}

/// The paths found without tags, by the recorded graph.
fn without_tags(bag: &Path, by_tags: &Json, directory: &Path) -> Result<[Claim; 2], Failure> {
    let output = directory.join("lineage_without_tags.json");
    let run = Command::new(timeloom()?)
        .args([
            "trace", "report", "--links", "graph", "--format", "json", "-o",
        ])
        .args([&output, bag])
        .output()?;
    if !run.status.success() {
        let said = String::from_utf8_lossy(&run.stderr);
        return Err(format!("timeloom trace report --links graph: {said}").into());
    }
    let found: Json = serde_json::from_str(&std::fs::read_to_string(output)?)?;
    let edges = |report: &Json| -> Vec<String> {
        entries(report, "hops")
            .map(|hop| format!("{} → {}", hop["from"], hop["to"]).replace('"', ""))
            .collect()
    };
    let (inferred, tagged) = (edges(&found), edges(by_tags));
    let wrong: Vec<_> = inferred.iter().filter(|it| !tagged.contains(it)).collect();
    let way = WAY.windows(2).map(|hop| hop.join(" → "));
    let missing: Vec<_> = way.filter(|hop| !inferred.contains(hop)).collect();
    Ok([
        Claim::new(
            missing.is_empty(),
            format!(
                "without tags, the recorded graph gives the same path{}",
                but(&missing)
            ),
        ),
        Claim::new(
            wrong.is_empty(),
            format!("and no link that is not there{}", but(&wrong)),
        ),
    ])
}

/// The reason why a claim is wrong, if it is.
fn but(exceptions: &[impl std::fmt::Debug]) -> String {
    if exceptions.is_empty() {
        return String::new();
    }
    format!(", but for {exceptions:?}")
}

/// Whether what became of a source's messages adds up to what the robot really published.
fn outcomes(source: &Json, truth: &Truth) -> Result<Claim, Failure> {
    let topic = source["topic"].as_str().unwrap_or_default();
    let outcomes = source["outcomes"].as_object().ok_or("no outcomes")?;
    let count = |name: &str| outcomes.get(name).and_then(Json::as_u64).unwrap_or(0);
    let sum: u64 = outcomes.values().filter_map(Json::as_u64).sum();
    let published = truth.of(topic).len() as u64;
    let text = format!(
        "every message of {topic} has an outcome: of {sum}, {} reached a plan, {} only a part of the way, {} were lost",
        count("completed"),
        count("partial") + count("superseded") + count("in_flight") + count("no_tag"),
        count("lost_in_transport") + count("lost_in_recorder"),
    );
    // A loss at the very end leaves no trace.
    Ok(Claim::new(
        (published.saturating_sub(3)..=published).contains(&sum),
        text,
    ))
}

/// The report as JSON; the page is made beside it.
fn report(bag: &Path, directory: &Path) -> Result<Json, Failure> {
    let run = |format: &str, file: &str| {
        let output = directory.join(file);
        let run = Command::new(timeloom()?)
            .args(["trace", "report", "--to", "/plan", "--format", format, "-o"])
            .args([&output, bag])
            .output()?;
        if run.status.success() {
            return Ok(output);
        }
        let said = String::from_utf8_lossy(&run.stderr);
        Err(Failure::from(format!("timeloom trace report: {said}")))
    };
    run("html", "lineage.html")?;
    let text = std::fs::read_to_string(run("json", "lineage.json")?)?;
    Ok(serde_json::from_str(&text)?)
}

fn entries<'a>(of: &'a Json, name: &str) -> impl Iterator<Item = &'a Json> {
    of[name].as_array().into_iter().flatten()
}
