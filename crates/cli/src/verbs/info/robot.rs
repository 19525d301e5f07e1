//! The state of the robot beside its messages: nodes, parameters, environment and clock.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};
use timeloom_bag::{
    BagInfo, EndpointRole, GraphEndpoint, HostClockRecord, NodeParameters, ParameterEntry,
    RecordingEnvironment, RobotGraph, RobotParameters,
};
use timeloom_msg::ParameterValue;
use timeloom_text::{counted, seconds};

use super::host_clock;

/// Characters of a value that are printed.
const LONGEST_VALUE: usize = 200;

/// The state of a robot in a bag.
pub(super) struct Robot {
    graph: RobotGraph,
    parameters: RobotParameters,
    environment: RecordingEnvironment,
    custom_data: Vec<(String, String)>,
    start_ns: i64,
}

impl Robot {
    pub(super) fn new(graph: RobotGraph, parameters: RobotParameters, info: &BagInfo) -> Self {
        Self {
            graph,
            parameters,
            environment: RecordingEnvironment::of(&info.custom_data),
            custom_data: info.custom_data.clone(),
            start_ns: info.start_time_ns.unwrap_or(0),
        }
    }

    /// The nodes by name, with their endpoints.
    fn nodes(&self) -> BTreeMap<&str, Vec<&GraphEndpoint>> {
        let mut nodes: BTreeMap<&str, Vec<&GraphEndpoint>> = BTreeMap::new();
        for endpoint in self.graph.endpoints() {
            nodes.entry(&endpoint.node).or_default().push(endpoint);
        }
        for name in self.parameters.nodes.keys() {
            nodes.entry(name).or_default();
        }
        nodes
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let nodes = self.nodes();
        // Writing to a text never fails.
        let _written = writeln!(text, "Nodes: {}", nodes.len());
        for (name, endpoints) in &nodes {
            let name = if name.is_empty() { "(not named)" } else { name };
            let _written = writeln!(text, "  {name}: {}", endpoints_text(endpoints));
        }
        let count = |node: &NodeParameters| node.parameters.len() as u64;
        let total: u64 = self.parameters.nodes.values().map(count).sum();
        let answered = self.parameters.nodes.values();
        let silent = answered.filter(|node| node.unanswered.is_some()).count();
        let _written = write!(text, "Parameters: {total}");
        if silent > 0 {
            let silent = counted(silent as u64, "node");
            let _written = write!(text, "; {silent} did not answer");
        }
        text.push('\n');
        for (name, node) in &self.parameters.nodes {
            self.node_text(&mut text, name, node);
        }
        let _written = writeln!(text, "Environment: {}", self.environment.0.len());
        for (name, value) in &self.environment.0 {
            let _written = writeln!(text, "  {name}: {value}");
        }
        text.push_str(&host_clock::lines(&self.custom_data));
        text
    }

    fn node_text(&self, text: &mut String, name: &str, node: &NodeParameters) {
        let _written = write!(text, "  {name}");
        if let Some(reason) = &node.unanswered {
            let _written = write!(text, " did not answer: {reason}");
        }
        if let Some(gone) = node.gone_ns {
            let _written = write!(text, " (gone at {})", self.offset(gone));
        }
        text.push('\n');
        for (name, parameter) in &node.parameters {
            let Some((first, changes)) = parameter.history.split_first() else {
                continue;
            };
            let _written = write!(text, "    {name}: {}", value_text(first));
            for change in changes {
                let at = self.offset(change.time_ns);
                let _written = write!(text, " → {} at {at}", value_text(change));
            }
            text.push_str(if parameter.read_only {
                " (read-only)\n"
            } else {
                "\n"
            });
        }
    }

    /// A log time as an offset from the first message.
    fn offset(&self, time_ns: i64) -> String {
        let offset = time_ns.saturating_sub(self.start_ns);
        let sign = if offset < 0 { '-' } else { '+' };
        let offset = i64::try_from(offset.unsigned_abs()).unwrap_or(i64::MAX);
        format!("{sign}{} s", seconds(offset))
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        let nodes = self.nodes();
        let nodes: Vec<Value> = nodes
            .iter()
            .map(|(name, endpoints)| {
                let node = self.parameters.nodes.get(*name);
                let endpoints: Vec<Value> = endpoints.iter().map(|it| endpoint(it)).collect();
                json!({
                    "name": name,
                    "endpoints": endpoints,
                    "asked_ns": node.map(|node| node.asked_ns),
                    "unanswered": node.and_then(|node| node.unanswered.as_ref()),
                    "gone_ns": node.and_then(|node| node.gone_ns),
                    "parameters": node.map(parameters).unwrap_or_default(),
                })
            })
            .collect();
        let clock: Vec<Value> = HostClockRecord::history(&self.custom_data)
            .iter()
            .map(clock_record)
            .collect();
        json!({ "nodes": nodes, "environment": self.environment.0, "host_clock": clock })
    }
}

fn endpoints_text(endpoints: &[&GraphEndpoint]) -> String {
    let mut parts = Vec::new();
    for (role, noun) in [
        (EndpointRole::Publisher, "publisher"),
        (EndpointRole::Subscription, "subscription"),
        (EndpointRole::Server, "server"),
        (EndpointRole::Client, "client"),
    ] {
        let of_role = endpoints.iter().filter(|endpoint| endpoint.role == role);
        let topics: BTreeSet<&str> = of_role.map(|endpoint| endpoint.topic.as_str()).collect();
        if !topics.is_empty() {
            let topics: Vec<&str> = topics.into_iter().collect();
            let count = counted(topics.len() as u64, noun);
            parts.push(format!("{count} ({})", topics.join(", ")));
        }
    }
    if parts.is_empty() {
        "no endpoints".into()
    } else {
        parts.join("; ")
    }
}

fn value_text(entry: &ParameterEntry) -> String {
    let Some(value) = &entry.value else {
        return "deleted".into();
    };
    let text = match value {
        ParameterValue::String(text) => Value::from(text.as_str()).to_string(),
        value => value.to_string(),
    };
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn parameters(node: &NodeParameters) -> Vec<Value> {
    let parameter = |(name, parameter): (&String, &timeloom_bag::RobotParameter)| {
        let history = parameter.history.iter().map(|entry| {
            json!({
                "time_ns": entry.time_ns,
                "type": entry.value.as_ref().map(ParameterValue::type_name),
                "value": entry.value.as_ref().map(value_json),
            })
        });
        json!({
            "name": name,
            "read_only": parameter.read_only,
            "description": parameter.description,
            "history": history.collect::<Vec<_>>(),
        })
    };
    node.parameters.iter().map(parameter).collect()
}

/// A value as JSON; numbers that JSON does not have are `null`.
fn value_json(value: &ParameterValue) -> Value {
    match value {
        ParameterValue::NotSet => Value::Null,
        ParameterValue::Bool(value) => json!(value),
        ParameterValue::Integer(value) => json!(value),
        ParameterValue::Double(value) => json!(value),
        ParameterValue::String(value) => json!(value),
        ParameterValue::Bytes(items) => json!(items),
        ParameterValue::Bools(items) => json!(items),
        ParameterValue::Integers(items) => json!(items),
        ParameterValue::Doubles(items) => json!(items),
        ParameterValue::Strings(items) => json!(items),
    }
}

fn endpoint(endpoint: &GraphEndpoint) -> Value {
    let qos = &endpoint.qos;
    json!({
        "gid": endpoint.id,
        "role": endpoint.role,
        "topic": endpoint.topic,
        "type": endpoint.type_name,
        "type_hash": endpoint.type_hash,
        "reliability": qos.reliability.name(),
        "durability": qos.durability.name(),
        "history": qos.history.name(),
        "depth": qos.depth,
        "appeared_ns": endpoint.appeared_ns,
        "vanished_ns": endpoint.vanished_ns,
    })
}

fn clock_record(record: &HostClockRecord) -> Value {
    json!({
        "time_ns": record.system_ns,
        "reason": record.reason,
        "source": record.source,
        "synchronised": record.synchronised,
        "reference": record.reference,
        "offset_ns": record.offset_ns,
        "error_ns": record.error_ns,
        "step_ns": record.step_ns,
        "tai_offset_s": record.tai_s,
    })
}
