use std::sync::Arc;

use timeloom_time::TimeBase;

use crate::capabilities::Capabilities;
use crate::error::Result;
use crate::event::EventObserver;
use crate::graph::{GraphObserver, GraphWatch};
use crate::node_name::NodeName;
use crate::publisher::Publisher;
use crate::service::{ReplyReceiver, RequestHandler, ServiceClient, ServiceServer};
use crate::spec::{ServiceSpec, TopicSpec};
use crate::subscription::{Receiver, Subscription};

/// One process's presence in a ROS domain.
///
/// Nodes keep their participant alive, and endpoints their node: each exists until it and everything created by it is
/// dropped. A graph watch keeps nothing alive.
pub trait Participant: Send + Sync {
    /// A description for people: the transport's name, version and domain.
    fn describe(&self) -> String;

    /// Its features.
    fn capabilities(&self) -> Capabilities;

    /// The time base it runs on.
    fn time_base(&self) -> TimeBase;

    /// Creates a node, visible in the graph until dropped.
    ///
    /// # Errors
    /// When the middleware refuses it.
    fn node(&self, name: NodeName) -> Result<Arc<dyn Node>>;

    /// Calls the observer with the whole graph, then with every change, until the watch is dropped.
    ///
    /// Calls come one at a time, from this call and then from the transport's own thread.
    fn watch_graph(&self, observer: GraphObserver) -> GraphWatch;
}

/// A local node, which creates endpoints.
pub trait Node: Send + Sync {
    /// Its name.
    fn name(&self) -> &NodeName;

    /// Publishes on a topic.
    ///
    /// # Errors
    /// When the middleware refuses the name, the type or the `QoS`.
    fn publish(&self, topic: &TopicSpec) -> Result<Box<dyn Publisher>> {
        self.publish_observed(topic, Arc::new(|_| {}))
    }

    /// Publishes on a topic; the observer is called with the events of the publisher: matches, incompatible `QoS`, missed
    /// deadlines, lost liveliness.
    ///
    /// # Errors
    /// When the middleware refuses the name, the type or the `QoS`.
    fn publish_observed(
        &self,
        topic: &TopicSpec,
        observer: EventObserver,
    ) -> Result<Box<dyn Publisher>>;

    /// Subscribes to a topic.
    ///
    /// # Errors
    /// When the middleware refuses the name, the type or the `QoS`.
    fn subscribe(
        &self,
        topic: &TopicSpec,
        receiver: Arc<dyn Receiver>,
    ) -> Result<Box<dyn Subscription>>;

    /// Answers a service.
    ///
    /// # Errors
    /// When the middleware refuses the name, the type or the `QoS`.
    fn serve(
        &self,
        service: &ServiceSpec,
        handler: Arc<dyn RequestHandler>,
    ) -> Result<Box<dyn ServiceServer>>;

    /// Calls a service.
    ///
    /// # Errors
    /// When the middleware refuses the name, the type or the `QoS`.
    fn client(
        &self,
        service: &ServiceSpec,
        receiver: Arc<dyn ReplyReceiver>,
    ) -> Result<Box<dyn ServiceClient>>;
}
