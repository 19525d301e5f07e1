//! From the parameters in a bag to what must be set on the nodes of a running robot.

use std::collections::BTreeMap;

use timeloom_bag::RobotParameters;
use timeloom_msg::ParameterValue;

use crate::RemoteParameter;

/// Steers time and not the robot: a bag is played on the time of the player.
const NOT_SET: &str = "use_sim_time";

/// A parameter that has another value than in the bag.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterChange {
    /// The full name of the node.
    pub node: String,
    /// The name of the parameter.
    pub name: String,
    /// The value that it has.
    pub from: ParameterValue,
    /// The value in the bag.
    pub to: ParameterValue,
}

/// A parameter that cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterProblem {
    /// The full name of the node.
    pub node: String,
    /// The name of the parameter; empty for all of a node.
    pub name: String,
    /// Why not.
    pub reason: String,
    /// Number of parameters.
    pub count: usize,
}

/// The changes that give the nodes of a robot the parameters of a bag.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ParameterPlan {
    /// Parameters to set, by node and name.
    pub changes: Vec<ParameterChange>,
    /// Parameters that have the value of the bag.
    pub same: usize,
    /// Parameters that differ and are read-only.
    pub read_only: Vec<ParameterProblem>,
    /// Parameters and nodes of the bag that the robot does not have.
    pub absent: Vec<ParameterProblem>,
}

/// The parameters of the nodes of a running robot; a reason for those that did not answer.
pub type LiveParameters = BTreeMap<String, Result<BTreeMap<String, RemoteParameter>, String>>;

impl ParameterPlan {
    /// Compares the parameters of a bag at a log time with those of a robot. `use_sim_time` is not compared.
    pub fn new(bag: &RobotParameters, log_time_ns: i64, robot: &LiveParameters) -> Self {
        let mut plan = Self::default();
        for (node, recorded) in &bag.nodes {
            let recorded = recorded.parameters.iter().filter_map(|(name, parameter)| {
                let value = parameter.at(log_time_ns)?;
                (name != NOT_SET && *value != ParameterValue::NotSet).then_some((name, value))
            });
            let recorded: Vec<_> = recorded.collect();
            let problem = |name: &str, reason: &str, count| ParameterProblem {
                node: node.clone(),
                name: name.to_owned(),
                reason: reason.to_owned(),
                count,
            };
            let live = match robot.get(node) {
                _ if recorded.is_empty() => continue,
                Some(Ok(live)) => live,
                Some(Err(reason)) => {
                    plan.absent.push(problem("", reason, recorded.len()));
                    continue;
                }
                None => {
                    let reason = "the node is not there";
                    plan.absent.push(problem("", reason, recorded.len()));
                    continue;
                }
            };
            for (name, value) in recorded {
                match live.get(name) {
                    None => plan
                        .absent
                        .push(problem(name, "the node does not have it", 1)),
                    Some(known) if known.value == *value => plan.same += 1,
                    Some(known) if known.read_only => {
                        let reason = format!("read-only, and has the value {}", known.value);
                        plan.read_only.push(problem(name, &reason, 1));
                    }
                    Some(known) => plan.changes.push(ParameterChange {
                        node: node.clone(),
                        name: name.clone(),
                        from: known.value.clone(),
                        to: value.clone(),
                    }),
                }
            }
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use timeloom_bag::{NodeParameters, ParameterEntry};

    use super::*;

    fn recorded(values: &[(&str, i64, i64)]) -> NodeParameters {
        let mut node = NodeParameters::default();
        for (name, time_ns, value) in values {
            let value = Some(ParameterValue::Integer(*value));
            let time_ns = *time_ns;
            node.add(name, ParameterEntry { time_ns, value });
        }
        node
    }

    fn live(value: i64, read_only: bool) -> RemoteParameter {
        RemoteParameter {
            value: value.into(),
            description: String::new(),
            read_only,
        }
    }

    #[test]
    fn a_plan_has_the_differences_and_the_refusals() {
        let here = [("rate", 10, 1), ("rate", 20, 2), ("same", 10, 5)];
        let more = [("fixed", 10, 6), ("gone", 10, 7), (NOT_SET, 10, 1)];
        let bag = RobotParameters {
            nodes: [
                (
                    "/here".to_owned(),
                    recorded(&[&here[..], &more[..]].concat()),
                ),
                ("/away".to_owned(), recorded(&[("a", 10, 1), ("b", 10, 2)])),
                ("/deaf".to_owned(), recorded(&[("a", 10, 1)])),
                ("/silent".to_owned(), NodeParameters::default()),
            ]
            .into(),
        };
        let here = [
            ("rate", live(1, false)),
            ("same", live(5, false)),
            ("fixed", live(0, true)),
            (NOT_SET, live(0, false)),
        ];
        let here = here.map(|(name, parameter)| (name.to_owned(), parameter));
        let robot: LiveParameters = [
            ("/here".to_owned(), Ok(here.into())),
            ("/deaf".to_owned(), Err("no answer".to_owned())),
        ]
        .into();
        let plan = ParameterPlan::new(&bag, 25, &robot);
        let change = |to: i64| ParameterChange {
            node: "/here".into(),
            name: "rate".into(),
            from: 1_i64.into(),
            to: to.into(),
        };
        assert_eq!(plan.changes, [change(2)]);
        assert_eq!((plan.same, plan.read_only.len()), (1, 1));
        let absent: Vec<_> = plan
            .absent
            .iter()
            .map(|it| (it.node.as_str(), it.name.as_str(), it.count))
            .collect();
        assert_eq!(
            absent,
            [("/away", "", 2), ("/deaf", "", 1), ("/here", "gone", 1)]
        );
        // At the start of the bag, the rate was what it is now.
        assert_eq!(ParameterPlan::new(&bag, 0, &robot).changes, []);
    }
}
