use serde::Serialize;

use super::evidence::Evidence;
use crate::moment::Moment;

/// One message on its way from a source to a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// The messages, the source's first.
    pub steps: Vec<FlowStep>,
}

/// A message of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowStep {
    /// Its topic.
    pub topic: String,
    /// The node that published it; empty when it is not known.
    pub node: String,
    /// Its stamp in nanoseconds.
    pub stamp_ns: Option<i64>,
    /// When that node received the step before; unknown for the source.
    pub received: Moment,
    /// When it was published.
    pub published: Moment,
    /// How the link to the step before is known.
    pub evidence: Option<Evidence>,
}
