use std::sync::Arc;

use timeloom_msg::{Definitions, QosProfile, Schema};
use timeloom_trace::{MatchRule, Tracker, TrackerOptions};
use timeloom_wire::TopicSpec;

use super::publisher::TrackedPublisher;
use super::subscription::{TrackedMessage, TrackedSubscription};
use super::synchronizer::{Callback, TrackedSynchronizer};
use super::times::Times;
use crate::{ParameterValue, Result, RosNode};

/// The parameter that switches tracking on and off, as in TILDE.
const ENABLE: &str = "enable_tilde";

/// A node that publishes the inputs of each of its messages.
///
/// Its publishers and subscriptions have the interface of plain ones. Beside each topic it publishes tags of TILDE on
/// `<topic>/message_tracking_tag`; the parameter `enable_tilde` switches them on and off.
///
/// ```
/// # use timeloom_node::{NodeOptions, RosNode, TrackedNode};
/// # use timeloom_msg::QosProfile;
/// # use timeloom_time::VirtualTime;
/// # use timeloom_wire::loopback::LoopbackNetwork;
/// # let time = VirtualTime::new();
/// # let _here = time.enter();
/// # let participant = LoopbackNetwork::new(&time.base()).participant("robot")?;
/// let node = TrackedNode::new(RosNode::new(participant, NodeOptions::new("filter"))?)?;
/// let publisher = node.create_tracked_publisher("filtered", "sensor_msgs/msg/Imu", QosProfile::DEFAULT)?;
/// let _subscription = node.create_tracked_subscription("imu", "sensor_msgs/msg/Imu", QosProfile::DEFAULT, move |imu| {
///     // The tag says that this message was made of the one that came.
///     let _sent = imu.value().and_then(|value| publisher.publish(&value));
/// })?;
/// # Ok::<_, timeloom_node::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TrackedNode {
    node: RosNode,
    tracker: Arc<Tracker>,
    times: Times,
}

impl TrackedNode {
    /// Tracks a node with the default options.
    ///
    /// # Errors
    /// When the parameter `enable_tilde` was set to something that is neither true nor false.
    pub fn new(node: RosNode) -> Result<Self> {
        Self::with_options(node, TrackerOptions::default())
    }

    /// Tracks a node.
    ///
    /// # Errors
    /// When the parameter `enable_tilde` was set to something that is neither true nor false.
    pub fn with_options(node: RosNode, options: TrackerOptions) -> Result<Self> {
        let tracker = Tracker::new(&node.name().full(), options);
        let enabled = node.declare_parameter(ENABLE, true)?;
        tracker.set_enabled(enabled != ParameterValue::Bool(false));
        let switched = Arc::clone(&tracker);
        node.on_parameter_change(move |name, value| {
            if name == ENABLE {
                switched.set_enabled(*value != ParameterValue::Bool(false));
            }
        });
        Ok(Self {
            times: Times::of(&node),
            node,
            tracker,
        })
    }

    /// The node itself.
    pub fn node(&self) -> &RosNode {
        &self.node
    }

    /// The tracker, which keeps the received messages.
    pub fn tracker(&self) -> &Arc<Tracker> {
        &self.tracker
    }

    /// Publishes values of a built-in type, and a tag for each.
    ///
    /// # Errors
    /// When the name or the type is not valid, or the middleware refuses it.
    pub fn create_tracked_publisher(
        &self,
        topic: &str,
        type_name: &str,
        qos: QosProfile,
    ) -> Result<TrackedPublisher> {
        let schema = Arc::new(Definitions::builtin().schema(type_name)?);
        self.create_tracked_publisher_of(topic, &schema, qos)
    }

    /// The same for any type.
    ///
    /// # Errors
    /// When the name is not valid, or the middleware refuses it.
    pub fn create_tracked_publisher_of(
        &self,
        topic: &str,
        schema: &Arc<Schema>,
        qos: QosProfile,
    ) -> Result<TrackedPublisher> {
        let spec = self.spec(topic, schema, qos)?;
        TrackedPublisher::new(&self.node, &self.tracker, self.times.clone(), &spec, schema)
    }

    /// Subscribes to a topic of a built-in type; each message is recorded, then the callback runs, on the transport's
    /// thread.
    ///
    /// # Errors
    /// When the name or the type is not valid, or the middleware refuses it.
    pub fn create_tracked_subscription(
        &self,
        topic: &str,
        type_name: &str,
        qos: QosProfile,
        callback: impl Fn(&TrackedMessage<'_>) + Send + Sync + 'static,
    ) -> Result<TrackedSubscription> {
        let schema = Arc::new(Definitions::builtin().schema(type_name)?);
        self.create_tracked_subscription_of(topic, &schema, qos, callback)
    }

    /// The same for any type.
    ///
    /// # Errors
    /// When the name is not valid, or the middleware refuses it.
    pub fn create_tracked_subscription_of(
        &self,
        topic: &str,
        schema: &Arc<Schema>,
        qos: QosProfile,
        callback: impl Fn(&TrackedMessage<'_>) + Send + Sync + 'static,
    ) -> Result<TrackedSubscription> {
        let spec = self.spec(topic, schema, qos)?;
        let input = self.tracker.input(&spec.name);
        let times = self.times.clone();
        TrackedSubscription::new(&self.node, input, times, &spec, schema, Box::new(callback))
    }

    /// Joins topics of built-in types by their stamps. The callback gets one message of each, in order, and the inputs
    /// to [publish](TrackedPublisher::publish_made_of) their result with.
    ///
    /// # Errors
    /// When a name or a type is not valid, or the middleware refuses one of them.
    pub fn create_tracked_synchronizer(
        &self,
        topics: &[(&str, &str)],
        qos: QosProfile,
        depth: usize,
        rule: MatchRule,
        callback: impl Fn(&[timeloom_wire::Sample], &timeloom_trace::InputSet) + Send + Sync + 'static,
    ) -> Result<TrackedSynchronizer> {
        let callback: Callback = Arc::new(callback);
        TrackedSynchronizer::new(self, topics, qos, (depth, rule), &callback)
    }

    fn spec(&self, topic: &str, schema: &Arc<Schema>, qos: QosProfile) -> Result<TopicSpec> {
        self.node.register_type(schema);
        Ok(TopicSpec {
            name: self.node.resolve_topic(topic)?,
            type_name: schema.name().clone(),
            type_hash: schema.type_hash().ok(),
            qos,
        })
    }
}
