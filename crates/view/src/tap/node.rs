use std::sync::Arc;

use timeloom_wire::{
    EventObserver, Node, NodeName, Publisher, Receiver, ReplyReceiver, RequestHandler, Result,
    ServiceClient, ServiceServer, ServiceSpec, Subscription, TopicSpec,
};

use super::Listeners;
use super::publisher::TappedPublisher;

/// A node whose publishers have listeners.
pub(super) struct TappedNode {
    pub(super) inner: Arc<dyn Node>,
    pub(super) listeners: Listeners,
}

impl Node for TappedNode {
    fn name(&self) -> &NodeName {
        self.inner.name()
    }

    fn publish_observed(
        &self,
        topic: &TopicSpec,
        observer: EventObserver,
    ) -> Result<Box<dyn Publisher>> {
        let inner = self.inner.publish_observed(topic, observer)?;
        Ok(match (self.listeners)(&topic.name) {
            Some(listener) => Box::new(TappedPublisher { inner, listener }),
            None => inner,
        })
    }

    fn subscribe(
        &self,
        topic: &TopicSpec,
        receiver: Arc<dyn Receiver>,
    ) -> Result<Box<dyn Subscription>> {
        self.inner.subscribe(topic, receiver)
    }

    fn serve(
        &self,
        service: &ServiceSpec,
        handler: Arc<dyn RequestHandler>,
    ) -> Result<Box<dyn ServiceServer>> {
        self.inner.serve(service, handler)
    }

    fn client(
        &self,
        service: &ServiceSpec,
        receiver: Arc<dyn ReplyReceiver>,
    ) -> Result<Box<dyn ServiceClient>> {
        self.inner.client(service, receiver)
    }
}
