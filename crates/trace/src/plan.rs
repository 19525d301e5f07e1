//! Plan files: budgets of paths, models of nodes, clocks of hosts.

mod budget;
mod budget_reason;
mod document;
mod span;

pub use budget::{Budget, Limits, Verdict};
pub use span::{parse_span, span_text};

use timeloom_time::Duration;

use crate::analysis::{ClockDomain, Deadline, EngineOptions};
use crate::error::{Error, Result};
use crate::infer::NodeModel;

/// The content of a plan file (`budget.yaml`).
///
/// ```
/// let plan = timeloom_trace::Plan::parse(
///     "paths:\n  - {name: lidar to brake, from: /points, to: /cmd, latency: {p99: 80ms, max: 120ms}, deadline: 100ms}\n\
///      nodes:\n  /fusion: {inputs: [/left, /right], outputs: [/points], links: stamp}\n\
///      hosts:\n  car: {nodes: [/sensing], offset: 1.5ms, bound: 200us}\n",
/// )?;
/// assert_eq!(plan.budgets[0].name, "lidar to brake");
/// assert_eq!(plan.model.nodes.len(), 1);
/// # Ok::<_, timeloom_trace::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Limits of paths.
    pub budgets: Vec<Budget>,
    /// The model of nodes without tags.
    pub model: NodeModel,
    /// Hosts with their own clocks.
    pub domains: Vec<ClockDomain>,
    /// Hosts with a report of `timeloom sync fit`, and its file; see [`set_synced`](Self::set_synced).
    pub synced_hosts: Vec<(String, String)>,
    /// See [`EngineOptions::targets`].
    pub targets: Vec<String>,
    /// See [`EngineOptions::sources`].
    pub sources: Vec<String>,
    /// See [`EngineOptions::stops`].
    pub stops: Vec<String>,
    /// See [`EngineOptions::skips`].
    pub skips: Vec<(String, String)>,
    /// See [`EngineOptions::ignored`].
    pub ignored: Vec<String>,
}

impl Plan {
    /// Reads the YAML of a plan file.
    ///
    /// # Errors
    /// When it is not YAML, has an unknown key, or an invalid budget: a negative or missing limit, a name that another
    /// budget has, a topic without its full name. The error names the line.
    pub fn parse(text: &str) -> Result<Self> {
        document::parse(text).map_err(|reason| Error::Document {
            what: "plan",
            reason,
        })
    }

    /// Sets offset and bound of a host from the JSON of `timeloom sync fit --format json`.
    ///
    /// # Errors
    /// When it is not JSON, or has no offset or bound.
    pub fn set_synced(&mut self, host: &str, report: &str) -> Result<()> {
        let invalid = |reason: String| Error::Document {
            what: "sync report",
            reason,
        };
        let report: serde_json::Value =
            serde_json::from_str(report).map_err(|error| invalid(error.to_string()))?;
        let nanos = |value: &serde_json::Value, name: &str| {
            let nanos = value.as_i64().map(Duration::from_nanos);
            nanos.ok_or_else(|| invalid(format!("there is no {name}")))
        };
        let offset = nanos(&report["offset_ns"], "offset_ns")?;
        // Older reports have no bound of the offset itself.
        let bound = match &report["offset_bound_ns"] {
            serde_json::Value::Null => {
                nanos(&report["upper_bound_ns"]["max"], "upper_bound_ns.max")?
            }
            bound => nanos(bound, "offset_bound_ns")?,
        };
        for domain in self.domains.iter_mut().filter(|domain| domain.name == host) {
            (domain.offset, domain.bound) = (Some(offset), Some(bound));
        }
        Ok(())
    }

    /// The deadlines among the budgets.
    pub fn deadlines(&self) -> Vec<Deadline> {
        let deadlines = self.budgets.iter().filter_map(|budget| {
            Some(Deadline {
                name: budget.name.clone(),
                source: Some(budget.from.clone()),
                via: budget.via.clone(),
                target: budget.to.clone(),
                limit: budget.deadline?,
            })
        });
        deadlines.collect()
    }

    /// Adds the nodes, hosts and topics of another plan, without its budgets.
    pub fn add_surroundings(&mut self, other: Self) {
        self.model.nodes.extend(other.model.nodes);
        self.domains.extend(other.domains);
        self.targets.extend(other.targets);
        self.sources.extend(other.sources);
        self.stops.extend(other.stops);
        self.skips.extend(other.skips);
        self.ignored.extend(other.ignored);
    }

    /// Adds the plan to the options of an engine.
    pub fn apply(&self, options: &mut EngineOptions) {
        options.targets.extend(self.targets.iter().cloned());
        options.sources.extend(self.sources.iter().cloned());
        options.stops.extend(self.stops.iter().cloned());
        options.skips.extend(self.skips.iter().cloned());
        options.ignored.extend(self.ignored.iter().cloned());
        options.domains.extend(self.domains.iter().cloned());
        options.deadlines.extend(self.deadlines());
        let segments = self.budgets.iter();
        let segments = segments.map(|budget| (budget.from.clone(), budget.to.clone()));
        options.segments.extend(segments);
        // A requested path ends at a target, also where other topics continue from there.
        if !options.targets.is_empty() {
            for budget in &self.budgets {
                if !options.targets.contains(&budget.to) {
                    options.targets.push(budget.to.clone());
                }
            }
        }
    }
}
