use serde::Serialize;
use timeloom_time::Duration;

use super::budget_reason::{counted, loss_causes, miss_causes, slowest_hop};
use super::span_text;
use crate::analysis::{PathReport, Report, Summary};

/// The limits of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Its name.
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
    /// The longest duration of any single message.
    pub deadline: Option<Duration>,
    /// Number of misses of the deadline that are allowed.
    pub misses: u64,
    /// Number of the source's messages that may be lost or stuck; `None` means any number.
    pub lost: Option<u64>,
    /// The least number of flows.
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

/// The verdict on one limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The budget.
    pub budget: String,
    /// The path, as topics with arrows; empty if it concerns all.
    pub path: String,
    /// The limit.
    pub what: String,
    /// The allowed value.
    pub allowed: String,
    /// The actual value.
    pub actual: String,
    /// Whether it was kept.
    pub kept: bool,
    /// The reason why it was not kept; empty if it was.
    pub reason: String,
}

impl Budget {
    /// Checks the report against this budget: one verdict for each limit and path. A limit without a measurement is not
    /// kept, and every verdict that is not kept has a reason.
    pub fn check(&self, report: &Report) -> Vec<Verdict> {
        let paths: Vec<_> = self.paths(report).collect();
        let with_flows = paths.iter().filter(|path| path.best.count > 0);
        let with_flows: Vec<_> = with_flows.collect();
        let flows = paths.iter().map(|path| path.best.count).max().unwrap_or(0);
        let mut verdicts = vec![self.verdict(
            "flows",
            &format!("≥ {}", self.count),
            flows.to_string(),
            (flows < self.count).then(|| self.why_few_flows(report, flows)),
        )];
        for path in &with_flows {
            verdicts.extend(self.check_path(path));
        }
        if with_flows.is_empty() {
            let why = self.why_no_flow(report);
            for (what, limits) in self.distributions() {
                for (name, limit) in limits.all() {
                    let what = format!("{what} {name}");
                    let actual = "-".to_owned();
                    verdicts.push(self.verdict(&what, &allowed(limit), actual, Some(why.clone())));
                }
            }
        }
        verdicts.extend(self.check_deadline(report));
        verdicts.extend(self.check_lost(report));
        verdicts
    }

    /// The paths and segments of the budget.
    pub(super) fn paths<'a>(&'a self, report: &'a Report) -> impl Iterator<Item = &'a PathReport> {
        let targets = report.targets.iter();
        let all = targets.flat_map(|target| target.paths.iter().chain(&target.segments));
        all.filter(|path| self.covers(&path.topics))
    }

    fn covers(&self, topics: &[String]) -> bool {
        let mut rest = topics.iter();
        topics.first() == Some(&self.from)
            && topics.last() == Some(&self.to)
            && self.via.iter().all(|via| rest.any(|topic| topic == via))
    }

    fn distributions(&self) -> [(&'static str, &Limits); 4] {
        [
            ("latency", &self.latency),
            ("worst case", &self.worst),
            ("reaction", &self.reaction),
            ("data age", &self.age),
        ]
    }

    fn verdict(
        &self,
        what: &str,
        allowed: &str,
        actual: String,
        reason: Option<String>,
    ) -> Verdict {
        Verdict {
            budget: self.name.clone(),
            path: String::new(),
            what: what.to_owned(),
            allowed: allowed.to_owned(),
            actual,
            kept: reason.is_none(),
            reason: reason.unwrap_or_default(),
        }
    }

    fn check_path(&self, path: &PathReport) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        let summaries = [&path.best, &path.worst, &path.reaction, &path.data_age];
        for ((what, limits), summary) in self.distributions().into_iter().zip(summaries) {
            for (name, limit) in limits.all() {
                verdicts.push(self.check_limit(
                    path,
                    &format!("{what} {name}"),
                    limit,
                    name,
                    summary,
                ));
            }
        }
        if path.suspicious > 0 {
            let reason =
                "negative latencies or a clock jump: `timeloom trace report` names the hosts";
            verdicts.push(self.verdict(
                "suspicious latencies",
                "0",
                path.suspicious.to_string(),
                Some(reason.to_owned()),
            ));
        }
        let names = path.topics.join(" → ");
        for verdict in &mut verdicts {
            verdict.path.clone_from(&names);
        }
        verdicts
    }

    fn check_limit(
        &self,
        path: &PathReport,
        what: &str,
        limit: Duration,
        name: &str,
        summary: &Summary,
    ) -> Verdict {
        let most = u64::try_from(limit.nanos()).unwrap_or(0);
        if summary.count == 0 {
            let reason = format!("needs 2 flows, found {}", counted(path.best.count, "flow"));
            return self.verdict(what, &allowed(limit), "-".to_owned(), Some(reason));
        }
        let actual = match name {
            "p50" => summary.p50_ns,
            "p90" => summary.p90_ns,
            "p99" => summary.p99_ns,
            "p99.9" => summary.p999_ns,
            "mean" => summary.mean_ns,
            _ => summary.max_ns,
        };
        let reason = (actual > most).then(|| slowest_hop(path));
        self.verdict(what, &allowed(limit), span_text(actual), reason)
    }

    fn check_deadline(&self, report: &Report) -> Option<Verdict> {
        let limit = self.deadline.filter(|limit| *limit > Duration::ZERO)?;
        let what = format!(
            "misses of {}",
            span_text(u64::try_from(limit.nanos()).unwrap_or(0))
        );
        let most = format!("≤ {}", self.misses);
        let deadline = report.deadlines.iter().find(|one| {
            let ends = one.source.as_ref() == Some(&self.from) && one.target == self.to;
            one.name == self.name && ends && one.via == self.via
        });
        let has_path = self.paths(report).next().is_some();
        let deadline = deadline.filter(|deadline| deadline.checked > 0 && has_path);
        let Some(deadline) = deadline else {
            let why = self.why_no_flow(report);
            return Some(self.verdict(&what, &most, "-".to_owned(), Some(why)));
        };
        let missed = deadline.missed + deadline.missed_by_late_link + deadline.missed_by_timer;
        let reason = (missed > self.misses).then(|| miss_causes(deadline));
        Some(self.verdict(&what, &most, missed.to_string(), reason))
    }

    fn check_lost(&self, report: &Report) -> Option<Verdict> {
        let allowed = self.lost?;
        let most = format!("≤ {allowed}");
        let what = "lost or stuck";
        let target = report.targets.iter().find(|target| target.topic == self.to);
        let sources = target.into_iter();
        let mut sources = sources.flat_map(|it| it.sources.iter().chain(&it.segment_sources));
        let source = sources.find(|source| source.topic == self.from);
        let has_path = self.paths(report).next().is_some();
        let Some(source) = source.filter(|_| has_path) else {
            let why = self.why_no_flow(report);
            return Some(self.verdict(what, &most, "-".to_owned(), Some(why)));
        };
        let outcomes = &source.outcomes;
        let lost = outcomes.lost_in_transport
            + outcomes.lost_in_recorder
            + outcomes.partial
            + outcomes.no_tag
            + outcomes.expired;
        let reason = (lost > allowed).then(|| loss_causes(outcomes));
        Some(self.verdict(what, &most, lost.to_string(), reason))
    }
}

impl Limits {
    /// The limits that are set, by name.
    fn all(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        let all = [
            ("p50", self.p50),
            ("p90", self.p90),
            ("p99", self.p99),
            ("p99.9", self.p999),
            ("max", self.max),
            ("mean", self.mean),
        ];
        all.into_iter()
            .filter_map(|(name, limit)| Some((name, limit?)))
    }
}

fn allowed(limit: Duration) -> String {
    format!("≤ {}", span_text(u64::try_from(limit.nanos()).unwrap_or(0)))
}
