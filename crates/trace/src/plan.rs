//! What a user expects, as a file: budgets of paths, models of nodes, clocks of hosts.

mod budget;
mod budget_reason;
mod document;
mod span;

pub use budget::{Budget, Limits, Verdict};
pub use span::{parse_span, span_text};

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
    /// What paths may take.
    pub budgets: Vec<Budget>,
    /// How nodes that do not tag make their outputs.
    pub model: NodeModel,
    /// Hosts with clocks of their own.
    pub domains: Vec<ClockDomain>,
    /// Hosts whose clock `timeloom sync` compared, and the file with its result; to be read by who reads the plan.
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
    /// When it is not YAML, has a key that is not known, or a budget that cannot be meant: a negative or missing limit, a
    /// name that another budget has, a topic without its full name. The line is named.
    pub fn parse(text: &str) -> Result<Self> {
        document::parse(text).map_err(|reason| Error::Document {
            what: "plan",
            reason,
        })
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

    /// Adds what another file says of nodes, hosts and topics; budgets stay those of this one.
    pub fn add_surroundings(&mut self, other: Self) {
        self.model.nodes.extend(other.model.nodes);
        self.domains.extend(other.domains);
        self.targets.extend(other.targets);
        self.sources.extend(other.sources);
        self.stops.extend(other.stops);
        self.skips.extend(other.skips);
        self.ignored.extend(other.ignored);
    }

    /// Adds what the plan says to the options of an engine.
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
        // A path that is asked for ends at a target, also where something else goes on from there.
        if !options.targets.is_empty() {
            for budget in &self.budgets {
                if !options.targets.contains(&budget.to) {
                    options.targets.push(budget.to.clone());
                }
            }
        }
    }
}
