use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use timeloom_msg::value::Array;
use timeloom_msg::{Definitions, QosProfile, Schema, Value};
use timeloom_wire::{EndpointKind, Graph, Node, Receiver, Sample, Subscription, TopicSpec};

use super::live_timeline::LiveTimeline;
use crate::peer::lock;

/// A service that every Timeloom recorder offers; it identifies recorder nodes.
const RECORDER: &str = "rosbag2_interfaces/srv/GetRecorderStatistics";
/// The notifier topic in the namespace of a recorder, if the distribution has the type.
const STANDARD: (&str, &str) = (
    "events/rosbag2_messages_lost",
    "rosbag2_interfaces/msg/MessagesLostEvent",
);
/// The notifier topic otherwise; it is published once it has a subscriber.
const HIDDEN: (&str, &str) = (
    "_timeloom/rosbag2_messages_lost",
    "timeloom_interfaces/msg/MessagesLostEvent",
);
/// Limit for recorders, because node names come from outside.
const MOST_RECORDERS: usize = 100;

/// Subscriptions by topic and type.
type Subscriptions = BTreeMap<(String, &'static str), Box<dyn Subscription>>;

/// The losses of recorders in the graph, by topic.
pub(super) struct RecorderLosses {
    totals: Arc<Totals>,
    subscriptions: Mutex<Subscriptions>,
}

/// The sum of all events.
#[derive(Default)]
struct Totals {
    lost: Mutex<BTreeMap<String, u64>>,
    timeline: Arc<LiveTimeline>,
}

impl RecorderLosses {
    pub(super) fn new(timeline: &Arc<LiveTimeline>) -> Self {
        let totals = Totals {
            timeline: Arc::clone(timeline),
            ..Totals::default()
        };
        Self {
            totals: Arc::new(totals),
            subscriptions: Mutex::default(),
        }
    }

    /// Subscribes to the recorders of the graph and unsubscribes from removed ones; returns the reason when it fails.
    pub(super) fn follow(&self, graph: &Graph, node: &dyn Node) -> Result<(), String> {
        let wanted = event_topics(graph);
        let mut subscriptions = lock(&self.subscriptions);
        subscriptions.retain(|key, _| wanted.contains(key));
        for (topic, type_name) in wanted {
            let key = (topic, type_name);
            if subscriptions.contains_key(&key) || subscriptions.len() >= MOST_RECORDERS {
                continue;
            }
            let subscription = self.subscribe(&key.0, type_name, node)?;
            subscriptions.insert(key, subscription);
        }
        Ok(())
    }

    fn subscribe(
        &self,
        topic: &str,
        type_name: &str,
        node: &dyn Node,
    ) -> Result<Box<dyn Subscription>, String> {
        let words = |error: &dyn std::fmt::Display| format!("{topic}: {error}");
        let schema = Definitions::builtin().schema(type_name);
        let schema = schema.map_err(|error| words(&error))?;
        let spec = TopicSpec {
            name: topic.to_owned(),
            type_name: schema.name().clone(),
            type_hash: schema.type_hash().ok(),
            qos: QosProfile::DEFAULT,
        };
        let listener = Arc::new(Listener {
            schema,
            totals: Arc::clone(&self.totals),
        });
        node.subscribe(&spec, listener)
            .map_err(|error| words(&error))
    }

    /// Losses of a topic; `None` if there was no recorder.
    pub(super) fn of(&self, topic: &str) -> Option<u64> {
        // Never hold both locks: a subscription that is being created may call the listener.
        let listening = !lock(&self.subscriptions).is_empty();
        let lost = lock(&self.totals.lost);
        (listening || !lost.is_empty()).then(|| lost.get(topic).copied().unwrap_or(0))
    }
}

/// The topics on which recorders report their losses. The standard topic only where it is published: a subscription
/// with a type that a distribution lacks disturbs other nodes.
fn event_topics(graph: &Graph) -> BTreeSet<(String, &'static str)> {
    let mut topics = BTreeSet::new();
    let servers = graph
        .endpoints()
        .filter(|end| end.kind == EndpointKind::Server && end.type_name == RECORDER);
    for node in servers.filter_map(|server| server.node.as_ref()) {
        let namespace = node.namespace().trim_end_matches('/');
        let standard = format!("{namespace}/{}", STANDARD.0);
        let is_published = graph
            .on(&standard, EndpointKind::Publisher)
            .any(|publisher| publisher.type_name == STANDARD.1);
        if is_published {
            topics.insert((standard, STANDARD.1));
        } else {
            topics.insert((format!("{namespace}/{}", HIDDEN.0), HIDDEN.1));
        }
    }
    topics
}

/// Adds up the events of a recorder; each event holds the losses since the previous one.
struct Listener {
    schema: Schema,
    totals: Arc<Totals>,
}

impl Receiver for Listener {
    fn sample(&self, sample: Sample) {
        let Ok(event) = self.schema.decode(&sample.payload) else {
            return;
        };
        let Some(Value::Array(Array::Struct(topics))) = event.get("messages_lost_statistics")
        else {
            return;
        };
        let mut lost = lock(&self.totals.lost);
        for topic in &topics {
            let name = topic.get("topic_name").and_then(Value::as_str);
            let messages = topic.get("messages_lost_in_recorder");
            if let (Some(name), Some(messages)) = (name, messages.and_then(Value::as_u64)) {
                self.totals
                    .timeline
                    .lost(sample.receive_time.nanos(), messages);
                let sum = lost.entry(name.to_owned()).or_default();
                *sum = sum.saturating_add(messages);
            }
        }
    }
}
