use std::collections::BTreeMap;

use serde::Serialize;

use super::histogram::Summary;
use super::report::Report;

/// The latency of one path in two reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathChange {
    /// The topics, joined by arrows.
    pub path: String,
    /// In the first report; none if the path is new.
    pub before: Option<Summary>,
    /// In the second report; none if the path is gone.
    pub after: Option<Summary>,
    /// The ratio of the medians, after to before.
    pub p50_change: Option<f64>,
    /// The ratio of the 99th percentiles.
    pub p99_change: Option<f64>,
    /// The ratio of the maxima.
    pub max_change: Option<f64>,
}

impl PathChange {
    fn new(path: String, before: Option<Summary>, after: Option<Summary>) -> Self {
        let ratio = |of: fn(&Summary) -> u64| {
            let (before, after) = (of(before.as_ref()?), of(after.as_ref()?));
            (before > 0).then(|| after as f64 / before as f64)
        };
        Self {
            path,
            before,
            after,
            p50_change: ratio(|summary| summary.p50_ns),
            p99_change: ratio(|summary| summary.p99_ns),
            max_change: ratio(|summary| summary.max_ns),
        }
    }

    /// New and removed paths come first, then the largest ratios in either direction.
    fn weight(&self) -> f64 {
        self.p99_change.map_or(f64::MAX, |ratio| ratio.ln().abs())
    }
}

/// Compares the paths of two reports, the largest change of the 99th percentile first.
///
/// ```
/// use timeloom_trace::{Engine, EngineOptions, diff};
///
/// let mut engine = Engine::new(EngineOptions::default());
/// let (before, after) = (engine.report(), engine.report());
/// assert!(diff(&before, &after).is_empty());
/// ```
pub fn diff(before: &Report, after: &Report) -> Vec<PathChange> {
    let paths = |report: &Report| -> BTreeMap<String, Summary> {
        let all = report.targets.iter().flat_map(|target| &target.paths);
        all.map(|path| (path.topics.join(" → "), path.best))
            .collect()
    };
    let (before, mut after) = (paths(before), paths(after));
    let both = before.into_iter().map(|(path, before)| {
        let after = after.remove(&path);
        PathChange::new(path, Some(before), after)
    });
    let mut changes: Vec<_> = both.collect();
    let new = after.into_iter();
    changes.extend(new.map(|(path, after)| PathChange::new(path, None, Some(after))));
    changes.sort_by(|a, b| {
        let weight = b.weight().total_cmp(&a.weight());
        weight.then_with(|| a.path.cmp(&b.path))
    });
    changes
}
