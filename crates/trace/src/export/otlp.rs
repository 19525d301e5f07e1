use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use super::messages::{MessageTrace, TracedMessage};

/// The id of a span and that of its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    trace: u128,
    span: u64,
}

impl MessageTrace {
    /// The JSON of an `ExportTraceServiceRequest` of OpenTelemetry: one span for each message.
    ///
    /// The parent of a span is the last input, other inputs are span links; a trace begins at a source. The same
    /// messages have the same ids in every export.
    pub fn otlp(mut self) -> String {
        self.finish();
        let (identities, links) = self.identities();
        let mut services: BTreeMap<&str, String> = BTreeMap::new();
        let messages = self.all.iter().zip(identities.iter().zip(&links));
        for (message, (identity, links)) in messages {
            let service = match self.node(message) {
                "" => "unknown",
                node => node,
            };
            let spans = services.entry(service).or_default();
            if !spans.is_empty() {
                spans.push_str(",\n");
            }
            let span = self.span(message, *identity, links, &identities);
            spans.push_str(&span.to_string());
        }
        let resources: Vec<String> = services
            .into_iter()
            .map(|(service, spans)| {
                let resource = json!({"attributes": [text("service.name", service)]});
                format!(
                    "{{\"resource\":{resource},\"scopeSpans\":[{{\"scope\":{{\"name\":\"timeloom\"}},\"spans\":[\n{spans}\n]}}]}}"
                )
            })
            .collect();
        format!("{{\"resourceSpans\":[{}]}}", resources.join(",\n"))
    }

    /// The identity of each message, and its inputs, the last one first.
    fn identities(&self) -> (Vec<Identity>, Vec<Vec<usize>>) {
        let messages = &self.all;
        let mut identities = vec![Identity { trace: 0, span: 0 }; messages.len()];
        let mut links = vec![Vec::new(); messages.len()];
        let mut taken = HashSet::new();
        for place in self.by_publication() {
            let Some(message) = messages.get(place) else {
                continue;
            };
            let mut inputs: Vec<_> = message.inputs.iter().collect();
            inputs.sort_by_key(|input| std::cmp::Reverse(input.received));
            let found = inputs.into_iter().filter_map(|input| self.find(input));
            // An input that was published later has a wrong clock and cannot be a parent.
            let found = found.filter(|other| identities.get(*other).is_some_and(|id| id.span != 0));
            let found: Vec<usize> = found.collect();
            let span = self.unused(message, &mut taken);
            let parent = found.first().and_then(|parent| identities.get(*parent));
            let trace = parent.map_or_else(
                || u128::from(hash(span, b"trace")) << 64 | u128::from(span),
                |parent| parent.trace,
            );
            if let Some(slot) = identities.get_mut(place) {
                *slot = Identity { trace, span };
            }
            if let Some(slot) = links.get_mut(place) {
                *slot = found;
            }
        }
        (identities, links)
    }

    /// A unique id that depends only on the message.
    fn unused(&self, message: &TracedMessage, taken: &mut HashSet<u64>) -> u64 {
        let mut id = hash(hash(SEED, self.node(message).as_bytes()), &[0]);
        id = hash(id, self.topic(message).as_bytes());
        for number in [message.stamp.unwrap_or(0), message.published] {
            id = hash(id, &number.to_le_bytes());
        }
        // All zero is not allowed, and the same message twice needs two ids.
        while id == 0 || !taken.insert(id) {
            id = hash(id, &[1]);
        }
        id
    }

    fn span(
        &self,
        message: &TracedMessage,
        id: Identity,
        found: &[usize],
        all: &[Identity],
    ) -> Value {
        let topic = self.topic(message);
        let of = |place: &usize| all.get(*place).copied();
        let links = found.iter().skip(1).filter_map(of);
        let links = links
            .map(|link| json!({"traceId": trace_id(link.trace), "spanId": span_id(link.span)}));
        let mut attributes = vec![
            text("messaging.system", "ros2"),
            text("messaging.operation.type", "send"),
            text("messaging.destination.name", topic),
            text("ros.node", self.node(message)),
        ];
        if let Some(stamp) = message.stamp {
            attributes.push(number("ros.stamp_ns", stamp));
        }
        if let Some(sequence) = message.sequence {
            attributes.push(number("ros.sequence", sequence));
        }
        if let Some(input) = message.inputs.first() {
            attributes.push(text("ros.known_by", input.evidence.name()));
        }
        let mut span = json!({
            "traceId": trace_id(id.trace),
            "spanId": span_id(id.span),
            "name": format!("{topic} publish"),
            "kind": 4,
            "startTimeUnixNano": nanos(message.start),
            "endTimeUnixNano": nanos(message.published),
            "attributes": attributes,
            "links": links.collect::<Vec<_>>(),
        });
        if let (Some(parent), Some(fields)) = (found.first().and_then(of), span.as_object_mut()) {
            fields.insert("parentSpanId".into(), span_id(parent.span).into());
        }
        span
    }
}

/// FNV-1a: the same on every machine and in every version.
const SEED: u64 = 0xcbf2_9ce4_8422_2325;

fn hash(seed: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(seed, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// 64-bit numbers are strings in the JSON of protocol buffers.
fn number(key: &str, value: i64) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

fn nanos(nanos: i64) -> String {
    nanos.max(0).to_string()
}

fn span_id(id: u64) -> String {
    format!("{id:016x}")
}

fn trace_id(id: u128) -> String {
    format!("{id:032x}")
}
