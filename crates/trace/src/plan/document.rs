//! The YAML of a plan.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_saphyr::Spanned;
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

type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathEntry {
    name: Option<Text>,
    from: Text,
    to: Text,
    #[serde(default)]
    via: Vec<Text>,
    latency: Option<Spanned<LimitsEntry>>,
    worst: Option<Spanned<LimitsEntry>>,
    reaction: Option<Spanned<LimitsEntry>>,
    age: Option<Spanned<LimitsEntry>>,
    deadline: Option<Text>,
    misses: Option<Spanned<u64>>,
    lost: Option<u64>,
    count: Option<Spanned<u64>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct LimitsEntry {
    p50: Option<Text>,
    p90: Option<Text>,
    p99: Option<Text>,
    p999: Option<Text>,
    max: Option<Text>,
    mean: Option<Text>,
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
    offset: Option<Text>,
    bound: Option<Text>,
    sync: Option<String>,
}

pub(super) fn parse(text: &str) -> Result<Plan, String> {
    let document: Document = if text.trim().is_empty() {
        Document::default()
    } else {
        serde_saphyr::from_str(text).map_err(|error| error.to_string())?
    };
    let budgets = budgets(document.paths)?;
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
            offset: host.offset.as_ref().map(span).transpose()?,
            bound: host.bound.as_ref().map(bound).transpose()?,
        })
    });
    Ok(Plan {
        budgets,
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

/// The budgets; names must differ, because verdicts refer to them.
fn budgets(entries: Vec<PathEntry>) -> Result<Vec<Budget>, String> {
    let mut lines: HashMap<String, u64> = HashMap::new();
    let mut budgets = Vec::new();
    for entry in entries {
        let line = entry.name.as_ref().map_or(line(&entry.from), line);
        let budget = budget(entry)?;
        if let Some(other) = lines.insert(budget.name.clone(), line) {
            let name = &budget.name;
            return Err(format!(
                "line {line}: path {name:?}: line {other} has the same name: give each a `name:` of its own"
            ));
        }
        budgets.push(budget);
    }
    Ok(budgets)
}

fn budget(entry: PathEntry) -> Result<Budget, String> {
    let name = match &entry.name {
        Some(name) if name.value.trim().is_empty() => {
            return Err(format!("line {}: the name of a path is empty", line(name)));
        }
        Some(name) => name.value.clone(),
        None => default_name(&entry),
    };
    check_topics(&name, &entry)?;
    let limits = |what: &str, entry: Option<&Spanned<LimitsEntry>>| limits(&name, what, entry);
    let wrong = |line: u64, text: &str| format!("line {line}: path {name:?}: {text}");
    let deadline = entry.deadline.as_ref();
    let deadline = deadline
        .map(|text| not_negative(text).map_err(|error| at(text, &name, &error)))
        .transpose()?;
    if let Some(misses) = &entry.misses
        && deadline.is_none_or(|deadline| deadline == Duration::ZERO)
    {
        let text = "`misses` has no effect without a `deadline`";
        return Err(wrong(misses.referenced.line(), text));
    }
    if let Some(count) = entry.count.as_ref().filter(|count| count.value == 0) {
        let text = "`count` must be at least 1: a path without flows cannot be judged";
        return Err(wrong(count.referenced.line(), text));
    }
    Ok(Budget {
        latency: limits("latency", entry.latency.as_ref())?,
        worst: limits("worst", entry.worst.as_ref())?,
        reaction: limits("reaction", entry.reaction.as_ref())?,
        age: limits("age", entry.age.as_ref())?,
        deadline,
        from: entry.from.value,
        to: entry.to.value,
        via: entry.via.into_iter().map(|topic| topic.value).collect(),
        misses: entry.misses.map_or(0, |misses| misses.value),
        lost: entry.lost,
        count: entry.count.map_or(1, |count| count.value),
        name,
    })
}

fn default_name(entry: &PathEntry) -> String {
    let via: Vec<&str> = entry.via.iter().map(|topic| topic.value.as_str()).collect();
    let (from, to) = (&entry.from.value, &entry.to.value);
    if via.is_empty() {
        format!("{from} → {to}")
    } else {
        format!("{from} → {to} via {}", via.join(", "))
    }
}

/// Topics have full names, and a path has each once.
fn check_topics(name: &str, entry: &PathEntry) -> Result<(), String> {
    let mut seen: Vec<&str> = Vec::new();
    for topic in [&entry.from, &entry.to].into_iter().chain(&entry.via) {
        let text = topic.value.as_str();
        let error = if !text.starts_with('/') || text.len() < 2 {
            format!("{text:?} is not the full name of a topic: it must begin with a slash")
        } else if seen.contains(&text) {
            format!("{text} is named twice: a path meets each topic once")
        } else {
            seen.push(text);
            continue;
        };
        return Err(at(topic, name, &error));
    }
    Ok(())
}

fn limits(name: &str, what: &str, entry: Option<&Spanned<LimitsEntry>>) -> Result<Limits, String> {
    let Some(entry) = entry else {
        return Ok(Limits::default());
    };
    let limit = |text: &Option<Text>| {
        let limit = text.as_ref().map(|text| {
            positive(text).map_err(|error| at(text, name, &format!("{what}: {error}")))
        });
        limit.transpose()
    };
    let limits = Limits {
        p50: limit(&entry.value.p50)?,
        p90: limit(&entry.value.p90)?,
        p99: limit(&entry.value.p99)?,
        p999: limit(&entry.value.p999)?,
        max: limit(&entry.value.max)?,
        mean: limit(&entry.value.mean)?,
    };
    if limits == Limits::default() {
        let line = entry.referenced.line();
        let known = "p50, p90, p99, p999, max and mean are known";
        return Err(format!(
            "line {line}: path {name:?}: `{what}` has no limit: {known}"
        ));
    }
    Ok(limits)
}

fn line(text: &Text) -> u64 {
    text.referenced.line()
}

fn at(text: &Text, name: &str, error: &str) -> String {
    format!("line {}: path {name:?}: {error}", line(text))
}

fn span(text: &Text) -> Result<Duration, String> {
    parse_span(&text.value).map_err(|error| format!("line {}: {error}", line(text)))
}

/// The error bound of a clock.
fn bound(text: &Text) -> Result<Duration, String> {
    not_negative(text).map_err(|error| format!("line {}: {error}", line(text)))
}

/// A duration that limits something.
fn positive(text: &Text) -> Result<Duration, String> {
    let span = not_negative(text)?;
    if span == Duration::ZERO {
        return Err(format!(
            "{:?} is not a valid limit: it must be greater than 0",
            text.value
        ));
    }
    Ok(span)
}

fn not_negative(text: &Text) -> Result<Duration, String> {
    let span = parse_span(&text.value)?;
    if span < Duration::ZERO {
        return Err(format!("{:?} is negative", text.value));
    }
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text).unwrap_err()
    }

    #[test]
    fn mistakes_are_named() {
        assert!(error("path: []").contains("path"), "{}", error("path: []"));
        let wrong = "paths: [{from: /a, to: /b, latency: {p99: soon}}]";
        assert!(
            error(wrong).contains("path \"/a → /b\": latency: \"soon\" is not a duration"),
            "{}",
            error(wrong)
        );
        assert!(parse("").unwrap().budgets.is_empty());
        assert!(
            error("nodes: {/n: {inputs: [/a], outputs: [/b], links: guess}}").contains("guess")
        );
    }

    #[test]
    fn nonsense_is_refused_with_its_line() {
        for (entry, words) in [
            ("deadline: -5ms", "\"-5ms\" is negative"),
            ("latency: {max: 0}", "\"0\" is not a valid limit"),
            ("reaction: {p99: -1s}", "reaction: \"-1s\" is negative"),
            ("worst: {}", "`worst` has no limit"),
            ("count: 0", "`count` must be at least 1"),
            ("misses: 3", "`misses` has no effect without a `deadline`"),
            ("via: [x]", "\"x\" is not the full name of a topic"),
            ("via: [/b]", "/b is named twice"),
            ("name: ''", "the name of a path is empty"),
        ] {
            let text = format!("paths:\n  - from: /a\n    to: /b\n    {entry}\n");
            let error = error(&text);
            assert!(
                error.starts_with("line 4: ") && error.contains(words),
                "{entry}: {error}"
            );
        }
        for entry in ["misses: -1", "lost: -1", "count: x", "max: 3ms"] {
            let text = format!("paths:\n  - from: /a\n    to: /b\n    {entry}\n");
            assert!(error(&text).contains("line 4"), "{entry}: {}", error(&text));
        }
        assert!(error("hosts: {a: {nodes: [/a], bound: -1ms}}").contains("is negative"));
    }

    #[test]
    fn names_of_budgets_differ() {
        let path = "  - {from: /a, to: /b, latency: {max: 1ms}}\n";
        let twice = error(&format!("paths:\n{path}{path}"));
        let words = "line 3: path \"/a → /b\": line 2 has the same name";
        assert!(twice.contains(words), "{twice}");
        let via = path.replace("to: /b", "to: /b, via: [/c]");
        let plan = parse(&format!("paths:\n{path}{via}")).unwrap();
        assert_eq!(plan.budgets[1].name, "/a → /b via /c");
    }
}
