//! The YAML of a plan.

use std::collections::BTreeMap;

use serde::Deserialize;
use timeloom_time::Duration;

use super::{Budget, Limits, Plan, parse_span};
use crate::analysis::ClockDomain;
use crate::infer::{LinkRule, ModelNode, NodeModel, Origin};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Document {
    paths: Vec<PathEntry>,
    nodes: BTreeMap<String, NodeEntry>,
    hosts: BTreeMap<String, HostEntry>,
    targets: Vec<String>,
    sources: Vec<String>,
    stops: Vec<String>,
    skips: BTreeMap<String, String>,
    ignore: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathEntry {
    name: Option<String>,
    from: String,
    to: String,
    #[serde(default)]
    via: Vec<String>,
    #[serde(default)]
    latency: LimitsEntry,
    #[serde(default)]
    worst: LimitsEntry,
    #[serde(default)]
    reaction: LimitsEntry,
    #[serde(default)]
    age: LimitsEntry,
    deadline: Option<String>,
    misses: Option<u64>,
    lost: Option<u64>,
    count: Option<u64>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct LimitsEntry {
    p50: Option<String>,
    p90: Option<String>,
    p99: Option<String>,
    p999: Option<String>,
    max: Option<String>,
    mean: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeEntry {
    inputs: Vec<String>,
    outputs: Vec<String>,
    #[serde(default)]
    links: LinkRule,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostEntry {
    nodes: Vec<String>,
    offset: Option<String>,
    bound: Option<String>,
    sync: Option<String>,
}

pub(super) fn parse(text: &str) -> Result<Plan, String> {
    let document: Document = if text.trim().is_empty() {
        Document::default()
    } else {
        serde_saphyr::from_str(text).map_err(|error| error.to_string())?
    };
    let budgets = document.paths.into_iter().map(budget);
    let nodes = document.nodes.into_iter().map(|(name, node)| ModelNode {
        name,
        inputs: node.inputs,
        outputs: node.outputs,
        rule: node.links,
        origin: Origin::Declared,
    });
    let hosts = document.hosts.iter();
    let synced = hosts.filter_map(|(name, host)| Some((name.clone(), host.sync.clone()?)));
    let synced_hosts: Vec<_> = synced.collect();
    let domains = document.hosts.into_iter().map(|(name, host)| {
        Ok(ClockDomain {
            name,
            nodes: host.nodes,
            offset: span(host.offset.as_deref())?,
            bound: span(host.bound.as_deref())?,
        })
    });
    Ok(Plan {
        budgets: budgets.collect::<Result<_, String>>()?,
        model: NodeModel {
            nodes: nodes.collect(),
        },
        domains: domains.collect::<Result<_, String>>()?,
        synced_hosts,
        targets: document.targets,
        sources: document.sources,
        stops: document.stops,
        skips: document.skips.into_iter().collect(),
        ignored: document.ignore,
    })
}

fn budget(entry: PathEntry) -> Result<Budget, String> {
    let name = entry
        .name
        .unwrap_or_else(|| format!("{} → {}", entry.from, entry.to));
    let wrong = |error: String| format!("path {name:?}: {error}");
    Ok(Budget {
        latency: limits(&entry.latency).map_err(wrong)?,
        worst: limits(&entry.worst).map_err(wrong)?,
        reaction: limits(&entry.reaction).map_err(wrong)?,
        age: limits(&entry.age).map_err(wrong)?,
        deadline: span(entry.deadline.as_deref()).map_err(wrong)?,
        from: entry.from,
        to: entry.to,
        via: entry.via,
        misses: entry.misses.unwrap_or(0),
        lost: entry.lost,
        count: entry.count.unwrap_or(1),
        name,
    })
}

fn limits(entry: &LimitsEntry) -> Result<Limits, String> {
    Ok(Limits {
        p50: span(entry.p50.as_deref())?,
        p90: span(entry.p90.as_deref())?,
        p99: span(entry.p99.as_deref())?,
        p999: span(entry.p999.as_deref())?,
        max: span(entry.max.as_deref())?,
        mean: span(entry.mean.as_deref())?,
    })
}

fn span(text: Option<&str>) -> Result<Option<Duration>, String> {
    text.map(parse_span).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| parse(text).unwrap_err();
        assert!(error("path: []").contains("path"), "{}", error("path: []"));
        let wrong = "paths: [{from: /a, to: /b, latency: {p99: soon}}]";
        assert!(
            error(wrong).contains("path \"/a → /b\": \"soon\" is no duration"),
            "{}",
            error(wrong)
        );
        assert!(parse("").unwrap().budgets.is_empty());
        assert!(
            error("nodes: {/n: {inputs: [/a], outputs: [/b], links: guess}}").contains("guess")
        );
    }
}
