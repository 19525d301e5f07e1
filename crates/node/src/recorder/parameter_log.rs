//! The parameters of the robot on their way into the bag.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use timeloom_bag::{NodeParameters, ParameterEntry, RobotParameters};
use timeloom_msg::value::{Array, Struct};
use timeloom_msg::{ParameterValue, Value};
use timeloom_time::Duration;
use timeloom_wire::{EndpointKind, Gid, GraphEvent};

use crate::RemoteParameter;
use crate::ros_node::LIST_PARAMETERS;

/// Nodes and their parameters: which are to be asked, what they answered, and what changed since the writer asked.
#[derive(Debug, Default)]
pub(super) struct ParameterLog {
    /// The recorder's own node, which is not part of the robot.
    own: String,
    /// The nodes by their list services.
    servers: BTreeMap<Gid, String>,
    /// Nodes whose list service was not seen, and since when they are there.
    without_services: BTreeMap<String, i64>,
    questions: VecDeque<String>,
    /// Nodes that did not answer: how often, and when they are asked again, in steady time.
    retries: BTreeMap<String, (usize, i64)>,
    /// Nodes that are being asked, with the parameters that changed meanwhile: the answer may be older.
    asking: BTreeMap<String, BTreeSet<String>>,
    changed: RobotParameters,
    /// The last sequence number of each publisher of events.
    sequences: BTreeMap<Gid, u64>,
}

/// Time after which a node without parameter services is listed as such.
const SERVICE_PATIENCE_NS: i64 = 2_000_000_000;
/// Delays of retries after a query without an answer.
const RETRIES: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(60)];
/// The reason of nodes that were not asked in time.
pub(super) const ENDED: &str = "the recording ended before it answered";

impl ParameterLog {
    pub(super) fn new(own: String) -> Self {
        Self {
            own,
            ..Self::default()
        }
    }

    /// Takes in an event of the graph; true if there is a new question.
    pub(super) fn apply(&mut self, event: &GraphEvent, log_time_ns: i64) -> bool {
        match event {
            GraphEvent::EndpointChanged(info)
                if info.kind == EndpointKind::Server && info.type_name == LIST_PARAMETERS =>
            {
                let node = info.topic.strip_suffix("/list_parameters");
                let Some(node) = node.filter(|node| *node != self.own) else {
                    return false;
                };
                self.without_services.remove(node);
                if self.servers.insert(info.gid, node.to_owned()).is_some() {
                    return false;
                }
                self.ask(node)
            }
            GraphEvent::EndpointRemoved(gid) => {
                if let Some(node) = self.servers.remove(gid) {
                    self.leave(&node, log_time_ns);
                }
                self.sequences.remove(gid);
                false
            }
            GraphEvent::NodeAdded(name) => {
                let node = name.full();
                // Nodes of tools are hidden and come and go.
                let is_hidden = name.name().starts_with('_');
                if !is_hidden && node != self.own && !self.has_server(&node) {
                    self.without_services.entry(node).or_insert(log_time_ns);
                }
                false
            }
            GraphEvent::NodeRemoved(name) => {
                self.without_services.remove(&name.full());
                false
            }
            _ => false,
        }
    }

    fn has_server(&self, node: &str) -> bool {
        self.servers.values().any(|known| known == node)
    }

    fn ask(&mut self, node: &str) -> bool {
        self.retries.remove(node);
        if self.questions.iter().any(|waiting| waiting == node) {
            return false;
        }
        self.questions.push_back(node.to_owned());
        true
    }

    fn leave(&mut self, node: &str, log_time_ns: i64) {
        if self.has_server(node) {
            return;
        }
        self.questions.retain(|waiting| waiting != node);
        self.retries.remove(node);
        self.entry(node, log_time_ns).gone_ns = Some(log_time_ns);
    }

    /// The node in what changed; a node that is heard of now is there.
    fn entry(&mut self, node: &str, log_time_ns: i64) -> &mut NodeParameters {
        let entry = self.changed.nodes.entry(node.to_owned());
        entry.or_insert_with(|| NodeParameters {
            asked_ns: log_time_ns,
            ..NodeParameters::default()
        })
    }

    /// The next node to ask.
    pub(super) fn next_question(&mut self, steady_ns: i64) -> Option<String> {
        let due = self
            .retries
            .iter()
            .find(|(node, (_, at))| *at <= steady_ns && !self.asking.contains_key(*node));
        let due = due.map(|(node, _)| node.clone());
        let node = if let Some(node) = self.questions.pop_front() {
            node
        } else {
            let node = due?;
            // Not again before it has answered, or not.
            if let Some((_, at)) = self.retries.get_mut(&node) {
                *at = i64::MAX;
            }
            node
        };
        self.asking.insert(node.clone(), BTreeSet::new());
        Some(node)
    }

    /// Whether there is a question now.
    pub(super) fn has_questions(&self) -> bool {
        !self.questions.is_empty()
    }

    /// Whether a node is to be asked again later.
    pub(super) fn has_retries(&self) -> bool {
        !self.retries.is_empty()
    }

    /// Takes in the answer of a node, or why there is none.
    pub(super) fn answered(
        &mut self,
        node: &str,
        answer: Result<BTreeMap<String, RemoteParameter>, String>,
        (log_time_ns, steady_ns): (i64, i64),
    ) {
        let newer = self.asking.remove(node).unwrap_or_default();
        // It went while it was asked.
        if !self.has_server(node) {
            return;
        }
        let answer = match answer {
            Ok(answer) => answer,
            Err(reason) => {
                let tries = self.retries.get(node).map_or(0, |(tries, _)| *tries);
                match RETRIES.get(tries) {
                    Some(pause) => {
                        let at = steady_ns.saturating_add(pause.nanos());
                        self.retries.insert(node.to_owned(), (tries + 1, at));
                    }
                    None => drop(self.retries.remove(node)),
                }
                self.entry(node, log_time_ns).unanswered = Some(reason);
                return;
            }
        };
        self.retries.remove(node);
        let entry = self.entry(node, log_time_ns);
        entry.unanswered = None;
        entry.gone_ns = None;
        for (name, parameter) in answer {
            if !newer.contains(&name) {
                let value = Some(parameter.value);
                let time_ns = log_time_ns;
                entry.add(&name, ParameterEntry { time_ns, value });
            }
            let known = entry.parameters.entry(name).or_default();
            known.description = parameter.description;
            known.read_only = parameter.read_only;
        }
    }

    /// Takes in a message of `/parameter_events`; true if messages before it were lost, and the node is asked again.
    pub(super) fn event(
        &mut self,
        message: &Value,
        (writer, sequence): (Gid, Option<u64>),
        log_time_ns: i64,
    ) -> bool {
        let Some(Value::String(node)) = message.get("node") else {
            return false;
        };
        let node = node.to_string_lossy().into_owned();
        if node == self.own {
            return false;
        }
        for (name, value) in changes(message) {
            if let Some(newer) = self.asking.get_mut(&node) {
                newer.insert(name.clone());
            }
            let time_ns = log_time_ns;
            let entry = self.entry(&node, log_time_ns);
            entry.add(&name, ParameterEntry { time_ns, value });
        }
        let before = sequence.and_then(|number| self.sequences.insert(writer, number));
        let lost = before
            .zip(sequence)
            .is_some_and(|(before, now)| now > before.saturating_add(1));
        lost && self.has_server(&node) && self.ask(&node)
    }

    /// Changes since the last call; `at_end` adds the nodes that were not queried in time.
    pub(super) fn take_changed(&mut self, log_time_ns: i64, at_end: bool) -> RobotParameters {
        let late = self
            .without_services
            .extract_if(.., |_, since| {
                at_end || log_time_ns.saturating_sub(*since) >= SERVICE_PATIENCE_NS
            })
            .collect::<Vec<_>>();
        for (node, since_ns) in late {
            let reason = "it has no parameter services".to_owned();
            self.entry(&node, since_ns).unanswered = Some(reason);
        }
        if at_end {
            let asking = std::mem::take(&mut self.asking);
            let waiting = std::mem::take(&mut self.questions);
            for node in waiting.into_iter().chain(asking.into_keys()) {
                self.entry(&node, log_time_ns).unanswered = Some(ENDED.to_owned());
            }
        }
        std::mem::take(&mut self.changed)
    }
}

/// The values in an event; `None` for parameters that were deleted.
fn changes(event: &Value) -> Vec<(String, Option<ParameterValue>)> {
    let mut all = Vec::new();
    for field in ["new_parameters", "changed_parameters", "deleted_parameters"] {
        let Some(Value::Array(Array::Struct(items))) = event.get(field) else {
            continue;
        };
        let change = |item: &Struct| {
            let name = item.get("name")?.as_str()?.to_owned();
            if field == "deleted_parameters" {
                return Some((name, None));
            }
            let value = ParameterValue::from_message(item.get("value")?.as_struct()?)?;
            Some((name, Some(value)))
        };
        all.extend(items.iter().filter_map(change));
    }
    all
}

#[cfg(test)]
mod tests {
    use timeloom_msg::QosProfile;
    use timeloom_wire::{EndpointInfo, NodeName};

    use super::*;

    fn log() -> ParameterLog {
        ParameterLog::new("/recorder".into())
    }

    fn server(number: u8, node: &str) -> GraphEvent {
        GraphEvent::EndpointChanged(Box::new(EndpointInfo {
            gid: Gid([number; 16]),
            kind: EndpointKind::Server,
            node: None,
            topic: format!("{node}/list_parameters"),
            type_name: LIST_PARAMETERS.into(),
            type_hash: None,
            qos: QosProfile::PARAMETERS,
        }))
    }

    fn answer(value: i64) -> BTreeMap<String, RemoteParameter> {
        let parameter = RemoteParameter {
            value: value.into(),
            description: String::new(),
            read_only: false,
        };
        [("rate".to_owned(), parameter)].into()
    }

    fn event(node: &str, value: i64) -> Value {
        let definitions = timeloom_msg::Definitions::builtin();
        let schema = definitions.schema("rcl_interfaces/msg/ParameterEvent");
        let mut event = schema.unwrap().default_value().unwrap();
        let parameter = definitions.schema("rcl_interfaces/msg/Parameter").unwrap();
        let value = ParameterValue::Integer(value).to_value().unwrap();
        let item = Struct::new(
            std::sync::Arc::clone(parameter.root()),
            vec![Value::from("rate"), value],
        );
        event.set("node", node).unwrap();
        event
            .set("changed_parameters", Array::Struct(vec![item]))
            .unwrap();
        event
    }

    fn rates(changed: &RobotParameters, node: &str) -> Vec<(i64, i64)> {
        let rate = &changed.nodes[node].parameters["rate"];
        let value = |entry: &ParameterEntry| match entry.value {
            Some(ParameterValue::Integer(value)) => value,
            _ => -1,
        };
        rate.history
            .iter()
            .map(|entry| (entry.time_ns, value(entry)))
            .collect()
    }

    #[test]
    fn a_node_is_asked_once_and_its_changes_follow() {
        let mut log = log();
        assert!(log.apply(&server(1, "/talker"), 10));
        assert!(!log.apply(&server(1, "/talker"), 11), "it changed nothing");
        assert!(!log.apply(&server(2, "/recorder"), 11), "that is us");
        assert_eq!(log.next_question(0).as_deref(), Some("/talker"));
        assert_eq!(log.next_question(0), None);
        log.answered("/talker", Ok(answer(1)), (20, 0));
        assert!(!log.event(&event("/talker", 2), (Gid([9; 16]), Some(5)), 30));
        assert!(!log.event(&event("/recorder", 2), (Gid([8; 16]), Some(5)), 30));
        let changed = log.take_changed(30, false);
        assert_eq!(rates(&changed, "/talker"), [(20, 1), (30, 2)]);
        assert_eq!(changed.nodes.len(), 1);
        assert!(log.take_changed(31, true).nodes.is_empty());
    }

    #[test]
    fn an_answer_does_not_undo_an_event_that_came_after_the_question() {
        let mut log = log();
        log.apply(&server(1, "/talker"), 10);
        log.next_question(0);
        log.event(&event("/talker", 2), (Gid([9; 16]), None), 15);
        log.answered("/talker", Ok(answer(1)), (20, 0));
        let changed = log.take_changed(30, false);
        assert_eq!(rates(&changed, "/talker"), [(15, 2)]);
    }

    #[test]
    fn a_lost_event_has_the_node_asked_again() {
        let mut log = log();
        log.apply(&server(1, "/talker"), 10);
        log.next_question(0);
        log.answered("/talker", Ok(answer(1)), (20, 0));
        let writer = Gid([9; 16]);
        assert!(!log.event(&event("/talker", 2), (writer, Some(5)), 30));
        assert!(log.event(&event("/talker", 4), (writer, Some(7)), 40));
        assert_eq!(log.next_question(0).as_deref(), Some("/talker"));
    }

    #[test]
    fn a_node_that_does_not_answer_is_listed_and_asked_again_twice() {
        let mut log = log();
        log.apply(&server(1, "/silent"), 10);
        for (steady, tries) in [(0, 1), (10_000_000_000, 2), (70_000_000_000, 3)] {
            if tries > 1 {
                assert!(log.has_retries());
                assert_eq!(log.next_question(steady - 1), None, "{tries}");
            }
            assert_eq!(log.next_question(steady).as_deref(), Some("/silent"));
            log.answered("/silent", Err("no answer".into()), (20, steady));
            let changed = log.take_changed(30, false);
            let reason = changed.nodes["/silent"].unanswered.as_deref();
            assert_eq!(reason, Some("no answer"));
        }
        assert!(!log.has_retries());
        assert_eq!(log.next_question(i64::MAX), None);
    }

    #[test]
    fn nodes_without_services_and_nodes_that_were_not_asked_in_time_are_listed() {
        let mut log = log();
        let name = |name: &str| GraphEvent::NodeAdded(NodeName::new("/", name).unwrap());
        for node in ["bare", "_ros2cli_7", "late", "recorder"] {
            log.apply(&name(node), 10);
        }
        log.apply(&server(1, "/late"), 20);
        assert!(log.take_changed(30, false).nodes.is_empty());
        let changed = log.take_changed(10 + SERVICE_PATIENCE_NS, false);
        let nodes: Vec<_> = changed.nodes.keys().map(String::as_str).collect();
        assert_eq!(nodes, ["/bare"]);
        let at_end = log.take_changed(i64::MAX, true);
        assert_eq!(at_end.nodes["/late"].unanswered.as_deref(), Some(ENDED));
    }

    #[test]
    fn a_node_that_restarts_is_asked_again_and_one_that_goes_is_gone() {
        let mut log = log();
        log.apply(&server(1, "/talker"), 10);
        log.next_question(0);
        log.answered("/talker", Ok(answer(1)), (20, 0));
        log.apply(&GraphEvent::EndpointRemoved(Gid([1; 16])), 30);
        let changed = log.take_changed(30, false);
        assert_eq!(changed.nodes["/talker"].gone_ns, Some(30));
        assert!(log.apply(&server(2, "/talker"), 40));
        log.next_question(0);
        log.answered("/talker", Ok(answer(3)), (50, 0));
        let changed = log.take_changed(60, false);
        assert_eq!(changed.nodes["/talker"].gone_ns, None);
        assert_eq!(rates(&changed, "/talker"), [(50, 3)]);
    }
}
