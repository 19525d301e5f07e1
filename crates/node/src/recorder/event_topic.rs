use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use timeloom_msg::{Definitions, Distro, QosProfile, Schema, Value};
use timeloom_time::{Duration, Event};
use timeloom_wire::{EndpointKind, GraphEvent, GraphWatch, PublishOptions, Publisher, TopicSpec};

use crate::Result;
use crate::ros_node::RosNode;

/// As rosbag2 publishes its events.
const QOS: QosProfile = QosProfile {
    depth: 1,
    ..QosProfile::DEFAULT
};

/// A topic for events of the recorder that disturbs no other recorder.
///
/// Where the distribution has the type, it is `events/<name>` with rosbag2's type, from the beginning. Where the
/// distribution lacks the type, a `ros2 bag record -a` would fail on it: the topic is then the hidden
/// `_timeloom/<name>`, of a package that rosbag2 skips, and it is published only once a subscription asks for it.
pub(super) struct EventTopic {
    node: RosNode,
    spec: TopicSpec,
    schema: Arc<Schema>,
    publisher: Option<Box<dyn Publisher>>,
    demand: Option<Demand>,
}

/// Whether a subscription to a hidden topic is in the graph.
struct Demand {
    seen: Arc<AtomicBool>,
    _watch: GraphWatch,
}

impl EventTopic {
    /// The topic `name` for events of the type `rosbag2_interfaces/msg/<event>`; a new subscription sets `news`.
    ///
    /// # Errors
    /// When the middleware refuses the publisher.
    pub(super) fn new(
        node: &RosNode,
        name: &str,
        event: &str,
        distro: Distro,
        news: &Event,
    ) -> Result<Self> {
        let standard = format!("rosbag2_interfaces/msg/{event}");
        let hidden = distro.lacks(&standard);
        let (topic, type_name) = if hidden {
            let own = format!("timeloom_interfaces/msg/{event}");
            (format!("_timeloom/{name}"), own)
        } else {
            (format!("events/{name}"), standard)
        };
        let schema = Arc::new(Definitions::builtin_of(distro).schema(&type_name)?);
        let spec = TopicSpec {
            name: node.resolve_topic(&topic)?,
            type_name: schema.name().clone(),
            type_hash: schema.type_hash().ok(),
            qos: QOS,
        };
        let mut made = Self {
            node: node.clone(),
            demand: hidden.then(|| Demand::watch(node, &spec, news)),
            spec,
            schema,
            publisher: None,
        };
        if !hidden {
            made.publish()?;
        }
        Ok(made)
    }

    fn publish(&mut self) -> Result<()> {
        self.node.register_type(&self.schema);
        self.publisher = Some(self.node.wire().publish(&self.spec)?);
        Ok(())
    }

    /// Makes the publisher of a hidden topic once it has a subscription.
    ///
    /// # Errors
    /// When the middleware refuses it.
    pub(super) fn open_on_demand(&mut self) -> Result<()> {
        let asked = self.demand.as_ref().is_some_and(Demand::is_there);
        if asked && self.publisher.is_none() {
            self.publish()?;
        }
        Ok(())
    }

    /// Whether an event published now can reach a subscription; always true for a topic that is not hidden.
    pub(super) fn is_heard(&self) -> bool {
        let heard = |publisher: &dyn Publisher| self.demand.is_none() || publisher.matched() > 0;
        self.publisher.as_deref().is_some_and(heard)
    }

    /// The layout of the events.
    pub(super) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Publishes an event; a hidden topic without a publisher drops it.
    ///
    /// # Errors
    /// When the value does not fit, or the middleware refuses it.
    pub(super) fn send(&self, value: &Value) -> Result<()> {
        if let Some(publisher) = &self.publisher {
            let payload = Bytes::from(self.schema.encode(value)?);
            publisher.publish(payload, PublishOptions::default())?;
        }
        Ok(())
    }

    /// Waits until the subscriptions have the last event, or the time is over.
    pub(super) fn wait_until_heard(&self, patience: Duration) {
        if let Some(publisher) = &self.publisher {
            // A transport without acknowledgements sends at once.
            let _heard = publisher.wait_for_acknowledgements(patience);
        }
    }
}

impl Demand {
    fn watch(node: &RosNode, spec: &TopicSpec, news: &Event) -> Self {
        let seen = Arc::new(AtomicBool::new(false));
        let (flag, news) = (Arc::clone(&seen), news.clone());
        let (topic, type_name) = (spec.name.clone(), spec.type_name.to_string());
        let watch = node.participant().watch_graph(Box::new(move |event| {
            if let GraphEvent::EndpointChanged(info) = event
                && info.kind == EndpointKind::Subscription
                && info.topic == topic
                && info.type_name == type_name
                && !flag.swap(true, Ordering::AcqRel)
            {
                news.set();
            }
        }));
        Self {
            seen,
            _watch: watch,
        }
    }

    fn is_there(&self) -> bool {
        self.seen.load(Ordering::Acquire)
    }
}
