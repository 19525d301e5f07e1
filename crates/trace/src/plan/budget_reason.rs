//! Reasons why a budget was not kept, as text.

use std::collections::BTreeMap;

use super::{Budget, span_text};
use crate::analysis::{DeadlineReport, Outcomes, PathReport, Report};

/// Limit of the paths in a reason.
const NAMED_PATHS: usize = 3;

impl Budget {
    /// The reason why there are fewer flows than required.
    pub(super) fn why_few_flows(&self, report: &Report, flows: u64) -> String {
        if flows == 0 {
            return self.why_no_flow(report);
        }
        let target = report.targets.iter().find(|target| target.topic == self.to);
        let Some(target) = target else {
            return String::new();
        };
        format!(
            "{} of {}, {} complete",
            counted(target.messages, "message"),
            self.to,
            target.complete
        )
    }

    /// The reason why nothing was measured.
    pub(super) fn why_no_flow(&self, report: &Report) -> String {
        let unknown = [&self.from, &self.to].into_iter().chain(&self.via);
        let unknown = unknown.filter(|topic| !report.topics.contains(topic));
        let unknown: Vec<&str> = unknown.map(String::as_str).collect();
        if !unknown.is_empty() {
            return format!("unknown topic: {}", unknown.join(", "));
        }
        let mut targets = report.targets.iter();
        let target = targets.find(|target| target.topic == self.to);
        let Some(target) = target.filter(|target| !target.sources.is_empty()) else {
            return format!("the inputs of {} are not known", self.to);
        };
        let mut sources = target.sources.iter().chain(&target.segment_sources);
        if !sources.any(|source| source.topic == self.from) {
            let all: Vec<_> = target.sources.iter().map(|it| it.topic.as_str()).collect();
            return format!(
                "{} does not lead to {}, whose sources are {}",
                self.from,
                self.to,
                all.join(", ")
            );
        }
        let between = target.paths.iter().chain(&target.segments);
        let between = between.filter(|path| path.topics.first() == Some(&self.from));
        let others: Vec<String> = between.map(|path| path.topics.join(" → ")).collect();
        let covered = self.paths(report).next().is_some();
        if !self.via.is_empty() && !covered && !others.is_empty() {
            let some: Vec<_> = others.iter().take(NAMED_PATHS).cloned().collect();
            let via = self.via.join(", ");
            return format!("no path via {via}; found {}", some.join("; "));
        }
        format!(
            "no message of {} reached {}: {} of {} complete",
            self.from, self.to, target.complete, target.messages
        )
    }
}

/// The hop that takes the most time of a path.
pub(super) fn slowest_hop(path: &PathReport) -> String {
    let slowest = path.steps.iter().max_by_key(|step| step.total_ns);
    slowest.map_or_else(String::new, |step| {
        format!(
            "slowest hop: {} → {}, {} on average",
            step.from,
            step.to,
            span_text(step.total_ns)
        )
    })
}

/// The causes of a missed deadline.
pub(super) fn miss_causes(deadline: &DeadlineReport) -> String {
    let mut causes = causes([
        ("too late", deadline.missed),
        ("too late by a late tag", deadline.missed_by_late_link),
        ("never arrived", deadline.missed_by_timer),
    ]);
    if deadline.missed_by_timer > 0 {
        causes += &hops(&deadline.ended_before, "missing on");
    }
    causes
}

/// The outcomes of the messages that were lost or stuck.
pub(super) fn loss_causes(outcomes: &Outcomes) -> String {
    let causes = causes([
        ("lost in transport", outcomes.lost_in_transport),
        ("lost in the recorder", outcomes.lost_in_recorder),
        ("partial", outcomes.partial),
        ("without tag", outcomes.no_tag),
        ("expired", outcomes.expired),
    ]);
    causes + &hops(&outcomes.missing_hops, "ended before")
}

fn causes<const N: usize>(all: [(&str, u64); N]) -> String {
    let some = all.into_iter().filter(|(_, count)| *count > 0);
    let some: Vec<String> = some
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    some.join(", ")
}

fn hops(hops: &BTreeMap<String, u64>, words: &str) -> String {
    let hops: Vec<String> = hops
        .iter()
        .map(|(hop, count)| format!("{hop} ({count})"))
        .collect();
    if hops.is_empty() {
        return String::new();
    }
    format!("; {words} {}", hops.join(", "))
}

/// A number with its noun.
pub(super) fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}
