use serde::Serialize;

use super::evidence::Evidence;
use crate::moment::Moment;

/// The messages from a source to a target along one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// The messages, starting at the source.
    pub steps: Vec<FlowStep>,
}

impl Flow {
    /// The time from the publication of the source to that of each step: by the steady clock if all steps have one,
    /// else by ROS time. `None` if it is negative, because clocks differ.
    pub fn elapsed_ns(&self) -> Vec<Option<u64>> {
        let has_steady = self
            .steps
            .iter()
            .all(|step| !step.published.steady.is_zero());
        let nanos = |step: &FlowStep| {
            if has_steady {
                step.published.steady.nanos()
            } else {
                step.published.ros.nanos()
            }
        };
        let start = self.steps.first().map_or(0, nanos);
        let since = |step| u64::try_from(nanos(step).saturating_sub(start)).ok();
        self.steps.iter().map(since).collect()
    }
}

/// A message of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowStep {
    /// Its topic.
    pub topic: String,
    /// The node that published it; empty if it is not known.
    pub node: String,
    /// Its stamp in nanoseconds.
    pub stamp_ns: Option<i64>,
    /// The time at which that node received the step before; unknown for the source.
    pub received: Moment,
    /// The time of its publication.
    pub published: Moment,
    /// The evidence of the link to the step before.
    pub evidence: Option<Evidence>,
}
