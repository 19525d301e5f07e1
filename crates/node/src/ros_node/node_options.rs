use std::collections::BTreeMap;

use timeloom_time::TimeHubOptions;

use super::remap::Remap;
use super::rosout::Severity;
use super::time_source_choice::TimeSourceChoice;
use timeloom_msg::ParameterValue;

/// The options of a [`RosNode`](crate::RosNode).
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, named where they are set"
)]
pub struct NodeOptions {
    /// The name, before remapping.
    pub name: String,
    /// The namespace, before remapping; empty is `/`, and the leading slash may be left out.
    pub namespace: String,
    /// Remap rules; the first that matches applies.
    pub remaps: Vec<Remap>,
    /// Whether time is taken from `/clock`; a parameter `use_sim_time` below overrides it.
    pub use_sim_time: bool,
    /// The source of simulated time; a parameter `sim_time_source` below overrides it.
    pub time_source: TimeSourceChoice,
    /// The handling of time samples; a parameter `sim_time_conflict` below (`follow_both` or `follow_first`) overrides
    /// the policy for two publishers.
    pub time_hub: TimeHubOptions,
    /// Parameters that the node has from its start; all of them are declared.
    pub parameters: BTreeMap<String, ParameterValue>,
    /// Whether [`log`](crate::RosNode::log) publishes on `/rosout`.
    pub rosout: bool,
    /// The lowest severity that [`log`](crate::RosNode::log) passes on.
    pub log_level: Severity,
    /// Whether parameters can be seen and changed from outside.
    pub parameter_services: bool,
    /// Whether the node has `~/get_type_description`.
    pub type_description: bool,
}

impl NodeOptions {
    /// The defaults of a ROS node: with everything that other nodes expect, on the machine's time.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            namespace: "/".to_owned(),
            remaps: Vec::new(),
            use_sim_time: false,
            time_source: TimeSourceChoice::Default,
            time_hub: TimeHubOptions::default(),
            parameters: BTreeMap::new(),
            rosout: true,
            log_level: Severity::Info,
            parameter_services: true,
            type_description: true,
        }
    }
}
