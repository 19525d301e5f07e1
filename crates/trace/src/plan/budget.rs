use serde::Serialize;
use timeloom_time::Duration;

use super::span_text;
use crate::analysis::{PathReport, Report, Summary};

/// What a path may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What people call it.
    pub name: String,
    /// The source.
    pub from: String,
    /// The target.
    pub to: String,
    /// Topics in between, in order; empty means every path from source to target.
    pub via: Vec<String>,
    /// End to end, best case.
    pub latency: Limits,
    /// End to end, worst case.
    pub worst: Limits,
    /// Reaction time.
    pub reaction: Limits,
    /// Age of the data.
    pub age: Limits,
    /// What no single message may take.
    pub deadline: Option<Duration>,
    /// How often the deadline may be missed.
    pub misses: u64,
    /// How many of the source's messages may be lost or stuck; none means any number.
    pub lost: Option<u64>,
    /// How many flows there must be at least.
    pub count: u64,
}

/// Limits of a distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Of the median.
    pub p50: Option<Duration>,
    /// Of nine in ten.
    pub p90: Option<Duration>,
    /// Of 99 in a hundred.
    pub p99: Option<Duration>,
    /// Of 999 in a thousand.
    pub p999: Option<Duration>,
    /// Of all.
    pub max: Option<Duration>,
    /// Of the average.
    pub mean: Option<Duration>,
}

/// Whether one limit was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The budget.
    pub budget: String,
    /// Which path, as topics with arrows; empty where it is about all.
    pub path: String,
    /// Which limit.
    pub what: String,
    /// What was allowed.
    pub allowed: String,
    /// What was.
    pub actual: String,
    /// Whether it was kept.
    pub kept: bool,
}

impl Budget {
    /// Holds the report against this budget: one verdict for each limit and path, the worst of each limit first.
    pub fn check(&self, report: &Report) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        let paths: Vec<_> = self.paths(report).collect();
        let flows: u64 = paths.iter().map(|path| path.best.count).max().unwrap_or(0);
        verdicts.push(Verdict {
            budget: self.name.clone(),
            path: String::new(),
            what: "flows".into(),
            allowed: format!("≥ {}", self.count),
            actual: flows.to_string(),
            kept: flows >= self.count,
        });
        for path in &paths {
            let names = path.topics.join(" → ");
            let mut check = |what: &str, limits: &Limits, summary: &Summary| {
                verdicts.extend(self.check_limits(&names, what, limits, summary));
            };
            check("latency", &self.latency, &path.best);
            check("worst case", &self.worst, &path.worst);
            check("reaction", &self.reaction, &path.reaction);
            check("data age", &self.age, &path.data_age);
            if path.suspicious > 0 {
                verdicts.push(Verdict {
                    budget: self.name.clone(),
                    path: names,
                    what: "latencies that no clock explains".into(),
                    allowed: "0".into(),
                    actual: path.suspicious.to_string(),
                    kept: false,
                });
            }
        }
        verdicts.extend(self.check_deadline(report));
        verdicts.extend(self.check_lost(report));
        verdicts
    }

    fn paths<'a>(&'a self, report: &'a Report) -> impl Iterator<Item = &'a PathReport> {
        let all = report.targets.iter().flat_map(|target| &target.paths);
        all.filter(|path| self.covers(&path.topics))
    }

    fn covers(&self, topics: &[String]) -> bool {
        let mut rest = topics.iter();
        topics.first() == Some(&self.from)
            && topics.last() == Some(&self.to)
            && self.via.iter().all(|via| rest.any(|topic| topic == via))
    }

    fn check_limits(
        &self,
        path: &str,
        what: &str,
        limits: &Limits,
        summary: &Summary,
    ) -> Vec<Verdict> {
        let pairs = [
            ("p50", limits.p50, summary.p50_ns),
            ("p90", limits.p90, summary.p90_ns),
            ("p99", limits.p99, summary.p99_ns),
            ("p99.9", limits.p999, summary.p999_ns),
            ("max", limits.max, summary.max_ns),
            ("mean", limits.mean, summary.mean_ns),
        ];
        let verdicts = pairs.into_iter().filter_map(|(name, limit, actual)| {
            let allowed = u64::try_from(limit?.nanos()).unwrap_or(0);
            Some(Verdict {
                budget: self.name.clone(),
                path: path.to_owned(),
                what: format!("{what} {name}"),
                allowed: format!("≤ {}", span_text(allowed)),
                actual: span_text(actual),
                kept: actual <= allowed,
            })
        });
        verdicts.collect()
    }

    fn check_deadline(&self, report: &Report) -> Option<Verdict> {
        self.deadline.filter(|limit| *limit > Duration::ZERO)?;
        let deadline = report.deadlines.iter().find(|one| one.name == self.name)?;
        let missed = deadline.missed + deadline.missed_by_late_link + deadline.missed_by_timer;
        Some(Verdict {
            budget: self.name.clone(),
            path: String::new(),
            what: format!("misses of {}", span_text(deadline.limit_ns)),
            allowed: format!("≤ {}", self.misses),
            actual: missed.to_string(),
            kept: missed <= self.misses,
        })
    }

    fn check_lost(&self, report: &Report) -> Option<Verdict> {
        let allowed = self.lost?;
        let target = report.targets.iter().find(|target| target.topic == self.to);
        let outcomes = target
            .and_then(|target| {
                target
                    .sources
                    .iter()
                    .find(|source| source.topic == self.from)
            })
            .map(|source| &source.outcomes)?;
        let lost = outcomes.lost_in_transport
            + outcomes.lost_in_recorder
            + outcomes.partial
            + outcomes.no_tag
            + outcomes.expired;
        Some(Verdict {
            budget: self.name.clone(),
            path: String::new(),
            what: "lost or stuck".into(),
            allowed: format!("≤ {allowed}"),
            actual: lost.to_string(),
            kept: lost <= allowed,
        })
    }
}
