use std::collections::HashMap;

use serde_json::{Value, json};

use super::messages::{MessageTrace, TracedMessage};

/// The minimum width of a slice: arrows need one.
const LEAST: i64 = 1_000;

/// The slice of a message, in nanoseconds since the first event.
#[derive(Clone, Copy, Debug, Default)]
struct Slice {
    track: usize,
    start: i64,
    end: i64,
}

/// The tracks of one node, and the end of the last slice of each.
type NodeTracks = Vec<(usize, i64)>;

impl MessageTrace {
    /// The JSON of a trace for Perfetto and `chrome://tracing`: a track for each node, a slice for each message that it
    /// publishes, an arrow for each link.
    ///
    /// Times are ROS time since the first event, whose time is in `otherData`. A node that handles several messages at
    /// once has several tracks.
    pub fn chrome(mut self) -> String {
        self.finish();
        let first = self.all.iter().map(|message| message.start).min();
        let first = first.unwrap_or(0);
        let mut events = Events::default();
        events.add(
            &json!({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "lineage"}}),
        );
        let slices = self.slices(first, &mut events);
        for (message, slice) in self.all.iter().zip(&slices) {
            events.add(&self.slice(message, slice));
        }
        self.arrows(&slices, &mut events);
        let start = json!({"clock": "ROS time", "start_ns": first.to_string()});
        format!(
            "{{\"displayTimeUnit\":\"ms\",\"otherData\":{start},\"traceEvents\":[\n{}\n]}}",
            events.0
        )
    }

    /// Assigns each message to a track that is free at that time, and names the tracks.
    fn slices(&self, first: i64, events: &mut Events) -> Vec<Slice> {
        let messages = &self.all;
        let mut order: Vec<usize> = (0..messages.len()).collect();
        order.sort_by_key(|place| messages.get(*place).map(|message| message.start));
        let mut slices = vec![Slice::default(); messages.len()];
        let mut lanes: HashMap<&str, NodeTracks> = HashMap::new();
        let mut tracks = 0;
        for place in order {
            let (Some(message), Some(slice)) = (messages.get(place), slices.get_mut(place)) else {
                continue;
            };
            let start = message.start.saturating_sub(first);
            let end = message.published.saturating_sub(first).max(start + LEAST);
            let name = self.track_name(message);
            let of_node = lanes.entry(name).or_default();
            let free = of_node.iter_mut().find(|(_, until)| *until <= start);
            let track = if let Some((track, until)) = free {
                *until = end;
                *track
            } else {
                tracks += 1;
                of_node.push((tracks, end));
                events.name_track(tracks, name, of_node.len());
                tracks
            };
            *slice = Slice { track, start, end };
        }
        slices
    }

    /// Tags of TILDE have no node name: their track is named after the topic.
    fn track_name(&self, message: &TracedMessage) -> &str {
        match self.node(message) {
            "" => self.topic(message),
            node => node,
        }
    }

    fn slice(&self, message: &TracedMessage, slice: &Slice) -> Value {
        json!({
            "ph": "X", "pid": 1, "tid": slice.track, "ts": micros(slice.start), "dur": micros(slice.end - slice.start),
            "name": self.topic(message), "cat": "node",
            "args": {"stamp_ns": message.stamp, "sequence": message.sequence, "inputs": message.inputs.len()},
        })
    }

    /// An arrow for each link with both messages: from the end of a slice to the start of another.
    fn arrows(&self, slices: &[Slice], events: &mut Events) {
        let mut id = 0_u64;
        for (message, to) in self.all.iter().zip(slices) {
            for input in &message.inputs {
                let from = self.find(input).and_then(|place| slices.get(place));
                // Within its slice, and not after the arrow's end.
                let leaves = from.map(|from| (from, (from.end - LEAST / 2).min(to.start)));
                let Some((from, at)) = leaves.filter(|(from, at)| *at >= from.start) else {
                    continue;
                };
                id += 1;
                let topic = self.input_topic(input);
                events.add(&json!({
                    "ph": "s", "pid": 1, "tid": from.track, "ts": micros(at), "id": id, "name": topic, "cat": "message",
                }));
                events.add(&json!({
                    "ph": "f", "bp": "e", "pid": 1, "tid": to.track, "ts": micros(to.start), "id": id,
                    "name": topic, "cat": "message", "args": {"known_by": input.evidence.name()},
                }));
            }
        }
    }
}

/// The events as text: a JSON tree would need much more memory.
#[derive(Debug, Default)]
struct Events(String);

impl Events {
    fn add(&mut self, event: &Value) {
        if !self.0.is_empty() {
            self.0.push_str(",\n");
        }
        self.0.push_str(&event.to_string());
    }

    fn name_track(&mut self, track: usize, name: &str, lane: usize) {
        let name = if lane == 1 {
            name.to_owned()
        } else {
            format!("{name} ({lane})")
        };
        self.add(&json!({"ph": "M", "pid": 1, "tid": track, "name": "thread_name", "args": {"name": name}}));
        self.add(&json!({"ph": "M", "pid": 1, "tid": track, "name": "thread_sort_index", "args": {"sort_index": track}}));
    }
}

/// Microseconds, exact to the nanosecond for traces of up to a hundred days.
fn micros(nanos: i64) -> f64 {
    nanos as f64 / 1e3
}
