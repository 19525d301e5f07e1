use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Value, json};

use crate::analysis::Publication;
use crate::moment::Moment;

/// A trace for Perfetto and `chrome://tracing`: a track for each node, a slice for each message it makes, an arrow for
/// each link.
///
/// Times are ROS time in microseconds, so that hosts stand side by side.
#[derive(Debug, Default)]
pub struct ChromeTrace {
    events: Vec<Value>,
    tracks: BTreeMap<String, usize>,
}

impl ChromeTrace {
    /// Adds a message and its links.
    pub fn add(&mut self, publication: &Publication<'_>) {
        let node = if publication.node.is_empty() {
            publication.topic
        } else {
            publication.node
        };
        let next = self.tracks.len() + 1;
        let track = *self.tracks.entry(node.to_owned()).or_insert(next);
        let end = micros(publication.published);
        let received = publication.inputs.iter().map(|input| input.received);
        let known = received.filter(|received| !received.is_unknown());
        // The callback that published is that of the input that came last.
        let start = known.map(micros).fold(f64::NEG_INFINITY, f64::max);
        let start = if start.is_finite() {
            start.min(end)
        } else {
            end
        };
        let stamp = publication.stamp.map(timeloom_time::Time::nanos);
        self.events.push(json!({
            "ph": "X", "pid": 1, "tid": track, "ts": start, "dur": end - start,
            "name": publication.topic, "cat": "node",
            "args": {"stamp_ns": stamp, "sequence": publication.sequence, "inputs": publication.inputs.len()},
        }));
        let id = identity(publication.topic, stamp, publication.published);
        self.events.push(json!({
            "ph": "s", "pid": 1, "tid": track, "ts": end, "id": id, "name": publication.topic, "cat": "message",
        }));
        for input in publication.inputs {
            let stamp = input.stamp.map(timeloom_time::Time::nanos);
            let id = identity(input.topic, stamp, input.received);
            let at = if input.received.is_unknown() {
                start
            } else {
                micros(input.received)
            };
            self.events.push(json!({
                "ph": "f", "bp": "e", "pid": 1, "tid": track, "ts": at, "id": id, "name": input.topic, "cat": "message",
                "args": {"known_by": input.evidence.name()},
            }));
        }
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The JSON of the trace.
    pub fn finish(self) -> String {
        let name = |(node, track): (String, usize)| json!({"ph": "M", "pid": 1, "tid": track, "name": "thread_name", "args": {"name": node}});
        let mut events: Vec<Value> = self.tracks.into_iter().map(name).collect();
        events.extend(self.events);
        json!({"displayTimeUnit": "ms", "traceEvents": events}).to_string()
    }
}

fn micros(moment: Moment) -> f64 {
    moment.ros.nanos() as f64 / 1e3
}

/// What both ends of an arrow share; messages without stamp have none that could be told.
pub(super) fn identity(topic: &str, stamp: Option<i64>, otherwise: Moment) -> u64 {
    let mut hasher = DefaultHasher::new();
    topic.hash(&mut hasher);
    match stamp {
        Some(stamp) => stamp.hash(&mut hasher),
        None => otherwise.hash(&mut hasher),
    }
    // Numbers of JSON are exact up to here.
    hasher.finish() >> 11
}
