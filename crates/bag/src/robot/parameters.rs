//! The parameters of a robot's nodes while it was recorded: values at the start, and every change.

mod text;

use std::collections::BTreeMap;

use timeloom_msg::ParameterValue;

use super::{RobotState, StatePart};
use crate::Result;
use crate::bag::TimeMap;

/// The version of the text that is written. A reader refuses a later one.
const VERSION: u32 = 1;

/// A value of a parameter, from one log time on.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterEntry {
    /// Log time at which the recorder heard of it.
    pub time_ns: i64,
    /// The value; `None` when the parameter was deleted.
    pub value: Option<ParameterValue>,
}

/// One parameter of a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RobotParameter {
    /// Whether the node refuses changes of it.
    pub read_only: bool,
    /// The description of the node; empty without one.
    pub description: String,
    /// The values, oldest first.
    pub history: Vec<ParameterEntry>,
}

impl RobotParameter {
    /// The last value; `None` when it was deleted.
    pub fn last(&self) -> Option<&ParameterValue> {
        self.history.last()?.value.as_ref()
    }

    /// The value at a log time; before the first one that is known, the first.
    pub fn at(&self, log_time_ns: i64) -> Option<&ParameterValue> {
        let later = self
            .history
            .partition_point(|entry| entry.time_ns <= log_time_ns);
        self.history.get(later.saturating_sub(1))?.value.as_ref()
    }

    /// Adds an entry at its time, unless it says nothing new.
    fn add(&mut self, entry: ParameterEntry) {
        let place = self
            .history
            .partition_point(|known| known.time_ns <= entry.time_ns);
        let before = place.checked_sub(1).and_then(|at| self.history.get(at));
        if before.is_none_or(|before| before.value != entry.value) {
            self.history.insert(place, entry);
        }
    }
}

/// The parameters of one node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodeParameters {
    /// Log time at which the node was asked, or first heard of.
    pub asked_ns: i64,
    /// The reason why the initial values are unknown; `None` when the node answered.
    pub unanswered: Option<String>,
    /// Log time at which the node went; `None` when it was there until the end.
    pub gone_ns: Option<i64>,
    /// Its parameters by name.
    pub parameters: BTreeMap<String, RobotParameter>,
}

impl NodeParameters {
    /// Adds a value of a parameter; one that is known already is not added twice.
    pub fn add(&mut self, name: &str, entry: ParameterEntry) {
        self.parameters
            .entry(name.to_owned())
            .or_default()
            .add(entry);
    }

    fn update(&mut self, later: &Self) {
        self.asked_ns = self.asked_ns.min(later.asked_ns);
        self.unanswered.clone_from(&later.unanswered);
        self.gone_ns = later.gone_ns;
        for (name, parameter) in &later.parameters {
            let known = self.parameters.entry(name.clone()).or_default();
            known.read_only |= parameter.read_only;
            if known.description.is_empty() {
                known.description.clone_from(&parameter.description);
            }
            for entry in &parameter.history {
                known.add(entry.clone());
            }
        }
    }
}

/// The parameters of all nodes that a recorder asked or heard of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RobotParameters {
    /// By the full name of the node.
    pub nodes: BTreeMap<String, NodeParameters>,
}

impl RobotState for RobotParameters {
    const PART: StatePart = StatePart::Parameters;

    fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn to_yaml(&self) -> String {
        text::emit(self)
    }

    fn parse(text: &str) -> Result<Self> {
        text::parse(text)
    }

    fn retime(&mut self, times: &dyn TimeMap) {
        for node in self.nodes.values_mut() {
            node.asked_ns = times.map(node.asked_ns);
            node.gone_ns = node.gone_ns.map(|time| times.map(time));
            let parameters = node.parameters.values_mut();
            for entry in parameters.flat_map(|parameter| &mut parameter.history) {
                entry.time_ns = times.map(entry.time_ns);
            }
        }
    }

    fn update(&mut self, later: &Self) {
        for (name, node) in &later.nodes {
            match self.nodes.get_mut(name) {
                Some(known) => known.update(node),
                None => {
                    self.nodes.insert(name.clone(), node.clone());
                }
            }
        }
    }

    /// A node that both recordings saw was there while either saw it, and answered if it answered one of them.
    fn unite(&mut self, other: &Self) {
        for (name, node) in &other.nodes {
            let Some(known) = self.nodes.get_mut(name) else {
                self.nodes.insert(name.clone(), node.clone());
                continue;
            };
            let gone = known
                .gone_ns
                .and_then(|known| Some(known.max(node.gone_ns?)));
            let unanswered = known
                .unanswered
                .clone()
                .and_then(|reason| node.unanswered.as_ref().map(|_| reason));
            known.update(node);
            known.gone_ns = gone;
            known.unanswered = unanswered;
        }
    }

    /// Nodes that are there, with the last values.
    fn forget_past(&mut self) {
        self.nodes.retain(|_, node| node.gone_ns.is_none());
        for node in self.nodes.values_mut() {
            node.parameters
                .retain(|_, parameter| parameter.last().is_some());
            for parameter in node.parameters.values_mut() {
                let past = parameter.history.len().saturating_sub(1);
                parameter.history.drain(..past);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(time_ns: i64, value: Option<i64>) -> ParameterEntry {
        ParameterEntry {
            time_ns,
            value: value.map(ParameterValue::Integer),
        }
    }

    fn robot(entries: &[ParameterEntry]) -> RobotParameters {
        let mut node = NodeParameters {
            asked_ns: 10,
            ..NodeParameters::default()
        };
        for entry in entries {
            node.add("rate", entry.clone());
        }
        RobotParameters {
            nodes: [("/talker".to_owned(), node)].into_iter().collect(),
        }
    }

    fn history(robot: &RobotParameters) -> &[ParameterEntry] {
        &robot.nodes["/talker"].parameters["rate"].history
    }

    #[test]
    fn files_of_one_recording_give_one_history() {
        let mut whole = robot(&[entry(10, Some(1)), entry(20, Some(2))]);
        let mut next = whole.clone();
        next.forget_past();
        assert_eq!(history(&next), [entry(20, Some(2))]);
        next.update(&robot(&[entry(30, None)]));
        whole.update(&next);
        let all = [entry(10, Some(1)), entry(20, Some(2)), entry(30, None)];
        assert_eq!(history(&whole), all);
        let rate = &whole.nodes["/talker"].parameters["rate"];
        let at = [5, 10, 25, 30].map(|time| rate.at(time).cloned());
        let one = Some(ParameterValue::Integer(1));
        assert_eq!(at, [one.clone(), one, Some(2_i64.into()), None]);
        whole.forget_past();
        assert!(whole.nodes["/talker"].parameters.is_empty());
    }

    #[test]
    fn a_node_that_went_is_not_in_the_next_file() {
        let mut robot = robot(&[entry(10, Some(1))]);
        let mut gone = robot.clone();
        gone.nodes.get_mut("/talker").unwrap().gone_ns = Some(40);
        robot.update(&gone);
        robot.forget_past();
        assert!(robot.is_empty());
    }

    #[test]
    fn a_node_answered_if_it_answered_one_of_two_recorders() {
        let mut a = robot(&[]);
        a.nodes.get_mut("/talker").unwrap().unanswered = Some("no answer".into());
        let b = robot(&[entry(10, Some(1))]);
        a.unite(&b);
        assert_eq!(a.nodes["/talker"].unanswered, None);
        assert_eq!(history(&a), [entry(10, Some(1))]);
    }
}
