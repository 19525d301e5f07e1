use std::collections::{BTreeMap, HashMap, VecDeque};

use serde_json::{Value, json};

use super::chrome::identity;
use crate::analysis::Publication;
use crate::moment::Moment;

/// So many messages are remembered to find the trace that a later one belongs to.
const REMEMBERED: usize = 100_000;

/// Spans for OpenTelemetry, as the JSON of OTLP: one for each message that a node makes.
///
/// A span's parent is the message that came last, other inputs are span links; a trace begins at a source.
#[derive(Debug, Default)]
pub struct OtlpTrace {
    spans: BTreeMap<String, Vec<Value>>,
    traces: HashMap<u64, u64>,
    order: VecDeque<u64>,
    count: usize,
}

impl OtlpTrace {
    /// Adds a message and its links.
    pub fn add(&mut self, publication: &Publication<'_>) {
        let stamp = publication.stamp.map(timeloom_time::Time::nanos);
        let span = identity(publication.topic, stamp, publication.published);
        let mut inputs: Vec<_> = publication.inputs.iter().collect();
        inputs.sort_by_key(|input| std::cmp::Reverse(input.received.ros));
        let ids: Vec<u64> = inputs
            .iter()
            .map(|input| {
                let stamp = input.stamp.map(timeloom_time::Time::nanos);
                identity(input.topic, stamp, input.received)
            })
            .collect();
        let parent = ids.first().copied();
        let trace = parent.map_or(span, |parent| self.trace_of(parent));
        self.remember(span, trace);
        let links: Vec<Value> = ids
            .iter()
            .skip(1)
            .map(|id| json!({"traceId": trace_id(self.trace_of(*id)), "spanId": span_id(*id)}))
            .collect();
        let start = inputs
            .first()
            .map(|input| input.received)
            .filter(|received| !received.is_unknown())
            .unwrap_or(publication.published);
        let value = json!({
            "traceId": trace_id(trace),
            "spanId": span_id(span),
            "parentSpanId": parent.map(span_id).unwrap_or_default(),
            "name": format!("{} publish", publication.topic),
            "kind": 4,
            "startTimeUnixNano": nanos(start),
            "endTimeUnixNano": nanos(publication.published),
            "attributes": [
                text("messaging.system", "ros2"),
                text("messaging.operation.type", "send"),
                text("messaging.destination.name", publication.topic),
                text("ros.node", publication.node),
                text("ros.stamp_ns", &stamp.map(|stamp| stamp.to_string()).unwrap_or_default()),
            ],
            "links": links,
        });
        let node = if publication.node.is_empty() {
            "unknown"
        } else {
            publication.node
        };
        self.spans.entry(node.to_owned()).or_default().push(value);
        self.count += 1;
    }

    fn trace_of(&self, span: u64) -> u64 {
        self.traces.get(&span).copied().unwrap_or(span)
    }

    fn remember(&mut self, span: u64, trace: u64) {
        if self.traces.insert(span, trace).is_none() {
            self.order.push_back(span);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.traces.remove(&oldest);
        }
    }

    /// How many spans there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The JSON of an `ExportTraceServiceRequest`.
    pub fn finish(self) -> String {
        let resources: Vec<Value> = self
            .spans
            .into_iter()
            .map(|(node, spans)| {
                json!({
                    "resource": {"attributes": [text("service.name", &node)]},
                    "scopeSpans": [{"scope": {"name": "timeloom"}, "spans": spans}],
                })
            })
            .collect();
        json!({"resourceSpans": resources}).to_string()
    }
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// 64-bit numbers are strings in the JSON of protocol buffers.
fn nanos(moment: Moment) -> String {
    moment.ros.nanos().max(0).to_string()
}

fn span_id(id: u64) -> String {
    // All zero is not allowed.
    format!("{:016x}", id.max(1))
}

fn trace_id(id: u64) -> String {
    format!("{:032x}", id.max(1))
}
